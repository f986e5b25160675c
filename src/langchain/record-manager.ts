// What index() of LangChain knows of what it has indexed, in objects.

import { RecordManager } from '@langchain/core/indexing'
import type { ListKeyOptions, UpdateOptions } from '@langchain/core/indexing'
import { checkOptions } from '../door/options.js'
import { aName, aText } from '../door/rules.js'
import { anObjectStore, someAtOnce, type LangchainObjects } from './stores.js'

export interface LorekeepRecordManagerOptions {
  readonly objects: LangchainObjects
  readonly user: string
  /** Of objects: what one vector store is indexed in. `langchain-records` by default. */
  readonly collection?: string
}

const managerRules = { objects: anObjectStore, user: aText, collection: aName(256) }
const schema = {
  name: 'langchain_record',
  fields: {
    id: { type: 'string', required: true },
    key: { type: 'string', required: true },
    group: { type: 'string', nullable: true },
    updated: { type: 'number', required: true },
  },
  indexes: ['_collection', 'group', 'updated', 'id'],
}
/** Of one request. */
const together = 1000

export class LorekeepRecordManager extends RecordManager {
  override lc_namespace = ['lorekeep', 'langchain']
  readonly #objects: LangchainObjects
  readonly #user: string
  readonly #collection: string

  /** @throws TypeError for options that cannot be */
  constructor(options: LorekeepRecordManagerOptions) {
    const given = checkOptions('LorekeepRecordManager()', options, managerRules, 'objects', 'user')
    super()
    this.#objects = given.objects
    this.#user = given.user
    this.#collection = given.collection ?? 'langchain-records'
  }

  override async createSchema(): Promise<void> {
    await this.#objects.defineSchema(schema)
  }

  /** In milliseconds since 1970. */
  override async getTime(): Promise<number> {
    return Date.now()
  }

  /** @throws TypeError for other than one group for each key; RangeError where the clock is behind `timeAtLeast` */
  override async update(keys: string[], options: UpdateOptions = {}): Promise<void> {
    const { groupIds = keys.map(() => null), timeAtLeast } = options
    if (groupIds.length !== keys.length) {
      throw new TypeError(`there are ${groupIds.length} groups for ${keys.length} keys`)
    }
    const updated = await this.getTime()
    if (timeAtLeast !== undefined && updated < timeAtLeast) {
      throw new RangeError(`the time ${updated} is before ${timeAtLeast}: the clock was set back`)
    }
    // An id comes once in a batch.
    const records = new Map(
      keys.map((key, at) => {
        return [key, { id: this.#idOf(key), key, group: groupIds[at] ?? null, updated }]
      }),
    )
    for (const values of inPieces([...records.values()])) {
      const metadata = { id: 'index', user: this.#user, collection: this.#collection }
      const batch = { metadata, schema_name: schema.name, values }
      await this.#objects.import(batch, { onDuplicate: 'replace' })
    }
  }

  override async exists(keys: string[]): Promise<boolean[]> {
    const found = new Set<string>()
    for (const some of inPieces(keys)) {
      const ids = some.map((key) => this.#idOf(key))
      for (const key of await this.#found({ id: { $in: ids } })) found.add(key)
    }
    return keys.map((key) => found.has(key))
  }

  override async listKeys(options: ListKeyOptions = {}): Promise<string[]> {
    const { before, after, groupIds, limit } = options
    const time = {
      ...(before !== undefined && { $lt: before }),
      ...(after !== undefined && { $gt: after }),
    }
    const filters = {
      ...(Object.keys(time).length > 0 && { updated: time }),
      ...(groupIds !== undefined && { group: { $in: groupIds } }),
    }
    return this.#found(filters, limit)
  }

  override async deleteKeys(keys: string[]): Promise<void> {
    await someAtOnce(keys, (key) => this.#objects.delete(this.#collection, this.#idOf(key)))
  }

  /** A key is of the content alone: two users with one document have the same, and ids are of a collection. */
  #idOf(key: string): string {
    return JSON.stringify([this.#user, key])
  }

  /** The oldest first. */
  async #found(filters: object, most = Infinity): Promise<string[]> {
    const keys: string[] = []
    let after: string | undefined
    do {
      const { objects, next } = await this.#objects.query({
        schema_name: schema.name,
        filters: { _collection: this.#collection, _user: this.#user, ...filters },
        sort: { updated: 'asc' },
        fields: ['key'],
        limit: Math.min(together, most - keys.length),
        after,
      })
      keys.push(...objects.map((record) => (record as { readonly key: string }).key))
      after = next
    } while (after !== undefined && keys.length < most)
    return keys
  }
}

function* inPieces<Item>(items: readonly Item[]): Generator<Item[], void, undefined> {
  for (let from = 0; from < items.length; from += together) yield items.slice(from, from + together)
}
