// From some nodes along the triples of a graph, as far and as wide as the limits go.

import { withBlocks } from '../miss.js'
import { ANY } from '../view.js'
import type { Bookkeeping } from './bookkeeping.js'
import type { Sameness } from '../same/sameness.js'
import type { Row } from '../taking.js'
import type { GraphReader } from './reader.js'

interface ExpansionLimits {
  readonly triples: number
  readonly depth: number
  readonly maxTriples: number
}

/**
 * Breadth first: of each node in turn the triples with it as subject, as predicate and as object,
 * then, level by level, those of the URIs that they lead to. No node is asked for twice, and no
 * row comes twice. What is one with a node is gone on from with it.
 */
export async function expand(
  reader: GraphReader,
  { books, sameness }: { readonly books: Bookkeeping; readonly sameness: Sameness },
  from: readonly number[],
  { triples, depth, maxTriples }: ExpansionLimits,
): Promise<Row[]> {
  const found = new Map<string, Row>()
  const visited = new Set(await withMembers(from))
  const takes = {
    most: triples,
    accepts: (row: Row) => books.isKnowledge(row),
    unwanted: books.alone,
  }
  let level: readonly number[] = [...visited]

  for (let at = 0; at < depth && found.size < maxTriples; at++) {
    const next = new Set<number>()
    // Batch by batch: where the first nodes fill the limit, the last ones are not read.
    for await (const around of reader.batches(level, aroundNode)) {
      for (const row of around.flat(2)) {
        found.set(`${row.s} ${row.p} ${row.o}`, row)
        if (found.size === maxTriples) return [...found.values()]
        for (const id of [row.s, row.o]) if (!visited.has(id)) next.add(id)
      }
    }
    if (at + 1 < depth) level = await unvisited(next)
  }
  return [...found.values()]

  function aroundNode(id: number) {
    return reader.run((taking) => [
      taking.rows(id, ANY, ANY, takes),
      books.alone.has(id) ? [] : taking.rows(ANY, id, ANY, takes),
      taking.rows(ANY, ANY, id, takes),
    ])
  }

  async function withMembers(ids: readonly number[]): Promise<readonly number[]> {
    if (sameness.isEmpty) return ids
    const members = await reader.each(ids, (id) => withBlocks(() => sameness.membersOf(id)))
    // Each is asked for itself first.
    return [...new Set(ids.flatMap((id, n) => [id, ...(members[n] ?? [])]))]
  }

  /** Literals lead nowhere: what has the same year has nothing else in common. */
  async function unvisited(ids: ReadonlySet<number>): Promise<number[]> {
    for (const id of ids) visited.add(id)
    const all = (await withMembers([...ids])).filter((id) => ids.has(id) || !visited.has(id))
    for (const id of all) visited.add(id)
    const nodes = await reader.each(all, (id) =>
      withBlocks(() => ({ id, isUri: reader.term(id).e })),
    )
    return nodes.filter(({ isUri }) => isUri).map(({ id }) => id)
  }
}
