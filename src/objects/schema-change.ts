// Making a schema, or changing one that has objects. Then each object is checked against the new
// definition and entered into the indexes that it adds, some thousand at a time and in turn with
// other changes; queries and imports go on with the old definition until all is done.

import { LorekeepError } from '../errors.js'
import type { Committer } from './committer.js'
import type { Draft } from './draft.js'
import { maxTables, tableSpan } from './ref.js'
import type { CompiledSchema } from './schema.js'
import type { ObjectId } from './types.js'
import type { Index } from './index-runs.js'
import { blockOf, type Table } from './state.js'
import { readBlock } from './rows.js'
import type { Row } from './block.js'

/** Blocks of one step. */
const stepBlocks = 64

/** Objects that do not conform are told of up to this many. */
const maxExamples = 10

interface Violation {
  readonly collection: string
  readonly id: ObjectId
  readonly path: string
  readonly reason: string
}

export class SchemaChange {
  readonly #committer: Committer
  readonly #schema: CompiledSchema
  readonly #token = Symbol('schema change')

  constructor(committer: Committer, schema: CompiledSchema) {
    this.#committer = committer
    this.#schema = schema
  }

  /** @throws LorekeepError `LK_SCHEMA_VIOLATED`, `LK_SCHEMA_INVALID`; nothing is changed then */
  async run(signal: AbortSignal): Promise<void> {
    const commit = this.#committer
    let isDone = await commit.commit((draft) => this.#begin(draft))
    while (!isDone) {
      if (signal.aborted) {
        await commit.commit(async (draft) => this.#abandon(draft))
        throw signal.reason
      }
      const violations: Violation[] = []
      isDone = await commit.commit((draft) => this.#step(draft, violations))
      if (violations.length > 0) throw violated(violations)
    }
  }

  /** True where nothing is left to do. */
  async #begin(draft: Draft): Promise<boolean> {
    const { definition } = this.#schema
    const { name } = definition
    const table = draft.table(name)
    if (table === undefined) {
      if (draft.schemas >= maxTables) {
        throw new LorekeepError('LK_SCHEMA_INVALID', `there are ${maxTables} schemas already`)
      }
      draft.setSchema(
        this.#schema,
        definition.indexes.map((path) => draft.createIndex(path)),
      )
      return true
    }
    const old = table.schema.definition
    if (JSON.stringify(old) === JSON.stringify(definition)) return true
    const added = definition.indexes.filter((path) => !old.indexes.includes(path))
    const rows = draft.rowsOf(name) ?? 0
    if (rows > 0 && old.id_field !== definition.id_field) {
      throw new LorekeepError(
        'LK_SCHEMA_VIOLATED',
        `'${name}' has ${rows} objects with their ids in '${old.id_field}'`,
        { details: { objects: rows } },
      )
    }
    // What objects may be has not changed: nothing to check, and nothing to build.
    const isSame = JSON.stringify(shapeOf(old)) === JSON.stringify(shapeOf(definition))
    if (rows === 0 || (isSame && added.length === 0)) {
      draft.setSchema(this.#schema, this.#indexes(draft, table, []))
      return true
    }
    const indexes = added.map((path) => draft.createIndex(path))
    draft.setBuilding(name, { token: this.#token, indexes, upTo: 0 })
    return false
  }

  async #step(draft: Draft, violations: Violation[]): Promise<boolean> {
    const { name } = this.#schema.definition
    // A step may be made a second time, where another process has written meanwhile.
    violations.length = 0
    const building = draft.building(name)
    const table = draft.state.tables.get(name)
    if (building?.token !== this.#token || table === undefined) {
      throw new LorekeepError(
        'LK_STORAGE_UNAVAILABLE',
        `the change of '${name}' was cut off by a failure of the storage; try it again`,
      )
    }
    const from = building.upTo === 0 ? 0 : Math.max(0, blockOf(table, building.upTo - 1))
    const places = table.blocks.slice(from, from + stepBlocks)
    const rows: Row[] = []
    for (const place of places) {
      const block = await readBlock(place, this.#committer.memory.blocks)
      for (let n = 0; n < block.rows; n++) {
        if ((block.refs[n] as number) >= building.upTo) rows.push(block.row(n))
      }
    }
    const isLast = from + places.length >= table.blocks.length
    this.#check(rows, violations)
    if (isLast) this.#check(draft.addedTo(name), violations)
    if (violations.length > 0) {
      this.#abandon(draft)
      return true
    }
    draft.indexRows(building.indexes, rows)
    if (isLast) {
      draft.setSchema(this.#schema, this.#indexes(draft, table, building.indexes))
      draft.setBuilding(name, undefined)
      return true
    }
    const last = rows.at(-1)?.ref ?? building.upTo
    draft.setBuilding(name, { ...building, upTo: last + tableSpan })
    return false
  }

  #abandon(draft: Draft): void {
    const { name } = this.#schema.definition
    const building = draft.building(name)
    if (building?.token !== this.#token) return
    draft.dropIndexes(building.indexes)
    draft.setBuilding(name, undefined)
  }

  /** In the order of the definition: those the table has, those that were built, new empty ones. */
  #indexes(draft: Draft, table: Table, built: readonly Index[]): Index[] {
    const there = [...table.indexes, ...built]
    return this.#schema.definition.indexes.map(
      (path) => there.find((index) => index.path.join('.') === path) ?? draft.createIndex(path),
    )
  }

  #check(rows: readonly Row[], violations: Violation[]): void {
    for (const { collection, id, object } of rows) {
      if (violations.length >= maxExamples) return
      let isFirst = true
      this.#schema.check(object, (path, reason) => {
        if (isFirst) violations.push({ collection, id, path, reason })
        isFirst = false
      })
    }
  }
}

function violated(errors: readonly Violation[]): LorekeepError {
  const list = errors
    .slice(0, 3)
    .map(({ collection, id, path, reason }) => `'${id}' in '${collection}': ${path} ${reason}`)
  const more = errors.length > 3 ? ' …' : ''
  return new LorekeepError('LK_SCHEMA_VIOLATED', list.join('; ') + more, { details: { errors } })
}

/** What a definition says of objects. */
function shapeOf({ fields, strict, id_field }: CompiledSchema['definition']) {
  return { fields, strict, id_field }
}
