// Parts as they lie in a storage, read by the letter of docs/format.md, with all that is promised of
// their sections checked on the way.

import assert from 'node:assert/strict'
import type { BlockStorage } from '../../../src/block-writer.js'
import {
  ANNOTATED,
  byteLengthOf,
  COLLECTION,
  ENTITY,
  hashWords,
  kindOf,
  KNOWN,
  knownDatatypes,
  LANGUAGE,
  wordsOf,
} from '../../../src/graph/index/encoded-term.js'
import { mainKey, vectorKey } from '../../../src/graph/index/keys.js'
import { blockBytes, IS_LIST, layoutOf, type PartRecord } from '../../../src/graph/index/layout.js'
import { compareEntries, endOf } from '../../../src/graph/index/term-order.js'
import { blocksOf } from '../../../src/graph/vectors/types.js'
import { unpack } from '../../../src/graph/vectors/packed.js'
import { orderedDatatypes } from '../../../src/graph/value/literal-value.js'

/** A storage of blocks; values begin at an odd byte, as a database may have it. */
export class Blocks implements BlockStorage {
  readonly values = new Map<string, Uint8Array>()
  writing = 0
  /** What is lent and was not given back. What was is not what it was. */
  readonly lent = new Set<Uint8Array>()
  /** How often somebody asked for something to be lent. */
  lendings = 0
  readonly lender = {
    get: async (key: Uint8Array) => {
      this.lendings++
      const value = await this.get(key)
      if (value !== undefined) this.lent.add(value)
      return value
    },
    giveBack: (value: Uint8Array) => {
      assert.ok(this.lent.delete(value), 'it was lent')
      value.fill(0xaa)
    },
  }

  get(key: Uint8Array) {
    const value = this.values.get(Buffer.from(key).toString('latin1'))
    return Promise.resolve(value && Buffer.concat([Buffer.alloc(1), value]).subarray(1))
  }

  async write(operations: Parameters<BlockStorage['write']>[0]) {
    this.writing++
    await new Promise((resolve) => setImmediate(resolve))
    for (const operation of operations) {
      assert.equal(operation.type, 'put')
      if (operation.type !== 'put') continue
      const key = Buffer.from(operation.key).toString('latin1')
      this.values.set(key, Uint8Array.from(operation.value))
    }
    this.writing--
  }
}

export interface ReadPart {
  /** Each row and place: subject, predicate, object, graph, generation, core and collection. */
  readonly said: readonly string[]
  /** Each vector: its entity, its place, and what it is. */
  readonly vectors: readonly string[]
  readonly bytes: Buffer
}

export async function mainFile(storage: BlockStorage, record: PartRecord): Promise<Buffer> {
  const { end } = layoutOf(record)
  const blocks: Uint8Array[] = []
  for (let n = 0; n < Math.ceil(end / blockBytes); n++) {
    const block = await storage.get(mainKey(record, n))
    assert.ok(block, `block ${n} is there`)
    blocks.push(block)
  }
  assert.equal(await storage.get(mainKey(record, blocks.length)), undefined)
  const bytes = Buffer.concat(blocks)
  assert.equal(bytes.length, end)
  return bytes
}

export async function readPart(storage: BlockStorage, record: PartRecord): Promise<ReadPart> {
  const bytes = await mainFile(storage, record)
  const layout = layoutOf(record)
  const words = (offset: number, count: number) =>
    Array.from({ length: count }, (_, n) => bytes.readUInt32LE(offset + 4 * n))
  const { terms, triples, places } = record
  const used = new Set<number>()

  // Terms
  const entries = Int32Array.from(words(layout.termWords, record.termWords))
  const starts = words(layout.termStarts, terms + 1)
  const hashes = words(layout.hashes, terms)
  assert.equal(starts[0], 0)
  assert.equal(starts[terms], record.termWords)
  const names: string[] = []
  for (let id = 0; id < terms; id++) {
    const start = starts[id] as number
    const end = endOf(entries, start)
    const next = starts[id + 1] as number
    assert.ok(end <= next)
    assert.equal(hashes[id], hashWords(entries, start, end))
    names.push(nameAt(entries, start))
    if (id === 0) continue
    const [last, hash] = [hashes[id - 1] as number, hashes[id] as number]
    assert.ok(last <= hash, 'hashes ascend')
    if (last < hash) continue
    const before = starts[id - 1] as number
    const order = compareEntries(entries, before, endOf(entries, before), entries, start, end)
    assert.ok(order < 0, 'entries of one hash ascend')
  }
  const use = (id: number) => {
    assert.ok(id < terms)
    used.add(id)
    return names[id] as string
  }

  // Sources and places
  const sources = Array.from({ length: record.sources }, (_, n) => {
    const [a, b, c, d, core] = words(layout.sources + 20 * n, 5) as [
      number,
      number,
      number,
      number,
      number,
    ]
    const generation = [a, b, c, d].map((word) => word.toString(16).padStart(8, '0')).join('')
    return { generation, core: use(core) }
  })
  assertAscending(sources.map(({ generation }) => generation))
  const placeWords = Array.from({ length: places }, (_, n) => words(layout.places + 12 * n, 3))
  assertAscending(placeWords.map(orderText))
  const placeNames = placeWords.map(([graph = 0, source = 0, collection = 0]) => {
    const { generation, core } = sources[source] as (typeof sources)[number]
    const name = graph === 0 ? '' : use(graph - 1)
    return `${name} | ${generation} ${core} | ${use(collection)}`
  })
  assert.equal(new Set(placeWords.map(([, source]) => source)).size, record.sources)
  assert.equal(
    record.hasGraphs,
    placeWords.some(([graph]) => graph !== 0),
  )

  // Triples
  const pairsOf = (startsAt: number, pairsAt: number) => {
    const starts = words(startsAt, terms + 1)
    assert.equal(starts[terms], triples)
    const rows: number[][] = []
    for (let id = 0; id < terms; id++) {
      for (let n = starts[id] as number; n < (starts[id + 1] as number); n++) {
        rows.push([id, ...words(pairsAt + 8 * n, 2)])
      }
    }
    assertAscending(rows.map(orderText))
    return rows
  }
  const said: string[] = []
  if (triples > 0) {
    const spo = pairsOf(layout.spoStarts, layout.spo)
    const sorted = (rows: number[][]) => rows.map(orderText).sort()
    const osp = pairsOf(layout.ospStarts, layout.osp)
    const pos = pairsOf(layout.posStarts, layout.pos)
    assert.deepEqual(sorted(osp.map(([o, s, p]) => [s, p, o] as number[])), sorted(spo))
    assert.deepEqual(sorted(pos.map(([p, o, s]) => [s, p, o] as number[])), sorted(spo))
    const isMixed = places > 1
    const rowPlaces = isMixed ? words(layout.rowPlaces, triples) : spo.map(() => 0)
    const lists = words(layout.lists, record.lists)
    const rowsOf = placeWords.map((): number[] => [])
    let listed = 0
    for (const [row, ids] of spo.entries()) {
      const word = rowPlaces[row] as number
      let those = [word]
      if (word >= IS_LIST) {
        assert.equal(word - IS_LIST, listed, 'lists are in the order of their rows')
        const count = lists[listed] as number
        those = lists.slice(listed + 1, listed + 1 + count)
        listed += 1 + count
        assert.ok(count > 1)
        assertAscending(those.map((place) => orderText([place])))
      }
      for (const place of those) {
        rowsOf[place]?.push(row)
        said.push(`${ids.map(use).join(' | ')} | ${placeNames[place] as string}`)
      }
    }
    assert.equal(listed, record.lists)
    for (const rows of rowsOf) assert.ok(rows.length > 0, 'each place has rows')
    assert.equal(record.placeRows, isMixed ? said.length : 0)
    if (isMixed) {
      const starts = words(layout.placeStarts, places + 1)
      const rows = words(layout.placeRows, record.placeRows)
      const read = rowsOf.map((_, n) => rows.slice(starts[n], starts[n + 1]))
      assert.deepEqual(read, rowsOf)
    }
  }

  // Values
  const wanted: [number, number][][] = [[], []]
  for (const [id, start] of starts.slice(0, terms).entries()) {
    const header = entries[start] as number
    if (kindOf(header) !== ANNOTATED) continue
    const more = entries[start + wordsOf(byteLengthOf(header))] as number
    if (kindOf(more) !== KNOWN) continue
    const datatype = orderedDatatypes.get(knownDatatypes[byteLengthOf(more)] as string)
    if (datatype === undefined) continue
    const from = 4 * start + 4
    const key = datatype.keyOf(Buffer.from(entries.buffer), from, from + byteLengthOf(header))
    if (!Number.isNaN(key)) wanted[datatype.family]?.push([key, id])
  }
  const isBefore = (a: number, b: number) => (a === b ? Object.is(a, -0) && Object.is(b, 0) : a < b)
  for (const [family, section] of layout.values.entries()) {
    const those = wanted[family] as [number, number][]
    those.sort(([a, x], [b, y]) => (isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : x - y))
    const ids = words(section.ids, section.count)
    const keys = ids.map((_, n) => bytes.readDoubleLE(section.keys + 8 * n))
    assert.deepEqual(
      ids.map((id, n) => [keys[n], id]),
      those,
    )
  }

  // Vectors
  const vectors: string[] = []
  if (record.vectors !== undefined) {
    const { dimensions, count } = record.vectors
    const entities = words(layout.entities, count)
    const vectorPlaces = places > 1 ? words(layout.vectorPlaces, count) : entities.map(() => 0)
    const blocks: Uint8Array[] = []
    for (let n = 0; n < blocksOf(dimensions, count); n++) {
      const block = await storage.get(vectorKey(record, n))
      assert.ok(block)
      const those = Math.min(perBlockOf(dimensions), count - n * perBlockOf(dimensions))
      blocks.push(unpack(block, those * 4 * dimensions, 'a block'))
    }
    const floats = Buffer.concat(blocks)
    assert.equal(floats.length, 4 * dimensions * count)
    for (let n = 0; n < count; n++) {
      const vector = floats.subarray(4 * dimensions * n, 4 * dimensions * (n + 1)).toString('hex')
      const place = placeNames[vectorPlaces[n] as number] as string
      vectors.push(`${use(entities[n] as number)} | ${place} | ${vector}`)
    }
  }
  assert.equal(used.size, terms, 'each term is used')
  return { said, vectors, bytes }
}

function perBlockOf(dimensions: number): number {
  return Math.max(1, Math.floor(65536 / (4 * dimensions)))
}

function orderText(numbers: readonly number[]): string {
  return numbers.map((n) => n.toString(16).padStart(8, '0')).join(' ')
}

function assertAscending(texts: readonly string[]): void {
  for (let n = 1; n < texts.length; n++) {
    assert.ok((texts[n - 1] as string) < (texts[n] as string), 'each once, ascending')
  }
}

/** As sayingsText() names it. */
function nameAt(words: Int32Array, start: number): string {
  const bytes = Buffer.from(words.buffer)
  const text = (at: number) => {
    const from = words.byteOffset + 4 * at + 4
    return bytes.toString('utf8', from, from + byteLengthOf(words[at] as number))
  }
  const header = words[start] as number
  const value = text(start)
  const kind = kindOf(header)
  if (kind === COLLECTION) return `name ${value}`
  if (kind === ENTITY) return `<${value}>`
  if (kind !== ANNOTATED) return `"${value}"`
  const more = start + wordsOf(byteLengthOf(header))
  const what = kindOf(words[more] as number)
  if (what === KNOWN) {
    return `"${value}"^^${knownDatatypes[byteLengthOf(words[more] as number)] as string}`
  }
  return what === LANGUAGE ? `"${value}"@${text(more)}` : `"${value}"^^${text(more)}`
}
