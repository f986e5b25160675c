// The request target: path and query. Strict, because lenient decoding makes two names one.

import type { IncomingMessage } from 'node:http'
import { Problems } from '../door/problems.js'
import { broken } from '../door/rules.js'
import { unknownMember } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import type { Parameters } from './parameters.js'

export type Pair = readonly [name: string, value: string]

/**
 * The path as the routes spell it. Under `app.use('/files', handler)` Express takes the mount
 * off `req.url`, which changes nothing here; under `app.use('/api/v1', handler)` it takes the
 * prefix itself off, and only `req.originalUrl` still has it.
 */
export function pathOf(request: IncomingMessage, prefix: string): string {
  const { path } = splitTarget(request.url ?? '/')
  const { originalUrl } = request as { originalUrl?: unknown }
  if (typeof originalUrl !== 'string') return path
  return splitTarget(originalUrl).path.endsWith(prefix + path) ? prefix + path : path
}

/**
 * Name → value, of what is not `repeatable`; parsePairs() has those. A name given twice is refused:
 * which of the two was meant? So is one that is not of `parameters`: who misspells `mode=replace`
 * would append. What is missing, and what no value can be, is told with them, all at once.
 *
 * @throws LorekeepError `LK_HTTP_REQUEST` with `details.errors`
 */
export function parseQuery(text: string, parameters: Parameters = {}): ReadonlyMap<string, string> {
  return queryOf(text === '' ? [] : parsePairs(text), parameters)
}

/** As parseQuery(), of pairs wherever they came from. @throws LorekeepError `LK_HTTP_REQUEST` with `details.errors` */
export function queryOf(
  pairs: readonly Pair[],
  parameters: Parameters,
): ReadonlyMap<string, string> {
  const query = new Map<string, string>()
  const twice = new Set<string>()
  const problems = new Problems()
  for (const [name, value] of pairs) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (parameter === undefined) {
      problems.fail([name], () => unknownMember(name, Object.keys(parameters)))
    } else if (query.has(name)) {
      twice.add(name)
    } else if (parameter.repeatable !== true) {
      query.set(name, value)
      const { rule } = parameter
      if (rule !== undefined && !rule.holds(value)) problems.fail(name, broken(rule, value))
    }
  }
  for (const name of twice) problems.fail(name, 'is given twice')
  for (const name in parameters) {
    const isMissing = parameters[name]?.required === true && !query.has(name)
    if (isMissing) problems.fail(name, 'is missing')
  }
  problems.throwIfAny('LK_HTTP_REQUEST')
  return query
}

/** More than all that may be repeated: a body of nothing else took 100 ms to be refused, name by name. */
const maxPairs = 5000

/** Names and values as a query, or a form, has them. @throws LorekeepError `LK_HTTP_REQUEST` */
export function parsePairs(text: string): readonly Pair[] {
  const all = text.split('&', maxPairs + 1)
  if (all.length > maxPairs) {
    throw new LorekeepError('LK_HTTP_REQUEST', `there are more than ${maxPairs} parameters`)
  }
  const pairs = all.filter((pair) => pair !== '')
  return pairs.map((pair) => {
    const equals = pair.includes('=') ? pair.indexOf('=') : pair.length
    const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)]
    return [
      decodeComponent(name.replaceAll('+', ' ')),
      decodeComponent(value.replaceAll('+', ' ')),
    ] as const
  })
}

/** A parameter, or a member of a body, that is wrong. */
export function requestError(path: string, message: string): LorekeepError {
  const problems = new Problems()
  problems.fail(path, message)
  return problems.error('LK_HTTP_REQUEST')
}

/** @throws LorekeepError `LK_HTTP_REQUEST`; bytes outside ASCII never get this far, Node refuses them */
export function decodeComponent(text = ''): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new LorekeepError('LK_HTTP_REQUEST', 'the URL is not percent-encoded UTF-8')
  }
}

export function splitTarget(url: string): { readonly path: string; readonly query: string } {
  // A proxy may send the absolute form.
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target, query: '' }
  return { path: target.slice(0, mark), query: target.slice(mark + 1) }
}
