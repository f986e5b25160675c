// A block: up to `blockRows` objects of one schema, in columns, in the order of their references.

import { ColumnReader, ColumnWriter, type Column } from './columns.js'
import type { Path } from '../values/path.js'
import { ownersOf, type Owner } from './owners.js'
import type { BlockPlace } from './state.js'
import type { IdHash } from './hash.js'
import { tableSpan, versionField } from './ref.js'
import { metadataName, type RowMaker, type RowShapes } from './row-shapes.js'
import type { CompiledSchema } from '../schema/schema.js'
import type { ObjectId, StoredObject } from '../types.js'
import type { JsonObject, JsonValue } from '../../types.js'
import { isRecord } from '../../door/wording.js'

/** One version of an object with all that is stored of it. */
export interface Row {
  readonly ref: number
  readonly id: ObjectId
  /** The object's own fields, the id among them. */
  readonly object: JsonObject
  readonly collection: string
  readonly user: string
  readonly created_at: string
  readonly updated_at: string
  /** The import's own. */
  readonly metadata: JsonObject | undefined
}

export interface EncodedBlock {
  readonly first: number
  readonly rows: number
  readonly bytes: Uint8Array
  readonly owners: readonly Owner[] | undefined
}

/** More make a scan faster (a block is some 5 us by itself), fewer a change of one object. */
export const blockRows = 128

// A row by itself takes 5 us, all columns 60; then a row takes 1.
const fewRows = 6

// Larger blocks are cut, down to one object.
export const blockBytes = 128 * 1024

/** What a block takes in memory as a multiple of its bytes: 1.4 measured with all columns decoded. */
export const decodedFactor = 2

// Beside the declared fields, which cannot begin with an underscore.
const columnNames = {
  ref: '_ref',
  first: '_first',
  schema: '_schema',
  id: '_id',
  idField: '_id_field',
  collection: '_collection',
  user: '_user',
  created: '_created_at',
  updated: '_updated_at',
  metadata: metadataName,
  /** An object of the fields that the schema does not declare. */
  rest: '_rest',
} as const

const importColumns = [
  [columnNames.collection, 'collection'],
  [columnNames.user, 'user'],
  [columnNames.created, 'created_at'],
  [columnNames.updated, 'updated_at'],
  [columnNames.metadata, 'metadata'],
] as const

/** Blocks of rows that come with growing references, each encoded when it is taken: those of an import take long. */
export function* encodeBlocks(
  schema: CompiledSchema,
  rows: readonly Row[],
): Generator<EncodedBlock, void, undefined> {
  for (let at = 0; at < rows.length; at += blockRows) {
    yield* encodeCut(schema, rows.slice(at, at + blockRows))
  }
}

function* encodeCut(
  schema: CompiledSchema,
  rows: readonly Row[],
): Generator<EncodedBlock, void, undefined> {
  const bytes = encodeBlock(schema, rows)
  if (bytes.length > blockBytes && rows.length > 1) {
    yield* encodeCut(schema, rows.slice(0, rows.length >> 1))
    yield* encodeCut(schema, rows.slice(rows.length >> 1))
  } else {
    const { ref: first } = rows[0] as Row
    yield { first, rows: rows.length, bytes, owners: ownersOf(rows) }
  }
}

/** Where a block lies from now on. */
export function placeOfBlock(
  { first, rows, bytes, owners }: EncodedBlock,
  page: number,
): BlockPlace {
  return { first, page, rows, bytes: bytes.length, ...(owners !== undefined && { owners }) }
}

function encodeBlock({ definition, fields }: CompiledSchema, rows: readonly Row[]): Uint8Array {
  const writer = new ColumnWriter(rows.length)
  const head = rows[0] as Row
  const { id_field: idField } = definition
  writer.addConstant(columnNames.first, head.ref)
  writer.add(
    columnNames.ref,
    rows.map(({ ref }) => (ref - head.ref) / tableSpan),
  )
  writer.addConstant(columnNames.schema, definition.name)
  writer.addConstant(columnNames.idField, idField)
  writer.add(
    columnNames.id,
    rows.map(({ id }) => id),
  )
  // Of one import mostly, and then the same for all.
  for (const [name, key] of importColumns) {
    const value = head[key]
    if (rows.every((row) => row[key] === value)) writer.addConstant(name, value)
    else {
      writer.add(
        name,
        rows.map((row) => row[key]),
      )
    }
  }
  for (const field of fields) {
    if (field === idField) continue
    writer.add(
      field,
      rows.map(({ object }) => member(object, field)),
    )
  }
  if (!definition.strict) {
    const known = new Set([...fields, idField])
    writer.add(
      columnNames.rest,
      rows.map(({ object }) => restOf(object, known)),
    )
  }
  return writer.finish()
}

function restOf(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: Record<string, JsonValue> | undefined
  for (const name in object) {
    if (!known.has(name)) (rest ??= {})[name] = object[name] as JsonValue
  }
  return rest
}

/** A block in memory. What it gives out is the caller's own. */
export class Block {
  readonly size: number
  readonly #bytes: Uint8Array
  #reader: ColumnReader | undefined
  readonly #shapes: RowShapes
  readonly #hash: IdHash | undefined
  #first: number | undefined
  readonly #made = new Map<string, Column>()
  #offsets: ArrayLike<number> | undefined
  #refs: Float64Array | undefined
  #hasRest: boolean | undefined
  #everyVersion: readonly (string | undefined)[] | undefined
  #given = 0
  #object: Assembly | undefined
  #stored: Assembly | undefined

  /** @param hash makes the versions of objects; without it they have none */
  constructor(bytes: Uint8Array, shapes: RowShapes, hash?: IdHash) {
    this.#hash = hash
    this.#bytes = bytes
    this.#shapes = shapes
    this.size = bytes.length * decodedFactor
  }

  get rows(): number {
    return this.#columns.rows
  }

  /** As it is stored. */
  get bytes(): number {
    return this.#bytes.length
  }

  /** Most blocks that are written are not read soon. */
  get #columns(): ColumnReader {
    this.#reader ??= new ColumnReader(this.#bytes)
    return this.#reader
  }

  get idField(): string {
    return this.#columns.value(columnNames.idField, 0) as string
  }

  /** The reference of the first row. */
  get #firstRef(): number {
    return (this.#first ??= this.#columns.value(columnNames.first, 0) as number)
  }

  /** By row: how far its reference lies behind the first one's. */
  get #refOffsets(): ArrayLike<number> {
    return (this.#offsets ??= this.#columns.column(columnNames.ref) as ArrayLike<number>)
  }

  /** The references of the rows. */
  get refs(): Float64Array {
    if (this.#refs === undefined) {
      const first = this.#firstRef
      const offsets = this.#refOffsets
      this.#refs = new Float64Array(this.rows)
      for (let n = 0; n < this.rows; n++) {
        this.#refs[n] = first + (offsets[n] as number) * tableSpan
      }
    }
    return this.#refs
  }

  /** Where the row of that reference is; -1 where it is not here. */
  find(ref: number): number {
    // Right away where the block is of one import.
    const guess = (ref - this.#firstRef) / tableSpan
    if (Number.isInteger(guess) && this.#refOffsets[guess] === guess) return guess
    const { refs } = this
    let low = 0
    let high = refs.length - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      const found = refs[middle] as number
      if (found === ref) return middle
      if (found < ref) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  /** Whether that row is the object of that id in that collection. */
  isObject(n: number, collection: string, id: string): boolean {
    const found = this.#columns.value(columnNames.id, n)
    if (found !== id && String(found) !== id) return false
    return this.#columns.value(columnNames.collection, n) === collection
  }

  /** The values of a field by row: one of the object's own, or a system field. Not to be changed. */
  field(name: string): Column {
    if (name === columnNames.metadata) {
      return this.#make(name, () => Array.from({ length: this.rows }, (_, n) => this.#metadata(n)))
    }
    if (isSystemField(name)) return this.#columns.column(name)
    if (name === this.idField) return this.#columns.column(columnNames.id)
    if (name.startsWith('_')) return this.#columns.column('')
    if (this.#columns.has(name) || !this.#columns.has(columnNames.rest)) {
      return this.#columns.column(name)
    }
    // Not declared when the block was written.
    return this.#make(`.${name}`, () =>
      Array.from(this.#columns.column(columnNames.rest), (rest) =>
        rest === undefined ? undefined : member(rest as JsonObject, name),
      ),
    )
  }

  /** The value that all rows have, where that is known without looking at them. */
  constant(name: string): { readonly value: unknown } | undefined {
    const isPlain = isSystemField(name) && name !== columnNames.metadata
    return isPlain || this.#columns.has(name) ? this.#columns.constant(name) : undefined
  }

  row(n: number): Row {
    const at = (name: string) => this.#columns.value(name, n)
    return {
      ref: this.refs[n] as number,
      id: at(columnNames.id) as ObjectId,
      object: this.object(n),
      collection: at(columnNames.collection) as string,
      user: at(columnNames.user) as string,
      created_at: at(columnNames.created) as string,
      updated_at: at(columnNames.updated) as string,
      metadata: copied(at(columnNames.metadata) as JsonObject | undefined),
    }
  }

  /** The object's own fields: the id first, the declared ones in their order, then the rest. */
  object(n: number): JsonObject {
    const assembly = (this.#object ??= this.#assembly([]))
    const columns = this.#columnsOf(assembly)
    const object =
      columns === undefined
        ? assembly.make(this.#columns.single(assembly.sources, n), 0, copy)
        : assembly.make(columns, n, copy)
    this.#addRest(object, n)
    return object
  }

  stored(n: number): StoredObject {
    const assembly = (this.#stored ??= this.#assembly(
      [...storedColumns, columnNames.metadata],
      this.#hash === undefined ? [] : [versionField],
    ))
    const columns = this.#columnsOf(assembly)
    const object: Record<string, JsonValue> =
      columns === undefined
        ? storedOf(assembly, this.#columns.single(assembly.sources, n), 0, this.#version(n))
        : storedOf(assembly, columns, n, this.#versions[n])
    this.#addRest(object, n)
    return object as StoredObject
  }

  /** Only what these paths lead to, and `_id`. Arrays on a path are given whole. */
  project(n: number, paths: readonly Path[]): Partial<StoredObject> {
    const object: Record<string, JsonValue> = {}
    for (const path of paths) {
      const [name = '', ...rest] = path
      if (name === versionField && rest.length === 0) {
        const version = this.#version(n)
        if (version !== undefined) object[name] = version
        continue
      }
      const taken = [name]
      let value = this.field(name)[n] as JsonValue | undefined
      for (const part of rest) {
        if (Array.isArray(value)) break
        value = isRecord(value) ? member(value, part) : undefined
        taken.push(part)
      }
      if (value !== undefined) place(object, taken, copy(value))
    }
    object['_id'] = this.#columns.value(columnNames.id, n) as ObjectId
    return object as Partial<StoredObject>
  }

  /** Of all rows: one takes 60 ns, a fifth of what making its object takes. */
  get #versions(): readonly (string | undefined)[] {
    return (this.#everyVersion ??= Array.from({ length: this.rows }, (_, n) => this.#version(n)))
  }

  #version(n: number): string | undefined {
    if (this.#hash === undefined) return undefined
    const updated = this.#columns.value(columnNames.updated, n) as string
    // Not by `refs`: of a block that is looked into once, those of all rows need not be made.
    const ref = this.#firstRef + (this.#refOffsets[n] as number) * tableSpan
    return this.#hash.version(ref, updated)
  }

  #addRest(object: Record<string, JsonValue>, n: number): void {
    this.#hasRest ??= this.#columns.has(columnNames.rest)
    const rest = this.#hasRest ? this.#columns.value(columnNames.rest, n) : undefined
    if (rest === undefined) return
    for (const [name, value] of Object.entries(rest as JsonObject)) object[name] = copy(value)
  }

  /** `given`: members that come last, and from no column. */
  #assembly(system: readonly string[], given: readonly string[] = []): Assembly {
    const { names } = this.#columns
    const own = [...names].filter((name) => !name.startsWith('_'))
    const sources = [columnNames.id, ...own, ...system]
    const members = [this.idField, ...own, ...system, ...given]
    return { make: this.#shapes.maker(members), sources, columns: undefined }
  }

  /** Once some objects of the block were asked for, its columns are worth decoding. */
  #isBusy(): boolean {
    return this.#given > fewRows || ++this.#given > fewRows
  }

  /** The columns of an assembly, once they are decoded. */
  #columnsOf(assembly: Assembly): readonly Column[] | undefined {
    if (!this.#isBusy()) return undefined
    assembly.columns ??= assembly.sources.map((name) => this.#columns.column(name))
    return assembly.columns
  }

  #metadata(n: number): JsonObject {
    const at = (name: string) => this.#columns.value(name, n)
    return metadataOf(
      at(columnNames.metadata) as JsonObject | undefined,
      at(columnNames.created) as string,
      at(columnNames.updated) as string,
      at(columnNames.collection) as string,
    )
  }

  #make(name: string, values: () => Column): Column {
    let column = this.#made.get(name)
    if (column === undefined) {
      column = values()
      this.#made.set(name, column)
    }
    return column
  }
}

/** What is given out beside the object's own fields, but for the metadata. */
const storedColumns: readonly string[] = [
  columnNames.id,
  columnNames.schema,
  columnNames.collection,
  columnNames.user,
  columnNames.created,
  columnNames.updated,
]
const createdAt = storedColumns.indexOf(columnNames.created)
const updatedAt = storedColumns.indexOf(columnNames.updated)
const collectionAt = storedColumns.indexOf(columnNames.collection)

/** What an object is put together from. */
interface Assembly {
  readonly make: RowMaker
  /** The columns that the members come from, by name; and decoded, once that pays. */
  readonly sources: readonly string[]
  columns: readonly Column[] | undefined
}

/** As it is given out, but for what the schema does not declare. */
function storedOf(
  { make }: Assembly,
  columns: readonly Column[],
  n: number,
  version: string | undefined,
): JsonObject {
  const system = columns.length - storedColumns.length - 1
  const at = (place: number) => (columns[system + place] as Column)[n]
  const metadata = metadataOf(
    at(storedColumns.length) as JsonObject | undefined,
    at(createdAt) as string,
    at(updatedAt) as string,
    at(collectionAt) as string,
  )
  return make(columns, n, copy, metadata, version)
}

const systemFields: ReadonlySet<string> = new Set([...storedColumns, columnNames.metadata])

export function isSystemField(name: string): boolean {
  return systemFields.has(name)
}

/** A member of its own, if it has one of that name. */
export function member(object: JsonObject, name: string): JsonValue | undefined {
  // A plain object inherits from nothing else; hasOwn() takes ten times as long.
  return name in Object.prototype && !Object.hasOwn(object, name) ? undefined : object[name]
}

/** What the import said of its own, and what the store knows. */
function metadataOf(
  custom: JsonObject | undefined,
  created_at: string,
  updated_at: string,
  collection: string,
): JsonObject {
  if (custom === undefined) return { created_at, updated_at, collection }
  return Object.assign(copied(custom), { created_at, updated_at, collection })
}

function place(object: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  let target = object
  for (const part of path.slice(0, -1)) {
    const inner = member(target, part)
    const next: Record<string, JsonValue> = isRecord(inner) ? inner : {}
    target[part] = next
    target = next
  }
  target[path.at(-1) ?? ''] = value
}

/** What is given out must not be what is kept. */
function copy(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  return copied(value as JsonObject)
}

function copied<O extends JsonObject | undefined>(object: O): O {
  if (object === undefined) return object
  const result: Record<string, JsonValue> = {}
  for (const key of Object.keys(object)) result[key] = copy(object[key] as JsonValue)
  return result as O
}
