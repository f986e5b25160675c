import type { BlockStorage } from '../../block-writer.js'
import { IndexThread } from './index-thread.js'
import { layoutOf, type PartRecord } from './layout.js'
import { minThreadLinked, type LinkOptions } from './links-writer.js'
import { mergeHere, type MergeInput } from './part-merger.js'

export type { MergeInput } from './part-merger.js'

/**
 * Less than this is merged where it is: that takes some 50 ms, in short turns, and a thread 50 to start.
 * Where one waits for work anyway, it has less.
 */
const minThreadBytes = 8 * 1024 * 1024
const minWaitingBytes = 256 * 1024

interface MergeOptions extends LinkOptions {
  /** Whether it is merged where it is. By default where it is no work for a thread. */
  readonly isSmall?: boolean | undefined
}

/**
 * One part, number 0 of `id`, of several of one kind: triples, or vectors of one length. Undefined where
 * nothing is left. It is durable, and linked where it has `minLinked` vectors. Where this rejects some of
 * it may be there, and nothing is being written any more.
 *
 * Holds in memory for each triple of the inputs 16 bytes (4 more where it has several places), for each
 * term of the part 12, for each term of the inputs 4 (which go before the other orders are made), and for
 * each input of more than a block 1.5 MiB: of 8,000,000 triples and 4,000,000 terms 190 MiB in all.
 */
export async function mergeParts(
  storage: BlockStorage,
  id: string,
  inputs: readonly MergeInput[],
  options: MergeOptions,
): Promise<PartRecord | undefined> {
  const { minLinked, signal, onProgress, isSmall = isSmallMerge(inputs, minLinked) } = options
  signal?.throwIfAborted()
  const thread = isSmall ? undefined : await IndexThread.start(storage, id, signal)
  const linking = { minLinked, signal, onProgress }
  if (thread === undefined) return mergeHere(storage, id, inputs, linking)
  try {
    return await thread.merge(inputs, minLinked, onProgress)
  } finally {
    await thread.end()
  }
}

function isSmallMerge(inputs: readonly MergeInput[], minLinked: number): boolean {
  let bytes = 0
  let vectors = 0
  for (const { part } of inputs) {
    const { dimensions = 0, count = 0 } = part.vectors ?? {}
    bytes += layoutOf(part).end + 4 * dimensions * count
    vectors += count
  }
  const least = IndexThread.isWaiting ? minWaitingBytes : minThreadBytes
  return bytes < least && (vectors < minLinked || vectors < minThreadLinked)
}
