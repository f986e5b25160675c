// What a query has found, and how.

import type { Span } from '../engine/index-scan.js'
import type { QueryPlan } from '../types.js'
import type { Scalar } from '../values/values.js'
import { pathsOf, type Access, type Plan } from './planner.js'
import type { Meter } from './rows.js'
import type { TextMatches } from './text-search.js'
import type { PageWindow } from './windows.js'

export interface QueryResult extends PageWindow {
  readonly plan: Plan
  /** The order comes from an index, from sorting, or none was asked for. */
  readonly sort: QueryPlan['sort']
  readonly counted: boolean
  /** Of a query with `$text`. */
  readonly text?: TextMatches
}

export function planOf(found: QueryResult, meter: Meter): QueryPlan {
  const { plan, total, returned, sort, counted, text } = found
  const { access } = plan
  const isEmpty = access !== undefined && access.keys === 0
  const type = access === undefined ? 'scan' : isEmpty ? 'none' : access.type
  const parts = access === undefined ? [] : partsOf(access)
  const words = text && { path: '$text', ranges: text.words, keys: text.keys }
  return {
    plan: text === undefined ? type : 'text',
    indexes: words === undefined ? parts : [words, ...parts],
    filtered: plan.filter !== undefined,
    counted,
    sort,
    keysRead: meter.keysRead,
    objectsRead: meter.objectsRead,
    total,
    returned,
    milliseconds: Math.round(meter.milliseconds * 1000) / 1000,
    notUsed: plan.notUsed.filter(
      ({ path }) => access === undefined || !pathsOf(access).includes(path),
    ),
  }
}

function partsOf(access: Access): QueryPlan['indexes'][number][] {
  if (access.type !== 'index') return access.parts.flatMap(partsOf)
  const { index, spans, keys } = access
  return [{ path: index.path.join('.'), ranges: spans.map(shownSpan), keys }]
}

function shownSpan({ low, high }: Span): string {
  const shown = (key: Scalar) => (typeof key === 'number' ? String(key) : JSON.stringify(key))
  const from = low.ref === -Infinity ? '[' : '('
  const to = high.ref === Infinity ? ']' : ')'
  return `${from}${shown(low.key)}, ${shown(high.key)}${to}`
}
