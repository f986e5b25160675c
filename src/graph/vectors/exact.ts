// Compares a vector with every one of a set.

import { arenaBytes } from './arenas.js'
import type { Candidates } from './candidates.js'
import { productsAt, queryAt } from './memory.js'
import type { Turns } from '../../turns.js'
import { vectorsPerBlock, type VectorSet } from './types.js'
import { readVectors, rounded, vectorBlocks, type VectorQuestion } from './vector-question.js'

/** Blocks that are read while others are compared. */
const ahead = 15
/** Blocks that are compared between two looks at the clock. */
const looks = 16

/** `place` is that of the set among all. */
export async function searchExactly(
  question: VectorQuestion,
  set: VectorSet,
  place: number,
  candidates: Candidates,
  turns: Turns,
): Promise<void> {
  if (4 * set.dimensions > arenaBytes) {
    await searchLong(question, set, place, candidates, turns)
    return
  }
  const { memory } = question
  const blocks = vectorBlocks(set)
  if (set.accepts === undefined && memory.areLoaded(blocks)) {
    await searchLoaded(question, set, place, candidates, turns)
    return
  }
  const wanted = wantedBlocks(set, blocks.count)
  // What is in memory comes first: the rest would push it out before it was compared.
  const order: number[] = []
  const missing: number[] = []
  for (const n of wanted) (memory.has(blocks, n) ? order : missing).push(n)
  for (const n of missing) order.push(n)
  for (const [at, n] of order.entries()) {
    if (turns.isLong) await turns.pass()
    const address = memory.addressOf(blocks, n)
    if (address === undefined) {
      for (const next of order.slice(at + 1, at + 1 + ahead)) memory.prefetch(blocks, next)
      await memory.use(blocks, n, (address) => {
        compareBlock(question, set, place, n, address, candidates)
      })
      await turns.pass()
    } else {
      compareBlock(question, set, place, n, address, candidates)
    }
    if (candidates.isFull) await candidates.settle()
  }
}

/** All blocks are there: looking each of them up would take a fifth of the time. */
async function searchLoaded(
  question: VectorQuestion,
  set: VectorSet,
  place: number,
  candidates: Candidates,
  turns: Turns,
): Promise<void> {
  const { memory } = question
  const blocks = vectorBlocks(set)
  for (let n = 0; n < blocks.count;) {
    const addresses = memory.addresses(blocks)
    if (addresses === undefined) {
      // It was pushed out by others, and may be again.
      await memory.use(blocks, n, (address) => {
        compareBlock(question, set, place, n, address, candidates)
      })
      n++
    } else {
      do {
        compareBlock(question, set, place, n, addresses[n] as number, candidates)
        n++
      } while (n < blocks.count && !candidates.isFull && (n % looks !== 0 || !turns.isLong))
    }
    if (candidates.isFull) await candidates.settle()
    if (turns.isLong) await turns.pass()
  }
}

function compareBlock(
  question: VectorQuestion,
  set: VectorSet,
  place: number,
  block: number,
  address: number,
  candidates: Candidates,
): void {
  const { kernel } = question.memory
  const { dimensions, accepts } = set
  const perBlock = vectorsPerBlock(dimensions)
  const first = block * perBlock
  const count = Math.min(perBlock, set.count - first)
  question.ask()
  kernel.dots(queryAt, address, count, dimensions, productsAt)
  const { products } = question.memory
  const least = candidates.threshold - question.margin
  for (let n = 0; n < count; n++) {
    if ((products[n] as number) < least || accepts?.[first + n] === 0) continue
    candidates.add(place, first + n, question.score(address + n * 4 * dimensions))
  }
}

/** Those with a vector that may be found. */
function wantedBlocks({ accepts, dimensions }: VectorSet, count: number): number[] {
  const perBlock = vectorsPerBlock(dimensions)
  const wanted: number[] = []
  for (let n = 0; n < count; n++) {
    if (accepts !== undefined) {
      const next = accepts.indexOf(1, n * perBlock)
      if (next < 0) break
      n = Math.floor(next / perBlock)
    }
    wanted.push(n)
  }
  return wanted
}

/** Vectors of which one alone is more than a block of memory: none are kept. */
async function searchLong(
  question: VectorQuestion,
  set: VectorSet,
  place: number,
  candidates: Candidates,
  turns: Turns,
): Promise<void> {
  const { vector } = question
  for (let index = 0; index < set.count; index++) {
    await turns.pass()
    if (set.accepts?.[index] === 0) continue
    const bytes = await readVectors(set, index)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let product = 0
    let squares = 0
    let ownSquares = 0
    for (let n = 0; n < vector.length; n++) {
      const own = vector[n] as number
      const component = view.getFloat32(4 * n, true)
      product += own * component
      squares += component * component
      ownSquares += own * own
    }
    candidates.add(place, index, rounded(product / (Math.sqrt(squares) * Math.sqrt(ownSquares))))
    if (candidates.isFull) await candidates.settle()
  }
}
