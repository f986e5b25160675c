// A state from records: from all that there are, or from those that have changed since another state. What has not
// changed is taken over as it is.

import { LorekeepError } from '../../errors.js'
import { compileSchema, type CompiledSchema } from '../schema/schema.js'
import type { IndexDefinition } from '../types.js'
import { placesOf, withGroups, type GroupedBlocks } from './block-groups.js'
import { indexOf, runOf, type Index, type Run } from './index-runs.js'
import { CollectionRecords } from './collection-records.js'
import {
  idIndex,
  type BlocksRecord,
  type BuildingRecord,
  type RecordChange,
  type RunRecord,
  type SchemaRecord,
} from './records.js'
import type { BlockPlace, Building, Heads, State, Table } from './state.js'

/** What a record says of itself, by its number: `null` where it is gone. */
type Changes<R> = Map<number, R | null>

export class StateBuilder {
  readonly #base: State | undefined
  readonly #schemas = new Map<string, SchemaRecord | null>()
  readonly #collections: CollectionRecords
  readonly #building = new Map<string, BuildingRecord | null>()
  /** By table, and by index. */
  readonly #blocks = new Map<number, Changes<BlocksRecord>>()
  readonly #runs = new Map<number, Changes<RunRecord>>()
  readonly #known = new Map<number, Index>()
  readonly #named = new Set<number>()

  constructor(base?: State) {
    this.#base = base
    this.#collections = new CollectionRecords(base)
    if (base === undefined) return
    const indexes = [base.ids]
    for (const table of base.tables.values()) indexes.push(...table.indexes)
    for (const building of base.building.values()) indexes.push(...building.indexes)
    for (const index of indexes) this.#known.set(index.number, index)
  }

  /**
   * In the order in which a lane has made them, and in any where they are of several; where there are several of one
   * record the last one holds.
   */
  apply(change: RecordChange, lane: number): void {
    switch (change[0]) {
      case 'schema':
        this.#schemas.set(change[1], change[2])
        break
      case 'collection':
        this.#collections.set(change[1], lane, change[2])
        break
      case 'building':
        this.#building.set(change[1], change[2])
        break
      case 'blocks':
        changesOf(this.#blocks, change[1]).set(change[2], change[3])
        break
      case 'run':
        changesOf(this.#runs, change[1]).set(change[2], change[3])
    }
  }

  finish(heads: Heads): State {
    const ids = this.#index(idIndex, '_id')
    const tables = new Map<string, Table>()
    for (const [name, table] of this.#base?.tables ?? []) {
      if (!this.#schemas.has(name)) tables.set(name, this.#sameSchema(table))
    }
    for (const [name, record] of this.#schemas) {
      if (record !== null) tables.set(name, this.#table(record))
    }
    const building = new Map<string, Building>()
    for (const [name, known] of this.#base?.building ?? []) {
      if (this.#building.has(name)) continue
      const indexes = known.indexes.map((index) => this.#sameIndex(index))
      building.set(name, { ...known, indexes })
    }
    for (const [name, record] of this.#building) {
      if (record === null) continue
      const { token, member, upTo } = record
      const indexes = record.indexes.map(({ number, index }) => this.#index(number, index))
      building.set(name, { token, member, indexes, upTo: new Map(upTo) })
    }
    const { collections, elsewhere } = this.#collections
    return { heads, tables, collections, elsewhere, ids, building }
  }

  /** After finish(): runs of indexes that nothing names, by index. */
  *unnamed(): Generator<readonly [index: number, run: number, record: RunRecord]> {
    for (const [index, changes] of this.#runs) {
      if (this.#named.has(index)) continue
      for (const [run, record] of changes) if (record !== null) yield [index, run, record]
    }
  }

  #table(record: SchemaRecord): Table {
    const { definition, table: number } = record
    const old = this.#base?.tables.get(definition.name)
    const schema: CompiledSchema = compileSchema(definition)
    const indexes = record.indexes.map((index, n) =>
      this.#index(index, definition.indexes[n] ?? ''),
    )
    const known = old?.number === number ? old : { blocks: [], groups: [] }
    const { blocks, groups } = this.#blocksOf(number, known)
    return { number, schema, blocks, groups, rows: rowsIn(blocks), indexes }
  }

  #sameSchema(table: Table): Table {
    const { blocks, groups } = this.#blocksOf(table.number, table)
    const indexes = table.indexes.map((index) => this.#sameIndex(index))
    const isSame =
      blocks === table.blocks && indexes.every((index, n) => index === table.indexes[n])
    return isSame ? table : { ...table, blocks, groups, rows: rowsIn(blocks), indexes }
  }

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` */
  #blocksOf(table: number, known: GroupedBlocks): GroupedBlocks {
    const changes = this.#blocks.get(table)
    if (changes === undefined) return known
    const groups = new Map<number, readonly BlockPlace[] | null>()
    for (const [first, record] of changes) {
      const places = record === null ? null : placesOf(first, record)
      if (places === undefined) {
        const detail = `the record of blocks of table ${table} from row ${first} on is none`
        throw new LorekeepError('LK_STORAGE_CORRUPT', detail)
      }
      groups.set(first, places)
    }
    return withGroups(known, groups)
  }

  #index(number: number, definition: IndexDefinition): Index {
    return this.#sameIndex({
      ...indexOf(number, definition),
      runs: this.#known.get(number)?.runs ?? [],
    })
  }

  #sameIndex(index: Index): Index {
    this.#named.add(index.number)
    const changes = this.#runs.get(index.number)
    if (changes === undefined) return index
    const numberOf = ({ number }: Run) => number
    return { ...index, runs: merged(index.runs, numberOf, changes, runOf) }
  }
}

function changesOf<R>(all: Map<number, Changes<R>>, number: number): Changes<R> {
  let changes = all.get(number)
  if (changes === undefined) {
    changes = new Map()
    all.set(number, changes)
  }
  return changes
}

function rowsIn(blocks: readonly BlockPlace[]): number {
  let rows = 0
  for (const place of blocks) rows += place.rows
  return rows
}

/** What was there in the order of its numbers, with what has changed in its place. */
function merged<T, R>(
  base: readonly T[],
  numberOf: (one: T) => number,
  changes: Changes<R>,
  make: (number: number, record: R) => T,
): readonly T[] {
  const sorted = [...changes].sort(([a], [b]) => a - b)
  const [first = Infinity] = sorted[0] ?? []
  // Changes are mostly at the end, and what is in front of them may be long.
  let at = base.length
  while (at > 0 && numberOf(base[at - 1] as T) >= first) at--
  const result = base.slice(0, at)
  for (const [number, record] of sorted) {
    for (; at < base.length && numberOf(base[at] as T) < number; at++) result.push(base[at] as T)
    if (at < base.length && numberOf(base[at] as T) === number) at++
    if (record !== null) result.push(make(number, record))
  }
  for (; at < base.length; at++) result.push(base[at] as T)
  return result
}
