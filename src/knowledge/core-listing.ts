// Cores of a user, as pages and piece by piece.

import { allByLooks, pageByLooks, type Cursors } from '../paging.js'
import { isWithin, timeRange } from '../time-range.js'
import type { LorekeepError } from '../errors.js'
import { decodeKey } from '../keys.js'
import type { Storage } from '../storage.js'
import { damagedCore } from './core-table.js'
import { foundRecords } from '../found-records.js'
import { checkName, coreKey, coresOf, toStat, type CoreRecord } from './records.js'
import type { CorePage, CoreQuery, CoreStat } from './types.js'

/** Records read in one go. */
const recordsPerLook = 512

export class CoreListing {
  readonly #cores: Storage
  readonly #cursors: Cursors

  constructor(cores: Storage, cursors: Cursors) {
    this.#cores = cores
    this.#cursors = cursors
  }

  /** @throws LorekeepError `LK_STORAGE_CORRUPT`, which names the core, where the record of one in it is damaged */
  async page(query: CoreQuery): Promise<CorePage> {
    const look = this.#lookFor(query, (damage) => {
      throw damage
    })
    const { items, page } = await pageByLooks(look, query, this.#cursors, nameOf(query))
    return { cores: items, ...page }
  }

  /** The same at its end: all others are given first. */
  async *list(query: CoreQuery): AsyncGenerator<CoreStat, void, undefined> {
    let first: LorekeepError | undefined
    const look = this.#lookFor(query, (damage) => (first ??= damage))
    yield* allByLooks(look, query, this.#cursors, nameOf(query))
    if (first !== undefined) throw first
  }

  #lookFor(
    { user: named, prefix = '', ...times }: CoreQuery,
    onDamage: (damage: LorekeepError) => void,
  ) {
    const user = checkName('user', named)
    const created = timeRange(times.createdFrom, times.createdTo)
    const updated = timeRange(times.updatedFrom, times.updatedTo)
    const { gt, lt } = coresOf(user)
    const first = prefix === '' ? { gt } : { gte: coreKey({ user, id: prefix }) }
    const isAsked = (core: CoreStat) => {
      const { createdAt, updatedAt } = core
      return isWithin(created, Date.parse(createdAt)) && isWithin(updated, Date.parse(updatedAt))
    }
    return async (after: string | undefined, most: number) => {
      const from = after === undefined ? first : { gt: coreKey({ user, id: after }) }
      // Where all that is read is wanted, no more is read.
      const limit = created === undefined && updated === undefined ? most + 1 : recordsPerLook
      const found: CoreStat[] = []
      let count = 0
      let last: string | undefined
      for await (const page of foundRecords<CoreRecord>(this.#cores, { ...from, lt, limit })) {
        for (const { key, record, damage } of page) {
          const id = record?.id ?? (decodeKey(key)[2] as string)
          if (!id.startsWith(prefix)) return { found, next: undefined }
          count++
          if (found.length === most) return { found, next: last }
          last = id
          if (record === undefined) onDamage(damagedCore({ user, id }, damage.message, damage))
          else if (isAsked(record)) found.push(toStat(record))
        }
      }
      return { found, next: count < limit ? undefined : last }
    }
  }
}

function nameOf({ user, prefix, ...query }: CoreQuery): readonly unknown[] {
  const { createdFrom, createdTo, updatedFrom, updatedTo } = query
  return ['cores', { user, prefix, createdFrom, createdTo, updatedFrom, updatedTo }]
}
