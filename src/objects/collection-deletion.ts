// Deleting a collection, however much is in it, in steps of some thousand objects. A mark at the
// collection says up to which reference its rows go, so that a deletion that was cut off is taken
// up again, and what is stored later stays. Each call moves the mark up to what is there by then, and
// deletes up to its own: where a later one has moved it further, it is for that one to take away.

import type { Committer } from './engine/committer.js'
import type { Draft } from './engine/draft.js'
import type { Change, Member } from './engine/lane-queue.js'
import { blockOf, blocksIn } from './engine/state.js'
import { commitIn, type Placing } from './placing.js'

/** Objects of one commit, and their bytes. */
const stepRows = 4096
const stepBytes = 32 * 1024 ** 2

export interface DeletionOptions {
  /** Only what somebody has begun, up to this mark: it may have ended since, and others may delete what came then. */
  readonly begun?: number
  /** As of the call: who was taken for dead since deletes nothing that came after. */
  readonly member?: Member
  /** Where it is not known which lane the collection is in. */
  readonly placing?: Placing
  /** Asked of the collection in the step that begins. */
  readonly check?: (collection: { readonly created_at: string }) => void
}

/**
 * Gives the number of objects deleted; `undefined` where there is no such collection.
 * @throws what `check` throws
 */
export async function deleteCollection(
  committer: Committer,
  name: string,
  signal: AbortSignal,
  options: DeletionOptions = {},
): Promise<number | undefined> {
  const { begun, member = committer.member, placing = atOnce, check } = options
  const begin: Change<Mark | undefined> = async (draft) => {
    const { lane, nextRef } = draft
    const record = draft.collection(name)
    if (record === undefined) return undefined
    if (begun !== undefined) return record.deleting === begun ? { lane, ref: begun } : undefined
    check?.(record)
    const { isKept: _, ...rest } = record
    draft.setCollection(name, { ...rest, deleting: nextRef })
    return { lane, ref: nextRef }
  }
  const mark = await commitIn(committer, name, placing, begin, member)
  if (mark === undefined) return undefined
  let deleted = 0
  let from: DeletionPosition | undefined = { schema: '', ref: 0 }
  while (from !== undefined) {
    signal.throwIfAborted()
    const position: DeletionPosition = from
    const some: Change<Deleted> = (draft) => deleteSome(draft, committer, name, mark, position)
    const step = await commitIn(committer, name, placing, some, member)
    deleted += step.rows
    from = step.next
  }
  return deleted
}

const atOnce: Placing = async () => () => undefined

/** Rows of the lane below the reference go. */
interface Mark {
  readonly lane: number
  readonly ref: number
}

interface Deleted {
  readonly rows: number
  readonly next: DeletionPosition | undefined
}

/** Where a step goes on: schemas come in the order of their names. */
interface DeletionPosition {
  readonly schema: string
  readonly ref: number
}

async function deleteSome(
  draft: Draft,
  { memory }: Committer,
  name: string,
  mark: Mark,
  from: DeletionPosition,
): Promise<Deleted> {
  const record = draft.collection(name)
  // Another call has deleted it, and what has its name in another lane was made since.
  const isGone = record?.deleting === undefined || draft.lane !== mark.lane
  if (isGone) return { rows: 0, next: undefined }
  let rows = 0
  const { bytes } = draft
  for (const [schema, table] of [...draft.state.tables].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (schema < from.schema) continue
    const [first, end] = blocksIn(table, draft.lane)
    const begin = schema === from.schema ? Math.max(first, blockOf(table, from.ref)) : first
    for (const place of table.blocks.slice(begin, end)) {
      if (place.first >= mark.ref) break
      if (place.owners?.every(([collection]) => collection !== name) === true) continue
      const isOver = rows >= stepRows || draft.bytes - bytes >= stepBytes
      if (isOver) return { rows, next: { schema, ref: place.first } }
      const block = await memory.blocks.get(place.page)
      const constant = block.constant('_collection')
      if (constant !== undefined && constant.value !== name) continue
      const collections = block.field('_collection')
      for (let n = 0; n < block.rows; n++) {
        if (collections[n] !== name || (block.refs[n] as number) >= mark.ref) continue
        // What is in a block is there but for what this draft has changed: no index has to be asked.
        if (draft.hasChanged(name, String(block.field('_id')[n]))) continue
        draft.remove(block.row(n))
        rows++
      }
    }
  }
  const { deleting, ...rest } = draft.collection(name) ?? record
  // A later call has rows above.
  if (deleting !== mark.ref) return { rows, next: undefined }
  const { isKept, ...kept } = rest
  const isEmpty = isKept !== true && Object.keys(kept.schemas).length === 0
  draft.setCollection(name, isEmpty ? undefined : kept)
  return { rows, next: undefined }
}
