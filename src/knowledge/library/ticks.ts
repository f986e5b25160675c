import { decodeKey } from '../../keys.js'
import { hasCode } from '../../errors.js'
import { beatKey, type Presence } from '../../presence.js'
import type { Operation, Precondition, Storage } from '../../storage.js'
import type { CoreTable } from '../core-table.js'
import { allTicks, slotKey, slots, tickKey, ticksOf } from '../records.js'

/** By slot and kind: what was written last. */
export type Seen = ReadonlyMap<string, string>

/** A change that only adds what waits: whoever reads the rest of a library meanwhile has read one version of it. */
const additions = 0
const otherChanges = 1

/**
 * How processes that share a store see that a library was changed: each change writes a value that there never was
 * before under a key of its process. A key for all would make writers wait for each other, or fail. Such keys
 * are not deleted, as what was written last may not have been seen; so they are named by slots, of which there are
 * never more than processes at a time.
 */
export class Ticks {
  /** All that is known may lack the last changes of who had the slot before. */
  onNewSlot: () => void = () => undefined
  readonly #table: CoreTable
  readonly #cores: Storage
  readonly #presence: Presence
  #slot: { readonly life: string; readonly n: number } | undefined
  #taking: Promise<void> | undefined
  #count = 0

  constructor(table: CoreTable, presence: Presence) {
    this.#table = table
    this.#cores = table.cores
    this.#presence = presence
    presence.onGone((id) => this.#free(id))
  }

  /** Sees to it that operations() has a slot. @throws LorekeepError `LK_STORAGE_*` */
  async begin(): Promise<void> {
    while (!this.isReady) {
      this.#taking ??= this.#take().finally(() => (this.#taking = undefined))
      await this.#taking
    }
  }

  /** False where others took this process for dead since it took its slot. */
  get isReady(): boolean {
    return this.#slot?.life === this.#presence.id
  }

  /** What goes with a change of a user's library. To be called in one turn with the write. */
  operations(user: string, isAddition: boolean): readonly Operation[] {
    const n = this.#slot?.n ?? 0
    const value = Buffer.from(`${this.#presence.id} ${++this.#count}`)
    const kinds = isAddition ? [additions] : [additions, otherChanges]
    return kinds.map((kind) => ({ type: 'put', key: tickKey(user, n, kind), value }))
  }

  async read(user: string): Promise<Seen> {
    const seen = new Map<string, string>()
    for await (const page of this.#cores.scan(ticksOf(user))) {
      for (const { key, value } of page) {
        const [, , n, kind] = decodeKey(key)
        seen.set(`${n}/${kind}`, Buffer.from(value).toString())
      }
    }
    return seen
  }

  /** Whether others have changed something since. */
  hasNews(before: Seen, after: Seen): boolean {
    return this.#differ(before, after, '')
  }

  /** Whether that was more than additions. */
  hasMixed(before: Seen, after: Seen): boolean {
    return this.#differ(before, after, `/${otherChanges}`)
  }

  #differ(before: Seen, after: Seen, kind: string): boolean {
    const own = `${this.#presence.id} `
    for (const [key, value] of after) {
      if (key.endsWith(kind) && !value.startsWith(own) && before.get(key) !== value) return true
    }
    return false
  }

  async #take(): Promise<void> {
    const life = this.#presence.id
    const value = Buffer.from(life)
    for (;;) {
      const taken = await this.#taken()
      let n = 0
      while (taken.has(n)) n++
      const key = slotKey(n)
      const free: Precondition = { type: 'absent', key }
      try {
        // Nobody has asked for it: where this is another one by now, a slot is taken again.
        await this.#table.write([{ type: 'put', key, value }], [free], this.#table.member)
      } catch (error) {
        if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
        continue
      }
      this.#slot = { life, n }
      this.onNewSlot()
      return
    }
  }

  /** Those of who is there. Of a store that was restored there may be others. */
  async #taken(): Promise<Set<number>> {
    const taken = new Set<number>()
    for await (const page of this.#cores.scan(slots())) {
      for (const { key, value } of page) {
        const owner = Buffer.from(value).toString()
        if ((await this.#cores.get(beatKey(owner))) === undefined) await this.#free(owner)
        else taken.add(decodeKey(key)[1] as number)
      }
    }
    return taken
  }

  async #free(id: string): Promise<void> {
    const value = Buffer.from(id)
    for await (const page of this.#cores.scan(slots())) {
      for (const { key, value: owner } of page) {
        if (!value.equals(owner)) continue
        const require = [{ type: 'equals', key, value } as const]
        await this.#cores.write([{ type: 'del', key }], { durable: true, require }).catch(isFree)
      }
    }
  }
}

/** Of a store that nobody shares any more. */
export async function deleteTicks(cores: Storage): Promise<void> {
  for (const range of [allTicks(), slots()]) {
    for await (const page of cores.scan({ ...range, keysOnly: true })) {
      await cores.write(page.map(({ key }) => ({ type: 'del', key })))
    }
  }
}

/** Somebody else was faster. */
function isFree(error: unknown): void {
  if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
}
