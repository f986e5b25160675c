// Each page is named by one record, and each that is named is there.

import { Numbers } from '../../verify/numbers.js'
import { tupleOf, type Reading } from '../../verify/reading.js'
import { keyText, tupleText } from '../../verify/report.js'
import { allPages } from '../engine/records.js'

/** A page, and what to call the record that names it. */
export type NamedPage = readonly [page: number, by: string]

/** So many pages are told that are missing, or named twice. */
const maxNamed = 1000

export class PagesCheck {
  readonly #reading: Reading
  readonly #named = new Numbers()

  constructor(reading: Reading) {
    this.#reading = reading
  }

  /** A record names the page. */
  name(page: number): void {
    this.#named.add(page)
  }

  /** `isGiven` says whether a head has given the number; `namers` gives who names which page, should that have to be told. */
  async *compare(
    isGiven: (page: number) => boolean,
    namers: () => AsyncIterable<NamedPage>,
  ): AsyncGenerator<void, void, undefined> {
    const { partition, report } = this.#reading
    const named = this.#named.sorted()
    /** Pages that are named and not there, or named twice. */
    const missing = new Set<number>()
    const twice = new Set<number>()
    let at = 0
    const pass = (number: number) => {
      for (; at < named.length && (named[at] as number) < number; at++) {
        if (missing.size < maxNamed) missing.add(named[at] as number)
      }
    }
    for await (const page of this.#reading.pages({ ...allPages(), keysOnly: true })) {
      for (const { key } of page) {
        const [number] = tupleOf<[number]>(key, 'n') ?? []
        if (number === undefined) continue
        pass(number)
        if (named[at] !== number) {
          report.error(partition, 'unreferenced', keyText(key), 'no record names it')
        } else if (named[at + 1] === number && twice.size < maxNamed) twice.add(number)
        while (named[at] === number) at++
        if (!isGiven(number)) {
          const message = 'the head has not given that number yet'
          report.error(partition, 'different', keyText(key), message)
        }
      }
      yield
    }
    pass(Infinity)
    if (missing.size + twice.size === 0) return
    for await (const [page, by] of namers()) {
      const what = tupleText('page', page)
      if (missing.has(page)) report.error(partition, 'missing', what, `${by} names it`)
      if (twice.has(page)) {
        const message = `${by} names it, and so does another record`
        report.error(partition, 'duplicate', what, message)
      }
    }
  }
}
