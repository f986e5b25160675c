// Makes one file of several.

import type { BlockStorage } from '../../block-writer.js'
import { Turns } from '../../turns.js'
import { VectorBlocksWriter, writeMadeLinks } from './blocks-writer.js'
import { linkVectors } from './hnsw.js'
import { storedFile, type FileKeys } from './stored-file.js'
import { blocksOf, vectorsPerBlock, type LinkedFile } from './types.js'
import { floatsOf, readVectors } from './vector-question.js'

export interface MergeInput {
  readonly file: LinkedFile
  /** By vector: 1 where it stays, 0 elsewhere. Undefined: all stay. */
  readonly stays: Uint8Array | undefined
}

/** Where the file is written. */
export interface MergeOutput extends FileKeys {
  readonly storage: BlockStorage
  readonly id: string
  readonly dimensions: number
}

interface MergeOptions {
  /** So many vectors get an approximate index. */
  readonly minLinked: number
  readonly signal?: AbortSignal | undefined
  /** Is told of vectors that were linked, of all. It may not throw. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/**
 * Writes the vectors that stay, in the order of the inputs and of the vectors in each, durably, and
 * their approximate index where they are many enough. Links of the first input are kept: the largest
 * had better be first. All inputs have vectors of one length. Holds some blocks in memory, and while
 * it links what linkVectors() holds.
 */
export async function mergeVectors(
  inputs: readonly MergeInput[],
  output: MergeOutput,
  { minLinked, signal, onProgress }: MergeOptions,
): Promise<{ readonly count: number; readonly links: number }> {
  const { storage, id, dimensions } = output
  const turns = new Turns(signal)
  const writer = new VectorBlocksWriter(storage, output.vectorKey, dimensions)
  let grown: { file: LinkedFile; numbers: Int32Array } | undefined
  try {
    for (const input of inputs) {
      const numbers = await copy(input, writer, turns)
      grown ??= { file: input.file, numbers }
    }
    await writer.finish()
  } finally {
    await writer.settle()
  }
  const { count } = writer
  if (count < minLinked) return { count, links: 0 }
  const file = storedFile(storage, output, { id, dimensions, count, links: 0 })
  const links = await linkVectors(file, { signal, onProgress, grown })
  await writeMadeLinks(storage, output.linksKey, links)
  return { count, links: links.bytes }
}

/** By vector: its number in what is written, -1 where it does not stay. */
async function copy(
  { file, stays }: MergeInput,
  writer: VectorBlocksWriter,
  turns: Turns,
): Promise<Int32Array> {
  const { dimensions, count } = file
  const perBlock = vectorsPerBlock(dimensions)
  const numbers = new Int32Array(count).fill(-1)
  for (let n = 0; n < blocksOf(dimensions, count); n++) {
    const first = n * perBlock
    const end = Math.min(count, first + perBlock)
    if (stays !== undefined && !stays.subarray(first, end).includes(1)) continue
    const vectors = floatsOf(await readVectors(file, n))
    for (let index = first; index < end; index++) {
      if (stays !== undefined && stays[index] !== 1) continue
      numbers[index] = writer.count
      writer.add(vectors, (index - first) * dimensions)
    }
    await writer.writeFull()
    await turns.pass()
  }
  return numbers
}
