// What has to hold of the `objects` partition at rest, read past the store: blocks, runs and pages
// fit together, and every index says what a look at every object says.

import { decodeKey } from '../../src/keys.js'
import { decodeRecord } from '../../src/record.js'
import { Block, type Row } from '../../src/objects/engine/block.js'
import { EntryPage } from '../../src/objects/engine/entries.js'
import { IdHash } from '../../src/objects/engine/hash.js'
import {
  idIndex,
  type BlockRecord,
  type CollectionRecord,
  type HeadRecord,
  type ListRecord,
  type RetiredRecord,
  type RunRecord,
  type SchemaRecord,
} from '../../src/objects/engine/records.js'
import { RowShapes } from '../../src/objects/engine/row-shapes.js'
import { tableOf, tableSpan } from '../../src/objects/engine/ref.js'
import type { StoredObject } from '../../src/objects/types.js'
import {
  compareScalars,
  irregularKeys,
  regularKey,
  type Scalar,
} from '../../src/objects/filter/values.js'
import type { Backend } from '../../src/storage.js'

interface Found {
  readonly row: Row
  readonly stored: StoredObject
}

interface Expected {
  readonly path: string
  readonly entries: Map<string, number>
  irregular: number
}

/**
 * What is wrong, each in a line; nothing where all is well. Call it while nothing is written. Pages
 * that were kept for readers are a problem unless there are some.
 */
export async function problemsOf(
  backend: Backend,
  { reading = false }: { readonly reading?: boolean } = {},
): Promise<string[]> {
  const inspection = new Inspection(reading)
  const storage = await backend.open('objects')
  for await (const page of storage.scan({})) {
    for (const { key, value } of page) inspection.take(decodeKey(key), value)
  }
  return inspection.finish()
}

class Inspection {
  readonly #problems: string[] = []
  #head: HeadRecord | undefined
  readonly #schemas: SchemaRecord[] = []
  readonly #collections = new Map<string, CollectionRecord>()
  readonly #blocks: { readonly table: number; readonly first: number; record: BlockRecord }[] = []
  readonly #runs: { readonly index: number; readonly number: number; record: RunRecord }[] = []
  readonly #retired = new Map<number, RetiredRecord>()
  readonly #pages = new Map<number, Uint8Array>()
  readonly #reading: boolean
  readonly #named = new Set<number>()
  readonly #shapes = new RowShapes()

  constructor(reading: boolean) {
    this.#reading = reading
  }

  take([kind, a, b]: readonly unknown[], value: Uint8Array): void {
    if (kind === 'page') this.#pages.set(a as number, value)
    else if (kind === 'head') this.#head = decodeRecord(value)
    else if (kind === 'schema') this.#schemas.push(decodeRecord(value))
    else if (kind === 'collection') this.#collections.set(a as string, decodeRecord(value))
    else if (kind === 'block') {
      this.#blocks.push({ table: a as number, first: b as number, record: decodeRecord(value) })
    } else if (kind === 'run') {
      this.#runs.push({ index: a as number, number: b as number, record: decodeRecord(value) })
    } else if (kind === 'retired') {
      this.#retired.set(a as number, decodeRecord(value))
    } else if (kind !== 'format') this.#tell(`a key of no kind: ${String(kind)}`)
  }

  finish(): string[] {
    const byTable = this.#readBlocks()
    const all = [...byTable.values()].flat()
    const expected = this.#expectedIndexes(byTable)
    expected.set(idIndex, this.#expectedIds(all))
    this.#checkIndexes(expected)
    this.#checkCollections(all)
    this.#checkHead(all)
    this.#checkRetired()
    for (const number of this.#pages.keys()) {
      if (!this.#named.has(number)) this.#tell(`page ${number} is named by nothing`)
    }
    return this.#problems
  }

  #tell(problem: string): void {
    this.#problems.push(problem)
  }

  /** The bytes of a page that a record names. */
  #page(number: number, by: string): Uint8Array | undefined {
    if (this.#named.has(number)) this.#tell(`page ${number} is named a second time, by ${by}`)
    this.#named.add(number)
    const bytes = this.#pages.get(number)
    if (bytes === undefined) this.#tell(`page ${number}, which ${by} names, is not there`)
    return bytes
  }

  #readBlocks(): Map<number, Found[]> {
    const byTable = new Map<number, Found[]>()
    for (const [n, { table, first, record }] of this.#blocks.entries()) {
      const by = `block ${table} ${first}`
      const next = this.#blocks[n + 1]
      const end = next?.table === table ? next.first : Infinity
      if (!this.#schemas.some((schema) => schema.table === table)) this.#tell(`${by} of no schema`)
      const bytes = this.#page(record.page, by)
      if (bytes === undefined) continue
      if (bytes.length !== record.bytes) this.#tell(`${by} has ${bytes.length} bytes`)
      const block = new Block(bytes, this.#shapes)
      if (block.rows !== record.rows || block.rows < 1) this.#tell(`${by} has ${block.rows} rows`)
      const found = byTable.get(table) ?? []
      byTable.set(table, found)
      let last = first - 1
      for (let at = 0; at < block.rows; at++) {
        const row = block.row(at)
        if (row.ref <= last || row.ref >= end || tableOf(row.ref) !== table) {
          this.#tell(`${by} has the reference ${row.ref} behind ${last}, in front of ${end}`)
        }
        last = row.ref
        found.push({ row, stored: block.stored(at) })
      }
    }
    return byTable
  }

  #expectedIndexes(byTable: ReadonlyMap<number, readonly Found[]>): Map<number, Expected> {
    const expected = new Map<number, Expected>()
    const tables = new Set<number>()
    for (const { definition, table, indexes } of this.#schemas) {
      const { name } = definition
      if (tables.has(table)) this.#tell(`${name} shares the table ${table} with another schema`)
      tables.add(table)
      if (indexes.length !== definition.indexes.length) this.#tell(`${name} has lost an index`)
      for (const [n, number] of indexes.entries()) {
        const path = definition.indexes[n] as string
        if (expected.has(number)) this.#tell(`the index ${number} is of two schemas`)
        const index: Expected = { path: `${name}.${path}`, entries: new Map(), irregular: 0 }
        expected.set(number, index)
        for (const { row, stored } of byTable.get(table) ?? []) enter(index, path, row, stored)
      }
    }
    return expected
  }

  #expectedIds(all: readonly Found[]): Expected {
    const entries = new Map<string, number>()
    const seen = new Set<string>()
    const hash = new IdHash(this.#head?.hashKey ?? '')
    for (const { row } of all) {
      const text = JSON.stringify([row.collection, String(row.id)])
      if (seen.has(text)) this.#tell(`the id ${text} is there twice`)
      seen.add(text)
      entries.set(entryText(hash.of(row.collection, String(row.id)), row.ref), 1)
    }
    return { path: 'ids', entries, irregular: 0 }
  }

  #checkIndexes(expected: ReadonlyMap<number, Expected>): void {
    const held = new Map<number, { readonly entries: Map<string, number>; irregular: number }>()
    for (const { index, number, record } of this.#runs) {
      const by = `run ${index} ${number}`
      if (!expected.has(index)) this.#tell(`${by} of no index`)
      const sum = held.get(index) ?? { entries: new Map<string, number>(), irregular: 0 }
      held.set(index, sum)
      sum.irregular += record.irregular
      for (const entry of this.#readList(record.adds, by)) count(sum.entries, entry, 1)
      for (const entry of this.#readList(record.dels, by)) {
        // Runs come with the oldest first: what a deletion takes away was added by then.
        if (count(sum.entries, entry, -1) < 0) this.#tell(`${by} deletes ${entry}, never added`)
      }
    }
    for (const [number, { path, entries, irregular }] of expected) {
      const sum = held.get(number) ?? { entries: new Map<string, number>(), irregular: 0 }
      for (const [entry, times] of sum.entries) {
        if (times !== (entries.get(entry) ?? 0)) this.#tell(`${path} has ${times} of ${entry}`)
      }
      for (const entry of entries.keys()) {
        if (!sum.entries.has(entry)) this.#tell(`${path} lacks ${entry}`)
      }
      if (sum.irregular !== irregular) {
        this.#tell(`${path} has ${sum.irregular} irregular rows, not ${irregular}`)
      }
    }
  }

  *#readList({ pages, counts, keys, refs }: ListRecord, by: string): Generator<string> {
    let last: { readonly key: Scalar; readonly ref: number } | undefined
    for (const [n, number] of pages.entries()) {
      const bytes = this.#page(number, by)
      if (bytes === undefined) continue
      const page = EntryPage.decode(bytes)
      // What is listed stands between the pages: the first entry, or a beginning of a long key.
      const first = { key: page.keys[0] as Scalar, ref: page.refs[0] as number }
      const listed = { key: keys[n] as Scalar, ref: refs[n] as number }
      const isBehind =
        last === undefined || (compareScalars(last.key, listed.key) || last.ref - listed.ref) < 0
      const isListed =
        isBehind && (compareScalars(listed.key, first.key) || listed.ref - first.ref) <= 0
      if (!isListed || page.refs.length !== counts[n]) this.#tell(`${by} is wrong about ${number}`)
      for (const [at, ref] of page.refs.entries()) {
        const key = page.keys[at] as Scalar
        if (last !== undefined && (compareScalars(last.key, key) || last.ref - ref) >= 0) {
          this.#tell(`${by} has ${entryText(last.key, last.ref)} before ${entryText(key, ref)}`)
        }
        last = { key, ref }
        yield entryText(key, ref)
      }
    }
  }

  #checkCollections(all: readonly Found[]): void {
    const counts = new Map<string, number>()
    for (const { stored } of all) {
      count(counts, JSON.stringify([stored._collection, stored._schema]), 1)
    }
    for (const [name, { schemas, deleting }] of this.#collections) {
      if (deleting !== undefined) this.#tell(`${name} is still being deleted`)
      for (const [schema, objects] of Object.entries(schemas)) {
        const place = JSON.stringify([name, schema])
        if (counts.get(place) !== objects) this.#tell(`${place} does not have ${objects} objects`)
        counts.delete(place)
      }
    }
    for (const place of counts.keys()) this.#tell(`${place} has objects that are not counted`)
  }

  #checkHead(all: readonly Found[]): void {
    const { nextRow = 0, nextPage = 0, nextIndex = 0 } = this.#head ?? {}
    for (const { row } of all) {
      if (Math.floor(row.ref / tableSpan) >= nextRow) this.#tell(`row ${row.ref} is not yet given`)
    }
    for (const page of this.#pages.keys()) {
      if (page >= nextPage) this.#tell(`page ${page} is not yet given`)
    }
    for (const { indexes } of this.#schemas) {
      if (indexes.some((index) => index >= nextIndex)) this.#tell('an index is not yet given')
    }
  }

  #checkRetired(): void {
    for (const [version, { pages }] of this.#retired) {
      const by = `what was retired by ${version}`
      if (!this.#reading) this.#tell(`${by} is of no reader`)
      if (pages.length === 0) this.#tell(`${by} is nothing`)
      if (version > (this.#head?.version ?? 0)) this.#tell(`${by} is of no commit`)
      for (const page of pages) this.#page(page, by)
    }
  }
}

function enter(index: Expected, path: string, { ref }: Row, stored: StoredObject): void {
  const [name = '', ...rest] = path.split('.')
  const field = Object.hasOwn(stored, name) ? stored[name] : undefined
  const key = regularKey(field, rest)
  if (key === undefined) index.irregular++
  for (const one of key === undefined ? irregularKeys(field, rest) : [key]) {
    index.entries.set(entryText(one, ref), 1)
  }
}

function count(counts: Map<string, number>, of: string, change: number): number {
  const sum = (counts.get(of) ?? 0) + change
  counts.set(of, sum)
  return sum
}

const entryText = (key: Scalar, ref: number) => JSON.stringify([key, ref])
