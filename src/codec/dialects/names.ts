// The dialects of core streams that can be chosen. docs/dialects.md has all that there are.

/** Which are read: all there are, or the specification's alone. */
export type ImportDialect = 'any' | 'specification'

export const importDialects: readonly ImportDialect[] = ['any', 'specification']

/** Which can be written. */
export type ExportDialect = 'specification' | 'trustgraph-2'

export const exportDialects: readonly ExportDialect[] = ['specification', 'trustgraph-2']
