// Whether an index has what a core says, and nothing else of it: what the core's messages give in memory
// is compared with what the parts say of its generation. Rows of triples are read core by core, as parts find those
// of one; vectors and passages are read once, for all cores.

import { createHash } from 'node:crypto'
import { BlockCache } from '../../graph/index/block-cache.js'
import { choose } from '../../graph/index/chosen.js'
import { Part } from '../../graph/index/part.js'
import { PartsBuilder } from '../../graph/index/parts-builder.js'
import { withBlocks } from '../../graph/miss.js'
import { blocksOf, vectorsPerBlock } from '../../graph/vectors/types.js'
import { floatsOf, readVectors } from '../../graph/vectors/vector-question.js'
import type { PartOfVersion } from '../../graph/version.js'
import { keyOf } from '../../terms.js'
import { createId, type CoreRecord } from '../records.js'
import { MemoryBlocks } from './memory-parts.js'
import { addPassages, collectionThatDiffers, type PassageDigests } from './verify-passages.js'
import { areSameTriples, type TermHashes } from './verify-triples.js'

/** Of larger cores it is not looked at: what they give would take several times as much memory. */
const mostBytes = 256 * 1024 * 1024

interface Compared {
  readonly core: CoreRecord
  /** The parts that have something of it. */
  readonly parts: readonly Part[]
  /** What addVectors() has found in them. */
  readonly vectors: VectorSums
  /** What addPassages() has found in them. */
  readonly passages: PassageDigests
  /** Of the parts that were looked at for other cores. */
  readonly hashes: TermHashes
  /** Its segments that are indexed. */
  readonly segments: readonly number[]
  readonly read: (segment: number) => AsyncIterable<Uint8Array>
  readonly signal: AbortSignal | undefined
}

/** How many vectors of one length there are, and a sum of their digests: in any order the same. */
interface VectorSum {
  count: number
  sum: bigint
}

/** By generation, collection and length. */
export type VectorSums = Map<string, Map<string, Map<number, VectorSum>>>

/** What differs, in words; `undefined` where nothing does. */
export async function differenceOf({
  core,
  parts,
  vectors,
  passages,
  hashes,
  segments,
  read,
  signal,
}: Compared): Promise<string | undefined> {
  if (core.bytes > mostBytes) return undefined
  const { generation, id } = core
  const blocks = new MemoryBlocks()
  const source = { generation, core: id }
  const builder = new PartsBuilder(blocks, createId(0), source)
  for (const n of segments) {
    builder.source(source)
    for await (const slice of read(n)) {
      signal?.throwIfAborted()
      builder.push(slice)
      await builder.writeFull()
    }
  }
  const cache = new BlockCache(blocks, Infinity)
  const expected = (await builder.finish()).map((record) => ({ part: new Part(cache, record) }))
  const stored = parts.map((part) => ({ part, only: [generation] }))
  const collections = new Set<string>()
  for (const part of [...expected, ...stored]) await addCollections(part, collections)
  for (const collection of collections) {
    if (!(await areSameTriples(expected, stored, collection, hashes, signal))) {
      return `its triples in the collection '${collection}' are not those of its segments`
    }
  }
  const digests: PassageDigests = new Map()
  for (const { part } of expected) await addPassages(part, digests)
  const differing = collectionThatDiffers(generation, collections, digests, passages)
  if (differing !== undefined) {
    return `its passages in the collection '${differing}' are not those of its segments`
  }
  const sums: VectorSums = new Map()
  for (const { part } of expected) await addVectors(part, sums)
  const [a, b] = [sums.get(generation), vectors.get(generation)]
  for (const collection of new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])) {
    if (textOf(a?.get(collection)) === textOf(b?.get(collection))) continue
    return `its vectors in the collection '${collection}' are not those of its segments`
  }
  return undefined
}

async function addCollections({ part, ...choice }: PartOfVersion, names: Set<string>) {
  const chosen = await choose(part, choice)
  if (chosen === undefined) return
  for (let place = 0; place < part.record.places; place++) {
    if (chosen.accepts !== undefined && chosen.accepts[place] !== 1) continue
    names.add(await withBlocks(() => part.terms.term(part.collectionOf(place)).v))
  }
}

/** Reads all vectors of a part once. */
export async function addVectors(part: Part, sums: VectorSums): Promise<void> {
  const { vectors, places } = part.record
  if (vectors === undefined) return
  const { dimensions, count } = vectors
  const ofPlaces: VectorSum[] = []
  for (let place = 0; place < places; place++) {
    const [generation, collection] = await withBlocks(() => [
      part.generationOf(part.sourceOf(place)),
      part.terms.term(part.collectionOf(place)).v,
    ])
    ofPlaces.push(sumIn(sums, generation, collection, dimensions))
  }
  const file = {
    id: part.vectorFileId,
    dimensions,
    count,
    block: (n: number) => part.vectorBlock(n),
  }
  const perBlock = vectorsPerBlock(dimensions)
  for (let n = 0; n < blocksOf(dimensions, count); n++) {
    const floats = floatsOf(await readVectors(file, n))
    for (let at = 0; at < floats.length / dimensions; at++) {
      const vector = n * perBlock + at
      const [place, entity] = await withBlocks(() => [
        part.placeOfVector(vector),
        keyOf(part.terms.term(part.entityOf(vector))),
      ])
      const sum = ofPlaces[place]
      if (sum === undefined) continue
      const digest = createHash('sha1').update(entity)
      digest.update(floats.subarray(at * dimensions, (at + 1) * dimensions))
      sum.count++
      sum.sum += digest.digest().readBigUInt64LE()
    }
  }
}

function sumIn(
  sums: VectorSums,
  generation: string,
  collection: string,
  dimensions: number,
): VectorSum {
  const ofGeneration = entryOf(sums, generation, () => new Map())
  const ofCollection = entryOf(ofGeneration, collection, () => new Map())
  return entryOf(ofCollection, dimensions, () => ({ count: 0, sum: 0n }))
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function textOf(sums: ReadonlyMap<number, VectorSum> | undefined): string {
  const lengths = [...(sums ?? [])].filter(([, { count }]) => count > 0).sort(([a], [b]) => a - b)
  return lengths.map(([length, { count, sum }]) => `${length} ${count} ${sum}`).join()
}
