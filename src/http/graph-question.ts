// What of a question is looked at before the graph gets it: names of fields, and how much a client
// may ask for. The graph takes the rest apart, and says what is wrong to callers in process just the
// same.

import { LorekeepError } from '../errors.js'
import type { TriplePattern } from '../graph/types.js'
import type { JsonObject } from '../objects/types.js'
import type { Vector } from '../types.js'

// Joins are planned by looking at each pattern beside each other one.
const maxPatterns = 64
export const maxCores = 1000
/** No core has longer ones, unless its host changed a limit. */
const maxVectorLength = 65_536
/** More than models take. */
const maxTextLength = 65_536
const maxDepth = 100

/** @throws LorekeepError `LK_GRAPH_QUERY`, as all here */
export function checkFields(body: JsonObject, names: readonly string[]): void {
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown !== undefined) refuse(unknown, `there is no such field here, but ${names.join(', ')}`)
}

/** `undefined` where it is left out. */
export function wholeNumberIn(body: JsonObject, name: string, most: number): number | undefined {
  const value = body[name]
  if (value === undefined) return undefined
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most) {
    return value as number
  }
  return refuse(name, `expected a whole number from 0 to ${most}`)
}

export function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name]
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  return refuse(name, 'expected a string that is not empty')
}

export function coresIn({ cores }: JsonObject): readonly string[] | undefined {
  if (cores === undefined) return undefined
  if (!Array.isArray(cores)) return refuse('cores', 'expected an array of ids')
  bounded(cores, 'cores', maxCores, 'ids')
  return cores.map((id, place) =>
    typeof id === 'string' ? id : refuse(`cores[${place}]`, 'expected the id of a core'),
  )
}

export function patternIn({ s, p, o }: JsonObject): TriplePattern {
  return { s, p, o } as TriplePattern
}

export function patternsIn(body: JsonObject, name: 'patterns' | 'where'): unknown {
  return bounded(body[name], name, maxPatterns, 'patterns')
}

export function vectorIn(value: unknown, path: string): Vector {
  if (!Array.isArray(value)) return refuse(path, 'expected an array of numbers')
  return bounded(value, path, maxVectorLength, 'numbers') as Vector
}

/** The length alone: 413 is for bodies. */
export function questionIn({ text }: JsonObject): unknown {
  if (typeof text === 'string' && text.length > maxTextLength) {
    refuse('text', `${text.length} characters; ${maxTextLength} at most`)
  }
  return text
}

export function depthIn(body: JsonObject): number | undefined {
  return wholeNumberIn(body, 'depth', maxDepth)
}

/** As it is, where it is no longer array than that. */
export function bounded(value: unknown, path: string, most: number, what: string): unknown {
  if (Array.isArray(value) && value.length > most) {
    refuse(path, `${value.length} ${what}; ${most} at most`)
  }
  return value
}

export function refuse(path: string, reason: string): never {
  throw new LorekeepError('LK_GRAPH_QUERY', `${path}: ${reason}`, { details: { path } })
}
