import { Members } from '../door/members.js'
import { Problems } from '../door/problems.js'
import { aList, aRule } from '../door/rules.js'
import { aReads } from '../reads.js'
import type { GraphQuery } from '../graph/types.js'
import { checkNames } from './records.js'

const aCollection = aRule<string>(
  'the name of a collection',
  (value) => typeof value === 'string' && value.isWellFormed(),
)

/** @throws LorekeepError `LK_CORE_REF`, `LK_GRAPH_QUERY` with `details.errors` */
export function checkGraphQuery(query: GraphQuery): GraphQuery {
  const problems = new Problems()
  const given = new Members(query, '', problems, 'an object of user, cores, collection and reads')
  const user = given.get('user')
  const cores = given.take('cores', aList)
  const collection = given.take('collection', aCollection)
  const reads = given.take('reads', aReads)
  given.end()
  problems.throwIfAny('LK_GRAPH_QUERY')
  checkNames([['user', user], ...(cores ?? []).map((id, n) => [`cores[${n}]`, id] as const)])
  return {
    user: user as string,
    // Each once: a core is not another one for being named twice.
    ...(cores !== undefined && { cores: [...new Set(cores as readonly string[])] }),
    ...(collection !== undefined && { collection }),
    ...(reads !== undefined && { reads }),
  }
}
