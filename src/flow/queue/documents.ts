// The bytes of documents: read for whoever processes them, and given up when nobody will.

import { isDamage, orDamage, readable, readableNow, readRecords } from '../../damage.js'
import { DocumentBlock } from './block.js'
import type { StoredDocument } from './block.js'
import type { Draft } from './draft.js'
import { blockKey, blockOf, bodyKey, leftKey, slotOf } from './records.js'
import type { JobRecord } from './records.js'

/** `undefined` where the bytes are gone. @throws LorekeepError `LK_STORAGE_*` */
export async function readDocument(
  draft: Draft,
  number: number,
  ownBody: boolean,
): Promise<StoredDocument | undefined> {
  if (!ownBody) return (await readBlock(draft, blockOf(number)))?.at(slotOf(number), number)
  const bytes = await draft.get(bodyKey(number))
  return bytes === undefined ? undefined : new DocumentBlock(bytes).at(0, number)
}

/** Whether a document lies under a key of its own, whatever its bytes are: of a job whose record does not tell. */
export async function liesAlone(draft: Draft, number: number): Promise<boolean> {
  return (await orDamage(() => draft.get(bodyKey(number)))) !== undefined
}

/** A job's document as a block of its own; `undefined` where it cannot be read. */
export async function readAlone(draft: Draft, number: number): Promise<Uint8Array | undefined> {
  return readable(async () => (await readBlock(draft, blockOf(number)))?.only(slotOf(number)))
}

/** `undefined` where it is gone. @throws LorekeepError `LK_STORAGE_*` */
export async function readBlock(draft: Draft, number: number): Promise<DocumentBlock | undefined> {
  const cached = draft.blocks.peek(number)
  if (cached !== undefined) return cached
  const coming = draft.blocks.coming(number)
  if (coming !== undefined) {
    await coming
    const read = draft.blocks.peek(number)
    if (read !== undefined) return read
  }
  const bytes = await draft.get(blockKey(number))
  if (bytes === undefined) return undefined
  const block = new DocumentBlock(bytes)
  draft.blocks.keep(number, block)
  return block
}

/**
 * The documents of jobs, in one go as far as their blocks are not known: one after the other takes a round trip for
 * each. `undefined` where the bytes are gone, or damaged.
 */
export async function readDocuments(
  draft: Draft,
  jobs: readonly { readonly number: number; readonly ownBody: boolean }[],
): Promise<(StoredDocument | undefined)[]> {
  const blocks = await readBlocks(draft, jobs)
  const documents: (StoredDocument | undefined)[] = []
  for (const { number, ownBody } of jobs) {
    const blockNumber = blockOf(number)
    const block = ownBody ? undefined : (blocks.get(blockNumber) ?? draft.blocks.peek(blockNumber))
    // Not waited for where its block is there: the promises for it were 1.4 of the 28 kB that a job allocates.
    documents.push(
      block === undefined
        ? await readable(() => readDocument(draft, number, ownBody))
        : readableNow(() => block.at(slotOf(number), number)),
    )
  }
  return documents
}

/** As far as there is something to be gained. */
async function readBlocks(
  draft: Draft,
  jobs: readonly { readonly number: number; readonly ownBody: boolean }[],
): Promise<ReadonlyMap<number, DocumentBlock>> {
  const found = new Map<number, DocumentBlock>()
  const numbers = new Set(
    jobs.filter(({ ownBody }) => !ownBody).map(({ number }) => blockOf(number)),
  )
  const missing = [...numbers].filter((number) => draft.blocks.peek(number) === undefined)
  const unknown = missing.filter((number) => draft.blocks.coming(number) === undefined)
  if (missing.length < 2) return found
  // Where one of them is damaged, each is read by itself.
  const [all] = await Promise.all([
    readable(() => draft.getMany(unknown.map(blockKey))),
    ...missing.map((number) => draft.blocks.coming(number)),
  ])
  for (const [place, bytes] of (all ?? []).entries()) {
    if (bytes === undefined) continue
    // As many as were asked for.
    const number = unknown[place]!
    const block = new DocumentBlock(bytes)
    found.set(number, block)
    draft.blocks.keep(number, block)
  }
  return found
}

/**
 * Learns how many documents are still needed of the blocks of these jobs, which changes when one of
 * them ends. A block that cannot be read stays unknown, and its bytes stay for whoever looks.
 */
export async function readLeft(
  draft: Draft,
  jobs: readonly { readonly number: number }[],
): Promise<void> {
  const { left } = draft.state
  const numbers = [...new Set(jobs.map(({ number }) => blockOf(number)))]
  const unknown = numbers.filter((number) => !left.has(number))
  if (unknown.length === 0) return
  const known = await readRecords<{ left: number }>(draft, unknown.map(leftKey))
  for (const [place, number] of unknown.entries()) {
    const record = known[place]
    if (isDamage(record)) continue
    const count =
      record?.left ?? (await readable(async () => (await readBlock(draft, number))?.count))
    if (count !== undefined) left.set(number, count)
  }
}

/** The document's bytes are no longer needed for this job; readLeft() has been asked. */
export function dropDocument(
  draft: Draft,
  number: number,
  { ownBody }: Pick<JobRecord, 'ownBody'>,
): void {
  if (ownBody === true) {
    draft.delete(bodyKey(number))
    return
  }
  const block = blockOf(number)
  const left = draft.state.left.get(block)
  // Unknown: that, or the block, cannot be read.
  if (left === undefined) return
  draft.countLeft(block)
  if (left > 1) {
    draft.state.left.set(block, left - 1)
    return
  }
  draft.state.left.delete(block)
  draft.delete(leftKey(block))
  draft.delete(blockKey(block))
  draft.blocks.forget(block)
}
