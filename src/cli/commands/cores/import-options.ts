import type { ImportDialect } from '../../../codec/dialects/names.js'
import type { RdfLoss } from '../../../rdf/parse.js'
import type { AccessOptions } from '../../access/access.js'

/** Of `lorekeep import`, whatever it imports. */
export interface ImportCommandOptions extends AccessOptions {
  readonly id?: string
  readonly user: string
  readonly mode: 'append' | 'replace'
  readonly index?: true
  readonly dialect?: ImportDialect
  /** A format of RDF, `tgx` or `core`. By default what the name of the file says, or else `core`. */
  readonly format?: string
  /** Of RDF and of workspaces; `base` of RDF and of memory files, and `flow` of workspaces. */
  readonly loss?: RdfLoss
  readonly base?: string
  readonly collection?: string
  readonly allowEmpty?: true
  readonly json?: true
}
