// What the process that is killed does to cores that are asked, and what they hold after it.

import { user, type Step } from './crash-content.js'

export { user }

/** Many small ones: what they say is in parts that they have together. */
export const cores: readonly string[] = Array.from({ length: 24 }, (_, n) => `core ${n}`)

/** Cores are changed as in crash-content.ts, with an index or without one. */
export interface GraphStep {
  readonly type: 'append' | 'replace' | 'delete' | 'index' | 'all' | 'match'
  readonly core: string
  readonly name: string
  readonly size: number
  readonly index: boolean
}

export function after(
  held: readonly Step[] | undefined,
  { type, core, name, size }: GraphStep,
): readonly Step[] | undefined {
  switch (type) {
    case 'append':
      return [...(held ?? []), { type, core, name, size }]
    case 'replace':
      return [{ type, core, name, size }]
    case 'delete':
      return undefined
    default:
      return held
  }
}
