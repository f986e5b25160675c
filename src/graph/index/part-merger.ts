// One part of several, of which some of what they say may be left out. The terms are merged as they are
// read; of the rest the rows of SPO are held, and come to be a part by the code that builds parts.
// Hot: 1,000,000 triples take some 0.5 s; change with numbers.

import { setImmediate as turn } from 'node:timers/promises'
import type { BlockStorage } from '../../block-writer.js'
import { Turns } from '../../turns.js'
import { mergeVectors } from '../vectors/merge.js'
import type { PartName } from './keys.js'
import { partKind, placeWords, sourceWords, type PartRecord, type VectorRecord } from './layout.js'
import { fileKeys, vectorFile, vectorFileId, type LinkOptions } from './links-writer.js'
import { PartWriter } from './part-writer.js'
import { OrdersHere } from './orders.js'
import { roomForRows, RowTable, type CollectedRows } from './permutations.js'
import {
  generationAt,
  PlaceList,
  sortPlaces,
  type PartSource,
  type SortedPlaces,
} from './places.js'
import {
  markPassages,
  mergeColumns,
  mergeWords,
  readPassages,
  type PassageInput,
} from './passage-merger.js'
import { RowStream } from './row-stream.js'
import { damaged, MainFile } from './section-reader.js'
import { GONE, mergeTerms } from './term-merge.js'

export interface MergeInput {
  readonly part: PartRecord
  /** Generations whose places are left out. */
  readonly dead: readonly string[]
}

/** A part that is read, of which something stays. */
interface Input {
  readonly file: MainFile
  readonly sources: Uint32Array
  readonly places: Uint32Array
  /** By place: 1 where it stays. Undefined: all do. */
  readonly stays: Uint8Array | undefined
  /** By term: 1 where something that stays has it. Undefined: all are used. */
  readonly used: Uint8Array | undefined
  /** By subject: its rows that stay, as often as they have places. Undefined: those that it has. */
  counts: Uint32Array | undefined
  /** By its ids and places: those of the part that is made. */
  ids: Uint32Array
  numbers: Uint32Array
}

/** Makes part 0 of `id`, durably. Undefined where nothing is left. */
export async function mergeHere(
  storage: BlockStorage,
  id: string,
  inputs: readonly MergeInput[],
  options: LinkOptions,
): Promise<PartRecord | undefined> {
  const name = { id, number: 0 }
  const kinds = new Set(inputs.map(({ part }) => partKind(part)))
  if (kinds.size > 1) throw new TypeError('parts of several kinds cannot be one')
  options.signal?.throwIfAborted()
  // However small: where the storage is in memory, nothing else lets others run between many merges.
  await turn()
  const turns = new Turns(options.signal)
  const opened: Input[] = []
  for (const { part, dead } of inputs) {
    const open = await openInput(new MainFile(storage, part), dead)
    if (open !== undefined) opened.push(open)
  }
  const [first] = opened
  if (first === undefined) return undefined
  const { vectors, passages } = first.file.record
  if (vectors !== undefined) return mergeVectorParts(storage, name, opened, options, turns)
  if (passages !== undefined) return mergePassageParts(storage, name, opened, turns)
  return mergeTriples(storage, name, opened, turns)
}

async function openInput(file: MainFile, dead: readonly string[]): Promise<Input | undefined> {
  const { layout, record: part } = file
  const sources = await file.words(layout.sources, sourceWords * part.sources)
  const places = await file.words(layout.places, placeWords * part.places)
  const stays = staying(sources, places, dead)
  if (stays !== undefined && !stays.includes(1)) return undefined
  const used = stays && new Uint8Array(part.terms)
  const nothing = new Uint32Array(0)
  return { file, sources, places, stays, used, counts: undefined, ids: nothing, numbers: nothing }
}

/** By place: 1 where its source is none of these. Undefined where all are. */
function staying(
  sources: Uint32Array,
  places: Uint32Array,
  dead: readonly string[],
): Uint8Array | undefined {
  if (dead.length === 0) return undefined
  const generations = new Set(dead)
  const isDead = new Set<number>()
  for (let n = 0; n < sources.length / sourceWords; n++) {
    if (generations.has(generationAt(sources, sourceWords * n))) isDead.add(n)
  }
  if (isDead.size === 0) return undefined
  const stays = new Uint8Array(places.length / placeWords)
  for (let n = 0; n < stays.length; n++) {
    stays[n] = isDead.has(places[placeWords * n + 1] as number) ? 0 : 1
  }
  return stays
}

// What all parts have

/** Merges terms, sources and places, and writes them. */
async function mergeNames(
  inputs: readonly Input[],
  writer: PartWriter,
  turns: Turns,
): Promise<SortedPlaces> {
  for (const input of inputs) markPlaces(input)
  const ids = await mergeTerms(inputs, writer.dictionary, turns)
  for (const [n, input] of inputs.entries()) input.ids = ids[n] as Uint32Array
  const where = mergePlaces(inputs)
  await writer.places(where)
  return where
}

function markPlaces({ sources, places, stays, used }: Input): void {
  if (stays === undefined || used === undefined) return
  for (let n = 0; n < stays.length; n++) {
    if (stays[n] === 0) continue
    const at = placeWords * n
    const graph = places[at] as number
    if (graph > 0) used[graph - 1] = 1
    used[sources[sourceWords * (places[at + 1] as number) + 4] as number] = 1
    used[places[at + 2] as number] = 1
  }
}

function mergePlaces(inputs: readonly Input[]): SortedPlaces {
  const sources: PartSource[] = []
  const list = new PlaceList()
  for (const { sources: words, places, stays, ids } of inputs) {
    // By source of the part, where some place of it stays.
    const numbers = new Map<number, number>()
    for (let n = 0; n < places.length / placeWords; n++) {
      if (stays !== undefined && stays[n] === 0) continue
      const at = placeWords * n
      const graph = places[at] as number
      const source = places[at + 1] as number
      let number = numbers.get(source)
      if (number === undefined) {
        const from = sourceWords * source
        const core = ids[words[from + 4] as number] as number
        number = sources.push({ generation: generationAt(words, from), core }) - 1
        numbers.set(source, number)
      }
      const collection = ids[places[at + 2] as number] as number
      list.add(graph === 0 ? 0 : (ids[graph - 1] as number) + 1, number, collection)
    }
  }
  const where = sortPlaces(sources, list)
  let next = 0
  for (const input of inputs) {
    const { stays } = input
    const numbers = new Uint32Array(input.places.length / placeWords).fill(GONE)
    for (let n = 0; n < numbers.length; n++) {
      if (stays === undefined || stays[n] === 1) numbers[n] = where.numbers[next++] as number
    }
    input.numbers = numbers
  }
  return where
}

// Triples

async function mergeTriples(
  storage: BlockStorage,
  name: PartName,
  inputs: readonly Input[],
  turns: Turns,
): Promise<PartRecord> {
  for (const input of inputs) {
    const { stays, file } = input
    if (stays !== undefined || file.record.lists > 0) input.counts = await survey(input, turns)
  }
  const writer = new PartWriter(storage, name, termsOf(inputs), turns)
  try {
    const where = await mergeNames(inputs, writer, turns)
    const rows = await collectRows(inputs, writer.dictionary.count, where, turns)
    return await writer.triples(where, new OrdersHere(() => rows, turns))
  } finally {
    await writer.settle()
  }
}

function termsOf(inputs: readonly Input[]): number {
  return inputs.reduce((sum, { file }) => sum + file.record.terms, 0)
}

/** Marks the terms of rows that stay. Gives by subject how many there are, each as often as it has places. */
async function survey(input: Input, turns: Turns): Promise<Uint32Array> {
  const { record } = input.file
  const counts = new Uint32Array(record.terms)
  const stream = new RowStream(input.file)
  let left = record.triples
  for (;;) {
    left = surveySome(stream, left, input, counts)
    if (left === 0) break
    await stream.fill()
    await turns.pass()
  }
  await stream.close()
  return counts
}

function surveySome(
  stream: RowStream,
  left: number,
  { stays, used }: Input,
  counts: Uint32Array,
): number {
  for (; left > 0; left--) {
    if (!stream.next()) break
    const { s, p, o, places, placesFrom, placesTo } = stream
    let those = placesTo - placesFrom
    if (stays !== undefined) {
      for (let n = placesFrom; n < placesTo; n++) if (stays[places[n] as number] !== 1) those--
    }
    if (those === 0) continue
    counts[s] = (counts[s] as number) + those
    if (used === undefined) continue
    used[s] = 1
    used[p] = 1
    used[o] = 1
  }
  return left
}

/** Rows of all parts, by their subjects. What only they need is let go of. */
async function collectRows(
  inputs: readonly Input[],
  terms: number,
  where: SortedPlaces,
  turns: Turns,
): Promise<RowTable> {
  const counts = new Uint32Array(terms + 1)
  for (const input of inputs) {
    await addCounts(input, counts)
    await turns.pass()
  }
  const rows = roomForRows(counts, where.places.length > placeWords)
  for (const input of inputs) {
    const stream = new RowStream(input.file)
    let left = input.file.record.triples
    while ((left = collectSome(stream, left, input, rows)) > 0) {
      await stream.fill()
      await turns.pass()
    }
    await stream.close()
    input.ids = new Uint32Array(0)
  }
  return new RowTable(rows)
}

/** By id + 1, the rows of each subject. */
async function addCounts({ file, counts: known, ids }: Input, counts: Uint32Array): Promise<void> {
  const { record, layout } = file
  if (known !== undefined) {
    for (let id = 0; id < known.length; id++) addCount(counts, ids, id, known[id] as number)
    return
  }
  const ends = file.section(layout.spoStarts + 4, record.terms)
  let start = 0
  for (let id = 0; id < record.terms;) {
    await ends.more()
    for (; ends.at < ends.end; ends.at++, id++) {
      const end = ends.words[ends.at] as number
      addCount(counts, ids, id, end - start)
      start = end
    }
  }
}

function addCount(counts: Uint32Array, ids: Uint32Array, id: number, rows: number): void {
  if (rows === 0) return
  const next = (ids[id] as number) + 1
  counts[next] = (counts[next] as number) + rows
}

/** Goes on until a block is wanted; gives how many rows are left. */
function collectSome(
  stream: RowStream,
  left: number,
  { ids, numbers }: Input,
  { next, pairs, places: mixed }: CollectedRows,
): number {
  for (; left > 0; left--) {
    if (!stream.next()) break
    const { places, placesFrom, placesTo } = stream
    for (let n = placesFrom; n < placesTo; n++) {
      const place = numbers[places[n] as number] as number
      if (place === GONE) continue
      const s = ids[stream.s] as number
      const at = next[s] as number
      next[s] = at + 1
      pairs[2 * at] = ids[stream.p] as number
      pairs[2 * at + 1] = ids[stream.o] as number
      if (mixed !== undefined) mixed[at] = place
    }
  }
  return left
}

// Vectors

/** A part of vectors, and whose each of them is. */
interface VectorInput {
  readonly input: Input
  readonly vectors: VectorRecord
  readonly entities: Uint32Array
  /** Undefined where there is one place alone. */
  readonly places: Uint32Array | undefined
  /** By vector: 1 where it stays. Undefined: all do. */
  readonly stays: Uint8Array | undefined
}

async function mergeVectorParts(
  storage: BlockStorage,
  name: PartName,
  opened: readonly Input[],
  options: LinkOptions,
  turns: Turns,
): Promise<PartRecord> {
  const all = await Promise.all(opened.map((input) => openVectors(input)))
  // The links of the first are kept, and the others' are made anew.
  all.sort((a, b) => b.vectors.links - a.vectors.links || b.vectors.count - a.vectors.count)
  const files = all.map(({ input, vectors, stays }) => ({
    file: vectorFile(storage, input.file.record, vectors),
    stays,
  }))
  const dimensions = all[0]?.vectors.dimensions ?? 0
  const output = { storage, id: vectorFileId(name), dimensions, ...fileKeys(name) }
  const { count, links } = await mergeVectors(files, output, options)
  const inputs = all.map(({ input }) => input)
  const writer = new PartWriter(storage, name, termsOf(inputs), turns)
  try {
    const where = await mergeNames(inputs, writer, turns)
    const entities = new Uint32Array(count)
    const places = new Uint32Array(count)
    let next = 0
    for (const { input, entities: those, places: theirs, stays } of all) {
      for (let n = 0; n < those.length; n++) {
        if (stays !== undefined && stays[n] !== 1) continue
        entities[next] = input.ids[those[n] as number] as number
        places[next++] = input.numbers[theirs?.[n] ?? 0] as number
      }
    }
    return await writer.vectors(where, entities, places, { dimensions, count, links })
  } finally {
    await writer.settle()
  }
}

/** Marks the entities of vectors that stay. */
async function openVectors(input: Input): Promise<VectorInput> {
  const { file, stays: places, used } = input
  const { layout, record } = file
  const { vectors } = record
  if (vectors === undefined) throw damaged('a part of an index has no vectors')
  const entities = await file.words(layout.entities, vectors.count)
  const vectorPlaces =
    record.places > 1 ? await file.words(layout.vectorPlaces, vectors.count) : undefined
  const stays = places && new Uint8Array(vectors.count)
  if (stays !== undefined && used !== undefined) {
    for (let n = 0; n < stays.length; n++) {
      if (places?.[vectorPlaces?.[n] ?? 0] !== 1) continue
      stays[n] = 1
      used[entities[n] as number] = 1
    }
  }
  return { input, vectors, entities, places: vectorPlaces, stays }
}

// Passages

async function mergePassageParts(
  storage: BlockStorage,
  name: PartName,
  opened: readonly Input[],
  turns: Turns,
): Promise<PartRecord> {
  const inputs: PassageInput[] = []
  for (const { file, stays, used } of opened) {
    const { passages } = file.record
    if (passages === undefined) throw damaged('a part of an index has no passages')
    const input = await readPassages(file, passages, stays)
    if (used !== undefined) markPassages(input, used)
    inputs.push(input)
  }
  const writer = new PartWriter(storage, name, termsOf(opened), turns)
  try {
    const where = await mergeNames(opened, writer, turns)
    const { columns, numbers } = mergeColumns(
      inputs.map((input, n) => {
        const { ids, numbers: places } = opened[n] as Input
        return { input, ids, places }
      }),
    )
    return await writer.passages(where, columns, (take) => {
      return mergeWords(inputs, numbers, turns, take)
    })
  } finally {
    await writer.settle()
  }
}
