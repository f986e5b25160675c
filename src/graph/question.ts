// The shapes of questions, as they come in from a program or a client.

import { LorekeepError } from '../errors.js'
import type { Term } from '../types.js'
import type { EntityPattern, QueryPattern, TriplePattern, Variable } from './types.js'

// Each of these throws LK_GRAPH_QUERY, whose `details.path` is where in the question the fault is:
// `patterns[1].s`, `limit`. `path` is that of the value, '' where the value is the whole question.

/** A copy: the asker may go on to change what it gave. */
export function checkTerm(value: unknown, path: string): Term {
  if (typeof value === 'string') {
    const isVariable = value.startsWith('?')
    const shown = shorten(value)
    refuse(
      path,
      isVariable
        ? `a variable (${shown}) cannot stand here; leave the place out where anything will do`
        : `a term is an object; write { v: ${shown}, e: true }, or e: false for a literal`,
    )
  }
  if (!isRecord(value)) refuse(path, `expected a term { v, e }, found ${show(value)}`)
  const { v, e } = value
  if (typeof v !== 'string') {
    refuse(member(path, 'v'), `expected the text of a term, found ${show(v)}`)
  }
  if (!v.isWellFormed()) refuse(member(path, 'v'), 'the text holds a lone surrogate')
  if (typeof e !== 'boolean') {
    refuse(member(path, 'e'), `expected true for a URI or false for a literal, found ${show(e)}`)
  }
  return { v, e }
}

/** Undefined is the pattern of everything. */
export function checkTriplePattern(value: unknown, path: string): TriplePattern {
  const places = checkMembers(value, path, ['s', 'p', 'o'])
  return {
    s: checkOpenTerm(places['s'], member(path, 's')),
    p: checkOpenTerm(places['p'], member(path, 'p')),
    o: checkOpenTerm(places['o'], member(path, 'o')),
  }
}

export function checkQueryPatterns(value: unknown, path: string): QueryPattern[] {
  return checkList(value, path).map((pattern, n) => {
    const at = `${path}[${n}]`
    const places = checkMembers(pattern, at, ['s', 'p', 'o'])
    return {
      s: checkPlace(places['s'], member(at, 's')),
      p: checkPlace(places['p'], member(at, 'p')),
      o: checkPlace(places['o'], member(at, 'o')),
    }
  })
}

/** One pattern or a list of them; undefined is none. */
export function checkEntityPatterns(value: unknown, path: string): EntityPattern[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) return [checkEntityPattern(value, path)]
  return value.map((pattern: unknown, n) => checkEntityPattern(pattern, `${path}[${n}]`))
}

/** Undefined where everything is selected. */
export function checkSelection(value: unknown, path: string): Variable[] | undefined {
  if (value === undefined) return undefined
  return checkList(value, path).map((name, n) => checkVariable(name, `${path}[${n}]`))
}

/** Infinity where there is none. */
export function checkLimit(value: unknown, path: string): number {
  if (value === undefined || value === Infinity) return Infinity
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  return refuse(path, `expected a whole number, 0 or more, found ${show(value)}`)
}

export function checkSignal(value: unknown, path: string): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value
  return refuse(path, `expected an AbortSignal, found ${show(value)}`)
}

/** False by default. */
export function checkFlag(value: unknown, path: string): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true
  return refuse(path, `expected true or false, found ${show(value)}`)
}

/** An object with no members but these; undefined is an empty one. */
export function checkMembers(
  value: unknown,
  path: string,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  if (value === undefined) return {}
  if (!isRecord(value)) {
    refuse(path, `expected an object of ${names.join(', ')}, found ${show(value)}`)
  }
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) {
      refuse(member(path, name), `there is no ${shorten(name)} here, but ${names.join(', ')}`)
    }
  }
  return value
}

export function refuse(path: string, reason: string): never {
  throw new LorekeepError('LK_GRAPH_QUERY', path === '' ? reason : `${path}: ${reason}`, {
    details: { path },
  })
}

function checkEntityPattern(value: unknown, path: string): EntityPattern {
  const places = checkMembers(value, path, ['s', 'p', 'o'])
  const place = (name: string) =>
    places[name] === undefined ? undefined : checkPlace(places[name], member(path, name))
  return { s: place('s'), p: place('p'), o: place('o') }
}

function checkOpenTerm(value: unknown, path: string): Term | undefined {
  return value === undefined ? undefined : checkTerm(value, path)
}

function checkPlace(value: unknown, path: string): Term | Variable {
  if (value === undefined) refuse(path, `expected a term { v, e } or a variable such as '?x'`)
  const isVariable = typeof value === 'string' && value.startsWith('?')
  return isVariable ? checkVariable(value, path) : checkTerm(value, path)
}

/** As SPARQL spells them, but for the characters that hardly anybody names variables with. */
const variable = /^\?[\p{L}\p{N}_]+$/u

function checkVariable(value: unknown, path: string): Variable {
  // Results have members of these names, and that one is not a member like others.
  if (typeof value === 'string' && variable.test(value) && value !== '?__proto__') {
    return value as Variable
  }
  return refuse(path, `expected a variable such as '?x', found ${show(value)}`)
}

function checkList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) refuse(path, `expected an array, found ${show(value)}`)
  return value as readonly unknown[]
}

function member(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function show(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return shorten(value)
  return `${typeof value} ${String(value).slice(0, 40)}`
}

function shorten(text: string): string {
  return `'${text.length > 60 ? `${text.slice(0, 60)}…` : text}'`
}
