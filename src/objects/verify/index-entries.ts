// The entries of an index as its runs have them, in their order: all runs are walked side by side,
// a page of each at a time.

import { LorekeepError } from '../../errors.js'
import type { Reading } from '../../verify/reading.js'
import { tupleText } from '../../verify/report.js'
import { EntryPage, noEntries, type Entries } from '../engine/entries.js'
import { pageKey, type ListRecord, type RunRecord } from '../engine/records.js'
import { compareScalars, type Scalar } from '../values/values.js'

export interface NumberedRun {
  readonly number: number
  readonly record: RunRecord
}

/** A place in the list of what a run adds or deletes. */
interface Cursor {
  readonly list: ListRecord
  readonly weight: 1 | -1
  /** The run. */
  readonly what: string
  /** The page that comes next. */
  next: number
  page: Entries
  at: number
  key: Scalar
  ref: number
}

/**
 * Calls with each entry, how often it was added less how often it was deleted, and what placeText()
 * says of it. Tells what is wrong on the way: entries out of order, pages that are not what their run
 * says. False where some page could not be read, so that there may be more entries.
 * @param runs oldest first
 */
export async function walkEntries(
  reading: Reading,
  index: number,
  runs: readonly NumberedRun[],
  visit: (key: Scalar, ref: number, times: number, place: string) => void,
): Promise<boolean> {
  const walk = new EntriesWalk(reading)
  const cursors: Cursor[] = []
  for (const { number, record } of runs) {
    const what = tupleText('run', index, number)
    for (const [list, weight] of [[record.adds, 1] as const, [record.dels, -1] as const]) {
      const cursor = { list, weight, what, next: 0, page: noEntries, at: 0, key: null, ref: -1 }
      if (await walk.turn(cursor)) cursors.push(cursor)
    }
  }
  while (cursors.length > 0) {
    const { key, ref, what } = leastOf(cursors)
    let times = 0
    let place = ''
    // Oldest first: what a deletion takes away was added by then.
    for (let n = 0; n < cursors.length; n++) {
      const cursor = cursors[n] as Cursor
      if (cursor.ref !== ref || compareScalars(cursor.key, key) !== 0) continue
      times += cursor.weight
      if (cursor.weight > 0) place = placeText(cursor.page, cursor.at)
      if (times < 0 && walk.isWhole) walk.tell(cursor.what, 'deletes', key, ref, 'was never added')
      if (walk.step(cursor) || (await walk.turn(cursor))) continue
      cursors.splice(n--, 1)
    }
    if (times > 1) walk.tell(what, 'adds', key, ref, 'was there already')
    visit(key, ref, times, place)
  }
  return walk.isWhole
}

class EntriesWalk {
  isWhole = true
  readonly #reading: Reading

  constructor(reading: Reading) {
    this.#reading = reading
  }

  tell(what: string, verb: string, key: Scalar, ref: number, why: string): void {
    this.#wrong(what, `${verb} the entry ${entryText(key, ref)}, which ${why}`)
  }

  #wrong(what: string, message: string): void {
    this.#reading.report.error('objects', 'different', what, message)
  }

  /** To the next entry of the page; false at its end. */
  step(cursor: Cursor): boolean {
    const { page, key, ref, what } = cursor
    if (++cursor.at === page.refs.length) return false
    cursor.key = page.keys[cursor.at] as Scalar
    cursor.ref = page.refs[cursor.at] as number
    if (compareEntries(key, ref, cursor.key, cursor.ref) >= 0) {
      const [before, after] = [entryText(key, ref), entryText(cursor.key, cursor.ref)]
      this.#wrong(what, `has the entry ${before} before ${after}`)
    }
    return true
  }

  /** To the next page; false at the end. */
  async turn(cursor: Cursor): Promise<boolean> {
    const { list, what, key: lastKey, ref: lastRef } = cursor
    const isFirst = cursor.next === 0
    for (;;) {
      const n = cursor.next++
      const number = list.pages[n]
      if (number === undefined) return false
      const page = await this.#page(number)
      if (page === undefined) {
        this.isWhole = false
        continue
      }
      const [key, ref] = [page.keys[0] as Scalar, page.refs[0] as number]
      // What is listed stands between the pages: the first entry, or a beginning of a long key.
      const [listedKey, listedRef] = [list.keys[n] as Scalar, list.refs[n] as number]
      const isBehind = isFirst || compareEntries(lastKey, lastRef, listedKey, listedRef) < 0
      if (!isBehind || compareEntries(listedKey, listedRef, key, ref) > 0) {
        this.#wrong(what, `is wrong about what ${tupleText('page', number)} begins with`)
      }
      const { length } = page.refs
      if (length !== list.counts[n]) {
        const counted = `counts ${list.counts[n]} entries in ${tupleText('page', number)}`
        this.#wrong(what, `${counted}, which has ${length}`)
      }
      Object.assign(cursor, { page, at: 0, key, ref })
      return true
    }
  }

  async #page(number: number): Promise<Entries | undefined> {
    const bytes = await this.#reading.get(pageKey(number))
    // That it is missing is told where all pages are looked at.
    if (bytes === undefined) return undefined
    try {
      const page = EntryPage.decode(bytes).entries()
      const { keys, refs } = page
      const isWhole = refs.length > 0 && keys.length === refs.length && areKeys(keys, refs)
      if (isWhole) return page
      throw new LorekeepError('LK_STORAGE_CORRUPT', 'it holds no entries of an index')
    } catch (error) {
      this.#reading.damaged(pageKey(number), (error as Error).message)
      return undefined
    }
  }
}

/** What an entry of a word has beside its key: how long its row is, and where in it the word is. */
export function placeText({ places, lengths }: Omit<Entries, 'refs' | 'keys'>, n: number): string {
  const place = places?.[n] ?? ''
  return place === '' ? '' : `${lengths?.[n] ?? 0} ${place}`
}

export function entryText(key: Scalar, ref: number, place = ''): string {
  const text = typeof key === 'number' ? `${ref} ${key}` : `${ref} ${JSON.stringify(key)}`
  return place === '' ? text : `${text} ${place}`
}

function areKeys(keys: ArrayLike<Scalar>, refs: Float64Array): boolean {
  for (let n = 0; n < refs.length; n++) {
    const key = keys[n]
    if (key === undefined || (typeof key === 'object' && key !== null)) return false
    if (typeof key === 'number' && !Number.isFinite(key)) return false
    if (!Number.isSafeInteger(refs[n])) return false
  }
  return true
}

function leastOf(cursors: readonly Cursor[]): Cursor {
  let least = cursors[0] as Cursor
  for (let n = 1; n < cursors.length; n++) {
    const other = cursors[n] as Cursor
    if (compareEntries(other.key, other.ref, least.key, least.ref) < 0) least = other
  }
  return least
}

function compareEntries(a: Scalar, aRef: number, b: Scalar, bRef: number): number {
  return compareScalars(a, b) || aRef - bRef
}
