// `lorekeep objects explain`: how a query was run.

import type { QueryPlan } from '../../../objects/types.js'
import { withObjects } from '../../access/access.js'
import { formatCounted } from '../../output/figures.js'
import { queryOf } from './object-query.js'
import type { QueryFlags } from './object-query.js'
import { printFields } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'

export async function explainQuery(options: QueryFlags): Promise<void> {
  const plan = await withObjects(options, { create: false }, (access) =>
    access.explain(queryOf(options)),
  )
  if (options.json) return writeJson(plan)
  await printFields(fieldsOf(plan))
}

const plans: Readonly<Record<QueryPlan['plan'], string>> = {
  scan: 'scan: every object of the schema',
  index: 'index: a part of one index',
  intersection: 'intersection: what parts of several indexes have in common',
  union: 'union: parts of several indexes',
  text: 'text: lists of words, and what is crossed with them',
  none: 'none: nothing can match',
}

const sorts: Readonly<Record<QueryPlan['sort'], string>> = {
  index: 'the index is in that order',
  memory: 'in memory',
  none: 'not asked for',
}

function fieldsOf(plan: QueryPlan): (readonly [string, string])[] {
  const { indexes, notUsed, filtered, counted } = plan
  return [
    ['plan', plans[plan.plan]],
    ...indexes.map(({ path, ranges, keys }) => {
      return ['index', `${path} in ${ranges.join(' or ')}: ${formatCounted(keys, 'key')}`] as const
    }),
    ['filter', filtered ? 'each of these objects is asked' : 'nothing is left to ask'],
    ['sort', sorts[plan.sort]],
    ['total', `${plan.total}, ${counted ? 'from positions in the index' : 'by counting'}`],
    ['returned', String(plan.returned)],
    [
      'read',
      `${formatCounted(plan.keysRead, 'key')}, ${formatCounted(plan.objectsRead, 'object')}`,
    ],
    ['time', `${plan.milliseconds.toFixed(1)} ms`],
    ...notUsed.map(({ path, reason }) => ['not used', `${path}: ${reason}`] as const),
  ]
}
