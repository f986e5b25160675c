// Who reads which version, and the pages that only they still need. Without readers a commit
// deletes the pages it replaces in its own write. While a reader of a state that has them is open,
// it writes down their numbers instead, and a later commit deletes them, once no reader needs them.

import { encodeRecord } from '../../record.js'
import type { Operation } from '../../storage.js'
import { pageKey, retiredKey } from './records.js'
import type { State } from './state.js'

/** A state whose pages stay until it is released. */
export interface Pin {
  readonly state: State
  /** Idempotent. */
  readonly release: () => void
}

/** Reading that has begun. */
interface OngoingRead {
  /** Tells which state it is of: not an older one than there was when it began. */
  readonly of: (state: State) => void
  readonly end: () => void
}

/**
 * Pages with smaller numbers than `nextPage` may be its own, where a commit behind `version`
 * replaces them.
 */
interface Reader {
  version: number
  /** Infinite until it is known which state it reads. */
  nextPage: number
}

interface Retired {
  /** Of the commit that replaced the pages. */
  readonly version: number
  readonly pages: readonly number[]
  /** The largest of them. */
  readonly last: number
}

/** What a commit does about the pages it replaces, and those that were left before. */
export interface Retirement {
  readonly operations: readonly Operation[]
  readonly deleted: readonly number[]
  /** What is left from then on. */
  readonly retired: readonly Retired[]
  /** Of how many releases nothing is left to do. */
  readonly releases: number
}

// Of pages that were left before: who waits for a commit does not wait for all of a large store.
const maxDeleted = 4096

export class Readers {
  readonly #open = new Set<Reader>()
  /** In the order of their versions. */
  #retired: readonly Retired[] = []
  #releases = 0
  #settled = 0

  /** From now on no commit deletes what is there, until it is told what is needed of it. */
  begin({ head }: State): OngoingRead {
    const reader = { version: head.version, nextPage: Infinity }
    this.#open.add(reader)
    return {
      of: ({ head }) => Object.assign(reader, { version: head.version, nextPage: head.nextPage }),
      end: () => {
        if (this.#open.delete(reader)) this.#releases++
      },
    }
  }

  /** Of the commit that makes the version and replaces the pages. Nothing is changed yet. */
  plan(version: number, replaced: readonly number[]): Retirement {
    const neededBy = this.#bounds()
    const bound = neededBy(version)
    const operations: Operation[] = []
    const deleted: number[] = []
    const kept: number[] = []
    for (const page of replaced) (page < bound ? kept : deleted).push(page)
    const retired: Retired[] = []
    let releases = this.#releases
    if (this.#settled === releases) retired.push(...this.#retired)
    else {
      const most = deleted.length + maxDeleted
      for (const old of this.#retired) {
        const needed = neededBy(old.version)
        if (needed > old.last) retired.push(old)
        else if (deleted.length >= most) {
          retired.push(old)
          releases = this.#settled
        } else {
          const rest: number[] = []
          for (const page of old.pages) (page < needed ? rest : deleted).push(page)
          if (rest.length === 0) operations.push({ type: 'del', key: retiredKey(old.version) })
          else retired.push(this.#write(operations, old.version, rest))
        }
      }
    }
    if (kept.length > 0) retired.push(this.#write(operations, version, kept))
    for (const page of deleted) operations.push({ type: 'del', key: pageKey(page) })
    return { operations, deleted, retired, releases }
  }

  /** The commit has happened. */
  adopt({ retired, releases }: Retirement): void {
    this.#retired = retired
    this.#settled = releases
  }

  #write(operations: Operation[], version: number, pages: readonly number[]): Retired {
    operations.push({ type: 'put', key: retiredKey(version), value: encodeRecord({ pages }) })
    return { version, pages, last: pages.reduce((last, page) => Math.max(last, page), 0) }
  }

  /** For each version: below which number pages that it has replaced are needed. */
  #bounds(): (version: number) => number {
    const readers = [...this.#open].sort((a, b) => a.version - b.version)
    const bounds: number[] = []
    for (const { nextPage } of readers) bounds.push(Math.max(bounds.at(-1) ?? 0, nextPage))
    return (version) => {
      let low = 0
      let high = readers.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((readers[middle] as Reader).version < version) low = middle + 1
        else high = middle
      }
      return bounds[low - 1] ?? 0
    }
  }
}
