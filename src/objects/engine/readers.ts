// Who reads which version, and the pages that only they still need. Without readers a commit
// deletes the pages it replaces in its own write. While a reader of a state that has them is open,
// it writes down their numbers instead, and a later commit deletes them, once no reader needs them.

import { encodeRecord } from '../../record.js'
import type { Operation } from '../../storage.js'
import { laneOf } from './lanes.js'
import { pageKey, retiredKey, type RetiredRecord } from './records.js'
import { laneIn, type Heads, type State } from './state.js'

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

interface Reader {
  heads: Heads
  /** Until it is known which state it reads. */
  needsAll: boolean
}

interface Retired {
  /** Of the commit that replaced the pages. */
  readonly version: number
  readonly pages: readonly number[]
  /** As whom it was written down. */
  readonly member: string | undefined
}

/** What a commit does about the pages it replaces, and those that were left before. */
export interface Retirement {
  readonly lane: number
  readonly operations: readonly Operation[]
  readonly deleted: readonly number[]
  /** What is left from then on. */
  readonly retired: readonly Retired[]
  /** Of how many releases nothing is left to do. */
  readonly releases: number
}

// Of pages that were left before: who waits for a commit does not wait for all of a large store.
const maxDeleted = 4096

/** Says whether some reader may need the page. */
type Needs = (page: number) => boolean

interface Left {
  /** In the order of their versions. */
  readonly retired: readonly Retired[]
  readonly settled: number
}

const nothing: Left = { retired: [], settled: 0 }

export class Readers {
  readonly #open = new Set<Reader>()
  /** By the lane whose commits have replaced the pages. */
  readonly #left = new Map<number, Left>()
  #releases = 0

  /** From now on no commit deletes what is there, until it is told what is needed of it. */
  begin({ heads }: Pick<State, 'heads'>): OngoingRead {
    const reader: Reader = { heads, needsAll: true }
    this.#open.add(reader)
    return {
      of: ({ heads }) => Object.assign(reader, { heads, needsAll: false }),
      end: () => {
        if (this.#open.delete(reader)) this.#releases++
      },
    }
  }

  /**
   * Of the commit that makes the version and replaces the pages. Nothing is changed yet.
   * @param member who makes it, of those who share the backend
   */
  plan(version: number, replaced: readonly number[], member?: string): Retirement {
    const lane = laneOf(version)
    const { retired: left, settled } = this.#left.get(lane) ?? nothing
    // Of one who was taken for dead it is for those who clean up behind him.
    const before = left.filter((old) => old.member === member)
    const neededBy = this.#needs(lane)
    const operations: Operation[] = []
    const deleted: number[] = []
    const kept: number[] = []
    const isNeeded = neededBy(version)
    for (const page of replaced) (isNeeded(page) ? kept : deleted).push(page)
    const retired: Retired[] = []
    let releases = this.#releases
    if (settled === releases) retired.push(...before)
    else {
      const most = deleted.length + maxDeleted
      for (const old of before) {
        const isOldNeeded = neededBy(old.version)
        if (old.pages.every(isOldNeeded)) retired.push(old)
        else if (deleted.length >= most) {
          retired.push(old)
          releases = settled
        } else {
          const rest: number[] = []
          for (const page of old.pages) (isOldNeeded(page) ? rest : deleted).push(page)
          if (rest.length === 0) operations.push({ type: 'del', key: retiredKey(old.version) })
          else retired.push(this.#write(operations, { ...old, pages: rest }))
        }
      }
    }
    if (kept.length > 0) retired.push(this.#write(operations, { version, pages: kept, member }))
    for (const page of deleted) operations.push({ type: 'del', key: pageKey(page) })
    return { lane, operations, deleted, retired, releases }
  }

  /** The commit has happened. */
  adopt({ lane, retired, releases }: Retirement): void {
    this.#left.set(lane, { retired, settled: releases })
  }

  /**
   * The versions that have replaced pages may be lost, and the pages may be those of the newest: what is left stays
   * until this process is gone.
   */
  forget(): void {
    this.#left.clear()
  }

  #write(operations: Operation[], retired: Retired): Retired {
    const { version, pages, member } = retired
    const record: RetiredRecord = { pages, ...(member !== undefined && { member }) }
    operations.push({ type: 'put', key: retiredKey(version), value: encodeRecord(record) })
    return retired
  }

  /**
   * For each version of a lane which pages are needed that it has replaced: those that readers of versions
   * before it know.
   */
  #needs(lane: number): (version: number) => Needs {
    const readers = [...this.#open]
      .map((reader) => ({ ...reader, version: laneIn(reader.heads, lane).version }))
      .sort((a, b) => a.version - b.version)
    // By the lane of a page, for each reader: below which number it and those before it need pages.
    const bounds = new Map<number, number[]>()
    const boundsOf = (of: number) => {
      let all = bounds.get(of)
      if (all === undefined) {
        all = []
        for (const { heads, needsAll } of readers) {
          const next = needsAll ? Infinity : laneIn(heads, of).nextPage
          all.push(Math.max(all.at(-1) ?? 0, next))
        }
        bounds.set(of, all)
      }
      return all
    }
    return (version) => {
      let low = 0
      let high = readers.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if (readers[middle]!.version < version) low = middle + 1
        else high = middle
      }
      if (low === 0) return () => false
      return (page) => page < (boundsOf(laneOf(page))[low - 1] as number)
    }
  }
}
