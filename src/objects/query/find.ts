// Every match, some at a time: between the pieces nothing is held but where they ended, or the
// references of what is still to come.

import type { Committer } from '../engine/committer.js'
import type { Index } from '../engine/index-runs.js'
import { walk, type IndexEntry } from '../engine/index-scan.js'
import { planQuery } from './planner.js'
import { entryOf, orderedBy, refsOf, sortedRefs } from './query.js'
import type { QueryRequest } from './query-request.js'
import { output, placesOf, visitRows, type Meter } from './rows.js'
import type { State, Table } from '../engine/state.js'
import type { StoredObject } from '../types.js'
import { regularKey } from '../filter/values.js'
import { LorekeepError } from '../../errors.js'
import type { Condition } from '../filter/condition.js'
import { evaluate } from './evaluate.js'
import type { RowPlace } from '../engine/lookup.js'

/** Objects of one piece. */
const pieceRows = 256

export async function* findRows(
  committer: Committer,
  schema: string,
  request: QueryRequest,
  meter: Meter,
  signal: AbortSignal,
): AsyncGenerator<Partial<StoredObject>> {
  const { limit, offset, fields } = request
  let skip = offset
  let left = limit
  for await (const places of piecesOf(committer, schema, request, meter)) {
    for (const place of places) {
      if (skip-- > 0) continue
      if (left-- <= 0) return
      signal.throwIfAborted()
      yield output(place, fields)
    }
    if (left <= 0) return
  }
}

async function* piecesOf(
  committer: Committer,
  schema: string,
  request: QueryRequest,
  meter: Meter,
): AsyncGenerator<readonly RowPlace[]> {
  const { memory } = committer
  const { condition, sort, after } = request
  const begin = await committer.read(async (state) => {
    const table = tableIn(state, schema)
    const plan = await planQuery(table, condition, memory.entries)
    const ordered = orderedBy(table, plan, request)
    if (ordered !== undefined) return { type: 'walk', ordered } as const
    const visit = { table, pages: memory.blocks, filter: plan.filter, meter }
    const access = plan.access && (await refsOf(plan.access, memory, meter))
    if (sort.length > 0) {
      const refs = await sortedRefs({ ...visit, refs: access }, request)
      return { type: 'refs', refs, filter: plan.filter } as const
    }
    if (access === undefined) return { type: 'scan', filter: plan.filter } as const
    const refs = access.filter((ref) => after === undefined || ref > after.ref)
    return { type: 'refs', refs, filter: plan.filter } as const
  })

  if (begin.type === 'refs') {
    for (let at = 0; at < begin.refs.length; at += pieceRows) {
      const some = [...begin.refs.slice(at, at + pieceRows)]
      yield await committer.read(async (state) => {
        const places = await placesOf(tableIn(state, schema), some, memory.blocks)
        meter.count(some.length)
        return places.filter(
          (place) => place !== undefined && holds(begin.filter, place),
        ) as RowPlace[]
      })
    }
    return
  }
  if (begin.type === 'scan') {
    let last = after?.ref
    for (;;) {
      const places = await committer.read(async (state) => {
        const table = tableIn(state, schema)
        const found: RowPlace[] = []
        const visit = { table, pages: memory.blocks, filter: begin.filter, meter, after: last }
        await visitRows(visit, (block, rows) => {
          for (const n of rows) found.push({ block, n })
          return found.length < pieceRows
        })
        return found
      })
      const end = places.at(-1)
      if (end === undefined) return
      last = end.block.refs[end.n] as number
      yield places
      if (places.length < pieceRows) return
    }
  }
  const { index, spans, order } = begin.ordered
  let last: IndexEntry | undefined = after && entryOf(after)
  for (;;) {
    const piece = await committer.read(async (state) => {
      const table = tableIn(state, schema)
      // The same index as it is by now.
      const current = table.indexes.find(({ number }) => number === index.number)
      if (current === undefined) {
        throw new LorekeepError('LK_STORAGE_CONFLICT', 'the index that was read was dropped')
      }
      const entries = await walk(current, spans, memory.entries, {
        direction: order.direction,
        after: last,
        skip: 0,
        take: pieceRows,
      })
      meter.keysRead += entries.length
      const refs = entries.map(({ ref }) => ref)
      const places = await placesOf(table, refs, memory.blocks)
      return { end: entries.at(-1), places: places.filter((place) => hasOneKey(current, place)) }
    })
    if (piece.end === undefined) return
    last = piece.end
    yield piece.places as RowPlace[]
  }
}

/**
 * False for an object that came with an array since the index was chosen, which has an entry for
 * each element: it was not there at the beginning, and may be left out.
 */
function hasOneKey({ path }: Index, place: RowPlace | undefined): boolean {
  if (place === undefined) return false
  const [name = '', ...rest] = path
  return regularKey(place.block.field(name)[place.n], rest) !== undefined
}

function holds(filter: Condition | undefined, { block, n }: RowPlace): boolean {
  return filter === undefined || evaluate(filter, block)[n] === 1
}

function tableIn({ tables }: State, name: string): Table {
  const table = tables.get(name)
  if (table === undefined) throw new LorekeepError('LK_SCHEMA_NOT_FOUND', `'${name}'`)
  return table
}
