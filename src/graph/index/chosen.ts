// Which places of a part a question may see.

import { setImmediate as turn } from 'node:timers/promises'
import { withBlocks } from '../miss.js'
import { NONE } from '../view.js'
import { COLLECTION, encodeText } from './encoded-term.js'
import type { Part } from './part.js'

export interface Choice {
  /** Only what these generations say. All by default. */
  readonly only?: readonly string[] | undefined
  /** Not what these generations say. */
  readonly not?: readonly string[] | undefined
  readonly collection?: string | undefined
}

export interface Chosen {
  /** By place: 1 where it is seen. Undefined: all are. */
  readonly accepts: Uint8Array | undefined
  /** The rows of these places: of several places as often as they are in one. */
  readonly rows: number
}

/** Places and sources that are looked at before others get their turn. */
const atOnce = 4096

/** `undefined` where nothing of the part may be seen. */
export async function choose(
  part: Part,
  { only, not, collection }: Choice,
): Promise<Chosen | undefined> {
  const all: Chosen = { accepts: undefined, rows: part.record.triples }
  if (only === undefined && not === undefined && collection === undefined) return all
  const sources = await chooseSources(part, only, not)
  if (sources !== undefined && !sources.includes(1)) return undefined
  let name: number | undefined
  if (collection !== undefined) {
    const entry = encodeText(collection, COLLECTION)
    name = await withBlocks(() => part.terms.find(entry))
    if (name === NONE) return undefined
  }
  if (sources?.includes(0) !== true && name === undefined) return all
  return choosePlaces(part, sources, name, all)
}

/** Those of some generations of which a part has anything. */
export async function generationsIn(
  part: Part,
  generations: readonly string[],
): Promise<readonly string[]> {
  const found = new Uint8Array(part.record.sources)
  await mark(part, generations, found, 1)
  const names: string[] = []
  for (const [source, isFound] of found.entries()) {
    if (isFound === 1) names.push(await withBlocks(() => part.generationOf(source)))
  }
  return names
}

/** By source: 1 where it is chosen. Undefined: all are. */
async function chooseSources(
  part: Part,
  only: Choice['only'],
  not: Choice['not'],
): Promise<Uint8Array | undefined> {
  if (only === undefined && not === undefined) return undefined
  const chosen = new Uint8Array(part.record.sources)
  if (only === undefined) chosen.fill(1)
  else await mark(part, only, chosen, 1)
  if (not !== undefined) await mark(part, not, chosen, 0)
  return chosen
}

async function choosePlaces(
  part: Part,
  sources: Uint8Array | undefined,
  collection: number | undefined,
  all: Chosen,
): Promise<Chosen | undefined> {
  const { places, triples } = part.record
  const accepts = new Uint8Array(places)
  let count = 0
  let rows = 0
  await inSteps(places, (place) => {
    if (sources !== undefined && sources[part.sourceOf(place)] !== 1) return
    if (collection !== undefined && part.collectionOf(place) !== collection) return
    if (triples > 0 && places > 1) rows += part.rowsOfPlaces(place, place + 1)
    accepts[place] = 1
    count++
  })
  if (count === places) return all
  return count === 0 ? undefined : { accepts, rows }
}

/** Of lists that are asked for again with each part, and by each question. */
const parsed = new WeakMap<readonly string[], Uint32Array>()

const generationWords = 4

/** Ascending, each as four numbers, the highest first. */
function wordsOf(generations: readonly string[]): Uint32Array {
  const known = parsed.get(generations)
  if (known !== undefined) return known
  const bytes = Buffer.from(generations.toSorted().join(''), 'hex')
  const words = new Uint32Array(bytes.length / 4)
  for (let n = 0; n < words.length; n++) words[n] = bytes.readUInt32BE(4 * n)
  parsed.set(generations, words)
  return words
}

/** Sets what `chosen` has of the sources of some generations. */
async function mark(
  part: Part,
  generations: readonly string[],
  chosen: Uint8Array,
  value: number,
): Promise<void> {
  const words = wordsOf(generations)
  const count = words.length / generationWords
  const { sources } = part.record
  // Below 0 where a source comes before a generation.
  const compare = (source: number, generation: number) => {
    for (let n = 0; n < generationWords; n++) {
      const a = part.generationWord(source, n)
      const b = words[generationWords * generation + n] as number
      if (a !== b) return a < b ? -1 : 1
    }
    return 0
  }
  if (count * Math.log2(sources + 1) < sources) {
    await inSteps(count, (generation) => {
      const source = firstWhere(sources, (source) => compare(source, generation) >= 0)
      if (source < sources && compare(source, generation) === 0) chosen[source] = value
    })
  } else if (sources * Math.log2(count + 1) < count) {
    await inSteps(sources, (source) => {
      const generation = firstWhere(count, (generation) => compare(source, generation) <= 0)
      if (generation < count && compare(source, generation) === 0) chosen[source] = value
    })
  } else {
    let generation = 0
    await inSteps(sources, (source) => {
      let order = 1
      while (generation < count && (order = compare(source, generation)) > 0) generation++
      if (order === 0) chosen[source] = value
    })
  }
}

function firstWhere(count: number, isSo: (n: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Calls `work`, which may throw a Miss before it has done anything, with all numbers below `count`. */
async function inSteps(count: number, work: (n: number) => void): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    let n = from
    const to = Math.min(count, from + atOnce)
    const step = withBlocks(() => {
      for (; n < to; n++) work(n)
    })
    if (step instanceof Promise) await step
    if (to < count) await turn()
  }
}
