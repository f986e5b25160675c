// Every match of one version, some at a time: a reader pins the state that it began with, and
// between the pieces nothing is held but where they ended, the references of what is still to come
// where there is an order to keep, and the objects of one piece.

import type { Committer } from '../engine/committer.js'
import { walk, type IndexEntry } from '../engine/index-scan.js'
import type { EntryPages } from '../engine/list.js'
import { StalePage } from '../engine/pages.js'
import { blockOf, type BlockPlace, type State, type Table } from '../engine/state.js'
import type { Reads } from '../../reads.js'
import type { StoredObject } from '../types.js'
import { planQuery } from './planner.js'
import { refsOf } from './accesses.js'
import { entryOf, orderedBy, type Ordered } from './query.js'
import type { QueryRequest } from './query-request.js'
import { output, placesThere, visitRows, type Meter, type ScoreOf, type Visit } from './rows.js'
import { refsOfText } from './text-query.js'
import { sortedRefs } from './windows.js'

/** Objects of one piece, and about how many bytes of them: a reader that pauses holds them. */
const pieceRows = 512
const pieceBytes = 1024 ** 2

/** Blocks that are read at once, where each has an object or two, or a filter leaves few. */
const readBytes = 8 * 1024 ** 2
const readBlocks = 64

/** Times that a reader who has seen nothing begins anew, where others delete what it reads. */
const maxAttempts = 3

type Objects = readonly Partial<StoredObject>[]

/** What is asked of a version. */
interface FindRequest {
  readonly table: Table
  readonly request: QueryRequest
}

/**
 * The objects of the version that is the newest when the first one is asked for. What is to be let
 * go of, should nobody ask for the last one, is in `held`.
 */
export async function* findRows(
  committer: Committer,
  questionOf: (state: State) => Promise<FindRequest>,
  meter: Meter,
  held: Set<() => void>,
  signal: AbortSignal,
  reads: Reads | undefined,
): AsyncGenerator<Partial<StoredObject>> {
  for (let attempt = 1; ; attempt++) {
    const { state, release } = await committer.pin(reads)
    held.add(release)
    let isBegun = false
    try {
      for await (const objects of piecesOf(committer, await questionOf(state), meter)) {
        for (const object of objects) {
          signal.throwIfAborted()
          isBegun = true
          yield object
        }
      }
      return
    } catch (error) {
      if (!(error instanceof StalePage)) throw error
      const lost = await committer.lost(error, state)
      if (isBegun || attempt === maxAttempts || lost.code !== 'LK_STORAGE_CONFLICT') throw lost
    } finally {
      held.delete(release)
      release()
    }
  }
}

async function* piecesOf(
  { memory }: Committer,
  { table, request }: FindRequest,
  meter: Meter,
): AsyncGenerator<Objects> {
  const { condition, text, sort, after, fields, offset, limit } = request
  const objectsAt = async (refs: readonly number[], scoreOf?: ScoreOf): Promise<Objects> => {
    const places = await placesThere(table, refs, memory, meter)
    await meter.breathe()
    return places.map((place) => output(place, fields, scoreOf))
  }
  if (text !== undefined) {
    const { refs, matches } = await refsOfText(table, memory, request, text, meter)
    const asked = refs.subarray(offset, offset + limit)
    for (const some of partsOf(asked, table)) yield await objectsAt([...some], matches.scoreOf)
    return
  }
  const plan = await planQuery(table, condition, memory, { looksAtAll: true })
  const ordered = orderedBy(table, plan, request)
  if (ordered !== undefined) {
    for await (const refs of refsInOrder(ordered, request, memory.entries, meter)) {
      meter.keysRead += refs.length
      for (const some of partsOf(refs, table)) yield await objectsAt(some)
    }
    return
  }
  const { table: near, filter } = plan
  const visit = { table: near, pages: memory.blocks, seen: request.seen, filter, meter }
  const access = plan.access && (await refsOf(plan.access, memory, meter))
  if (sort.length > 0) {
    const sorted = await sortedRefs({ ...visit, refs: access }, request)
    const refs = sorted.subarray(offset, offset + limit)
    for (const some of partsOf(refs, table)) yield await objectsAt([...some])
    return
  }
  let skip = offset
  let left = limit
  const read = async (part: Pick<Visit, 'table' | 'refs'>): Promise<Objects> => {
    const objects: Partial<StoredObject>[] = []
    await visitRows({ ...visit, after: after?.ref, ...part }, (block, rows) => {
      for (const n of rows) {
        if (skip-- > 0) continue
        if (left-- <= 0) return false
        objects.push(output({ block, n }, fields))
      }
      return true
    })
    return objects
  }
  if (access !== undefined) {
    const from = after === undefined ? 0 : access.findLastIndex((ref) => ref <= after.ref) + 1
    for (const refs of partsOf(access.subarray(from), table)) {
      if (left <= 0) return
      yield await read({ table: near, refs })
    }
    return
  }
  let most = pieceRows
  for (let at = Math.max(0, after === undefined ? 0 : blockOf(near, after.ref)); left > 0;) {
    const blocks = blocksFrom(near, at, most)
    if (blocks.length === 0) return
    at += blocks.length
    const objects = await read({ table: { ...near, blocks } })
    // Where few match, more are read at once.
    most = objects.length * 4 < pieceRows ? most * 2 : pieceRows
    yield objects
  }
}

async function* refsInOrder(
  { index, spans, order }: Ordered,
  { after, offset, limit }: QueryRequest,
  entries: EntryPages,
  meter: Meter,
): AsyncGenerator<readonly number[]> {
  let last: IndexEntry | undefined = after && entryOf(after)
  let skip = offset
  for (let left = limit; left > 0; left -= pieceRows) {
    const take = Math.min(left, pieceRows)
    const found = await walk(index, spans, entries, {
      direction: order.direction,
      after: last,
      skip,
      take,
      breathe: () => meter.breathe(),
    })
    yield found.map(({ ref }) => ref)
    if (found.length < take) return
    last = found.at(-1)
    skip = 0
  }
}

/** References by pieces, in their order: those of few bytes, or in few blocks. */
function* partsOf<Refs extends readonly number[] | Float64Array>(
  refs: Refs,
  table: Table,
): Generator<Refs> {
  for (let from = 0, to = 0; from < refs.length; from = to) {
    let held = 0
    let read = 0
    let last: BlockPlace | undefined
    for (; to < refs.length && to - from < pieceRows; to++) {
      const place = table.blocks[blockOf(table, refs[to] as number)]
      if (place === undefined) continue
      held += place.bytes / place.rows
      if (place !== last) read += place.bytes
      last = place
      if (to > from && (held > pieceBytes || read > readBytes)) break
    }
    yield refs.slice(from, to) as Refs
  }
}

function blocksFrom(table: Table, from: number, mostRows: number): readonly BlockPlace[] {
  let rows = 0
  let bytes = 0
  let to = from
  for (; to < table.blocks.length && to - from < readBlocks; to++) {
    const place = table.blocks[to] as BlockPlace
    rows += place.rows
    bytes += place.bytes
    const mostBytes = mostRows > pieceRows ? readBytes : pieceBytes
    if (to > from && (rows > mostRows || bytes > mostBytes)) break
  }
  return table.blocks.slice(from, to)
}
