// Making a schema, or changing one that has objects. Then each object is checked against the new
// definition and entered into the indexes that it adds, some thousand at a time and in turn with
// other changes; queries and imports go on with the old definition until all is done. Of several processes that
// change one schema at once, one goes first, and the others wait while it gets on.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { checkConditions, versionOf, type ChangeConditions } from '../conditions.js'
import { brief } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import type { Committer } from './engine/committer.js'
import { NotInThisDraft, type Change, type Member } from './engine/lane-queue.js'
import type { Draft } from './engine/draft.js'
import { laneCount } from './engine/lanes.js'
import { laneOfRef, maxTables, tableSpan } from './engine/ref.js'
import type { CompiledSchema } from './schema/schema.js'
import type { ObjectId } from './types.js'
import { indexOf, nameOf, type Index } from './engine/index-runs.js'
import {
  blockOf,
  blocksIn,
  isBuilt,
  type BlockPlace,
  type Building,
  type Table,
} from './engine/state.js'
import type { Row } from './engine/block.js'
import type { Problem } from '../door/problems.js'

/** Blocks of one step. */
const stepBlocks = 64

/** Objects that do not conform are told of up to this many. */
const maxExamples = 10

/** Changes that others have cut off are begun anew so many times. */
const maxAttempts = 5

/** How often is looked whether another process is ready, and how many looks in which it does not get on are borne. */
const lookMs = 20
const patience = 100

type Progress = 'done' | 'going on' | 'cut off'

/** Who this process was at the call, of those who share the backend: taken for dead since, it changes nothing. */
interface Asked {
  readonly id: string | undefined
  readonly member: Member
}

interface Violation extends Problem {
  readonly collection: string
  readonly id: ObjectId
}

export class SchemaChange {
  readonly #committer: Committer
  readonly #schema: CompiledSchema
  readonly #token = randomBytes(8).toString('hex')
  readonly #asked: Asked
  readonly #conditions: ChangeConditions | undefined

  constructor(
    committer: Committer,
    schema: CompiledSchema,
    conditions: ChangeConditions | undefined,
    asked: Asked,
  ) {
    this.#committer = committer
    this.#schema = schema
    this.#asked = asked
    this.#conditions = conditions
  }

  /** @throws LorekeepError `LK_SCHEMA_VIOLATED`, `LK_SCHEMA_INVALID`; nothing is changed then */
  async run(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(signal)
      if (outcome === 'done') return
      if (attempt < maxAttempts) continue
      const { name } = this.#schema.definition
      throw new LorekeepError(
        'LK_STORAGE_UNAVAILABLE',
        `the change of '${name}' was cut off again and again by failures of the storage or by others who write to it`,
      )
    }
  }

  async #attempt(signal: AbortSignal): Promise<'done' | 'cut off'> {
    const violations: Violation[] = []
    let progress = await this.#started(signal)
    try {
      while (progress === 'going on') {
        signal.throwIfAborted()
        progress = await this.#commit((draft) => this.#step(draft, violations))
      }
    } catch (error) {
      const abandon = async (draft: Draft) => this.#abandon(draft)
      await this.#committer.commitOfAll(abandon).catch(() => this.#committer.takeAlong(abandon))
      throw error
    }
    if (violations.length > 0) throw violated(violations)
    return progress
  }

  async #started(signal: AbortSignal): Promise<Progress> {
    for (let stuck: string | undefined; ; stuck = await this.#stuck(signal)) {
      const progress = await this.#commit((draft) => this.#begin(draft, stuck))
      if (progress !== 'behind another') return progress
    }
  }

  /**
   * Waits until no other builds indexes of the schema, or does not get on: gives its token then. Without that, several
   * who begin at once would cut each other off for ever.
   */
  async #stuck(signal: AbortSignal): Promise<string | undefined> {
    const { name } = this.#schema.definition
    let last: Building | undefined
    for (let looks = 0; looks < patience; looks++) {
      const building = await this.#committer.read(async (state) => state.building.get(name))
      if (building === undefined) return undefined
      if (last?.upTo !== building.upTo) looks = 0
      last = building
      await wait(lookMs)
      signal.throwIfAborted()
    }
    return last?.token
  }

  #commit<Result>(change: Change<Result>): Promise<Result> {
    return this.#committer.commitOfAll(change, this.#asked.member)
  }

  /** @param stuck the token of one who does not get on */
  async #begin(draft: Draft, stuck: string | undefined): Promise<Progress | 'behind another'> {
    const { definition } = this.#schema
    const { name } = definition
    if (draft.touches(name)) throw new NotInThisDraft()
    // Whoever gives it another definition meanwhile ends what is being built, and it begins here anew.
    checkSchema(this.#conditions, name, draft.table(name)?.schema)
    const other = draft.building(name)
    if (other !== undefined && this.#isOfOthers(other) && other.token !== stuck) {
      return 'behind another'
    }
    // Left by a change that failed.
    draft.endBuilding(name)
    const table = draft.table(name)
    if (table === undefined) {
      if (draft.schemas >= maxTables) {
        throw new LorekeepError('LK_SCHEMA_INVALID', `there are ${maxTables} schemas already`)
      }
      draft.setSchema(
        this.#schema,
        definition.indexes.map((index) => draft.createIndex(index)),
      )
      return 'done'
    }
    const old = table.schema.definition
    if (JSON.stringify(old) === JSON.stringify(definition)) return 'done'
    const before = new Set(table.indexes.map(nameOf))
    const added = definition.indexes.filter((index) => !before.has(nameOf(indexOf(0, index))))
    const { rows } = table
    if (rows > 0 && old.id_field !== definition.id_field) {
      throw new LorekeepError(
        'LK_SCHEMA_VIOLATED',
        `'${name}' has ${rows === 1 ? '1 object' : `${rows} objects`} with ids in '${old.id_field}'`,
        { details: { objects: rows } },
      )
    }
    // What objects may be has not changed: nothing to check, and nothing to build.
    const isSame = JSON.stringify(shapeOf(old)) === JSON.stringify(shapeOf(definition))
    if (rows === 0 || (isSame && added.length === 0)) {
      draft.setSchema(this.#schema, this.#indexes(draft, table, []))
      return 'done'
    }
    const indexes = added.map((index) => draft.createIndex(index))
    draft.setBuilding(name, {
      token: this.#token,
      member: this.#asked.id,
      indexes,
      upTo: new Map(),
    })
    return 'going on'
  }

  /** It may be under way yet: changes of one process come one after the other. */
  #isOfOthers({ member }: Building): boolean {
    return this.#committer.isShared && (member === undefined || member !== this.#asked.id)
  }

  async #step(draft: Draft, violations: Violation[]): Promise<Progress> {
    const { name } = this.#schema.definition
    if (draft.touches(name)) throw new NotInThisDraft()
    // A step may be made a second time, where another process has written meanwhile.
    violations.length = 0
    const building = draft.building(name)
    const table = draft.table(name)
    if (building?.token !== this.#token || table === undefined) return 'cut off'
    const { places, isLast } = unbuilt(table, building.upTo)
    const rows: Row[] = []
    for (const place of places) {
      const block = await this.#committer.memory.blocks.get(place.page)
      for (let n = 0; n < block.rows; n++) {
        if (!isBuilt(building, block.refs[n] as number)) rows.push(block.row(n))
      }
    }
    this.#check(rows, violations)
    if (violations.length > 0) {
      this.#abandon(draft)
      return 'done'
    }
    draft.indexRows(building.indexes, rows)
    if (isLast) {
      draft.setSchema(this.#schema, this.#indexes(draft, table, building.indexes))
      draft.setBuilding(name, undefined)
      return 'done'
    }
    const upTo = new Map(building.upTo)
    for (const { ref } of rows) upTo.set(laneOfRef(ref), ref + tableSpan)
    draft.setBuilding(name, { ...building, upTo })
    return 'going on'
  }

  #abandon(draft: Draft): void {
    const { name } = this.#schema.definition
    const building = draft.building(name)
    if (building?.token !== this.#token) return
    draft.endBuilding(name)
  }

  /** In the order of the definition: those the table has, those that were built, new empty ones. */
  #indexes(draft: Draft, table: Table, built: readonly Index[]): Index[] {
    const there = new Map([...table.indexes, ...built].map((index) => [nameOf(index), index]))
    return this.#schema.definition.indexes.map(
      (index) => there.get(nameOf(indexOf(0, index))) ?? draft.createIndex(index),
    )
  }

  #check(rows: readonly Row[], violations: Violation[]): void {
    for (const { collection, id, object } of rows) {
      if (violations.length >= maxExamples) return
      let isFirst = true
      this.#schema.check(object, (path, message) => {
        if (isFirst) violations.push({ collection, id, path, message })
        isFirst = false
      })
    }
  }
}

/** Blocks of one step: those that may have rows which the indexes lack, of one lane after the other. */
function unbuilt(
  table: Table,
  upTo: ReadonlyMap<number, number>,
): { readonly places: readonly BlockPlace[]; readonly isLast: boolean } {
  const places: BlockPlace[] = []
  for (let lane = 0; lane < laneCount; lane++) {
    const [first, end] = blocksIn(table, lane)
    const begun = upTo.get(lane)
    const from = begun === undefined ? first : Math.max(first, blockOf(table, begun - 1))
    for (let at = from; at < end; at++) {
      if (places.length === stepBlocks) return { places, isLast: false }
      places.push(table.blocks[at] as BlockPlace)
    }
  }
  return { places, isLast: true }
}

function violated(errors: readonly Violation[]): LorekeepError {
  const list = errors
    .slice(0, 3)
    .map(({ collection, id, path, message }) => `'${id}' in '${collection}': ${path} ${message}`)
  const more = errors.length > 3 ? ' …' : ''
  return new LorekeepError('LK_SCHEMA_VIOLATED', list.join('; ') + more, { details: { errors } })
}

/** @throws LorekeepError `LK_PRECONDITION` */
export function checkSchema(
  conditions: ChangeConditions | undefined,
  name: string,
  schema: CompiledSchema | undefined,
): void {
  if (conditions === undefined) return
  const now = schema && { version: versionOf(schema.definition) }
  checkConditions(conditions, now, `the schema ${brief(name)}`)
}

/** What a definition says of objects. */
function shapeOf({ fields, strict, id_field }: CompiledSchema['definition']) {
  return { fields, strict, id_field }
}
