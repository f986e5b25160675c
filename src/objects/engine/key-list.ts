import type { Scalar } from '../values/values.js'

/** Entries in no order, as rows make them. */
export interface KeyList {
  readonly keys: Scalar[]
  readonly refs: number[]
  /** Of an index of text, else empty. */
  readonly places: string[]
  readonly lengths: number[]
}

export function newKeys(): KeyList {
  return { keys: [], refs: [], places: [], lengths: [] }
}
