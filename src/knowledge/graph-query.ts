import { checkMembers, refuse } from '../graph/question.js'
import type { GraphQuery } from '../graph/types.js'
import { checkName } from './records.js'

/** @throws LorekeepError `LK_CORE_REF`, `LK_GRAPH_QUERY` */
export function checkGraphQuery(query: GraphQuery): GraphQuery {
  const { cores, collection, user } = checkMembers(query, '', ['user', 'cores', 'collection'])
  if (cores !== undefined && !Array.isArray(cores)) refuse('cores', 'expected a list of ids')
  if (collection !== undefined && (typeof collection !== 'string' || !collection.isWellFormed())) {
    refuse('collection', 'expected the name of a collection')
  }
  const ids = (cores as readonly unknown[] | undefined)?.map((id) => checkName('id', id))
  return {
    user: checkName('user', user),
    // Each once: a core is not another one for being named twice.
    ...(ids !== undefined && { cores: [...new Set(ids)] }),
    ...(collection !== undefined && { collection }),
  }
}
