// The shapes of questions, as they come in from a program or a client.

import { formatPath } from '../door/json.js'
import { Problems } from '../door/problems.js'
import { broken, aRule } from '../door/rules.js'
import { isRecord, joined, quoted, shown, unknownMember } from '../door/wording.js'
import { annotationProblem, graphProblem, termOf } from '../terms.js'
import type { Term } from '../types.js'
import type { EntityPattern, QueryPattern, TriplePattern, ValueFilter, Variable } from './types.js'
import { readFilter } from './value/range.js'

const places = ['s', 'p', 'o', 'g', 'filter'] as const
type TriplePlace = (typeof places)[number]
type Pattern = Readonly<Partial<Record<TriplePlace, unknown>>>
const everything: Pattern = {}
const nowhere: Term = { v: '', e: false }
const nothing: QueryPattern = { s: nowhere, p: nowhere, o: nowhere }

/**
 * Reads a question part by part, and notes what is wrong with it. What it gives is a copy: the asker
 * may go on to change what it gave. What stands for a part that is wrong is not for use: end() is
 * first. `path` is where the part stands in the question, '' where it is the whole.
 */
export class Question {
  // Most questions have none: making a list for each took a tenth of a lookup.
  #problems: Problems | undefined

  get problems(): Problems {
    return (this.#problems ??= new Problems())
  }

  /** `name` is the term's place in a pattern at `path`, if it is in one. */
  term(value: unknown, path: string, name = ''): Term {
    if (isPlainTerm(value)) return { v: value.v, e: value.e }
    return this.#otherTerm(value, joined(path, name))
  }

  /** One with a datatype or a language, or a wrong one. */
  #otherTerm(value: unknown, path: string): Term {
    if (!isRecord(value)) return this.#wrongTerm(value, path)
    const { v, e, dt, ln } = value as Partial<Term>
    const hasMore = dt !== undefined || ln !== undefined
    if (!hasMore || typeof v !== 'string' || !v.isWellFormed() || typeof e !== 'boolean') {
      return this.#wrongTerm(value, path)
    }
    const [member, message] = annotationProblem({ e, dt, ln }) ?? []
    if (message !== undefined) return this.#fail(joined(path, member ?? ''), message)
    return termOf({ v, e, dt, ln })
  }

  #wrongTerm(value: unknown, path: string): Term {
    if (typeof value === 'string') {
      const isVariable = value.startsWith('?')
      return this.#fail(
        path,
        isVariable
          ? `is a variable, ${quoted(value)}, which cannot stand here; leave the place out where anything will do`
          : `is a string, and a term is an object; write { v: ${quoted(value)}, e: true }, or e: false for a literal`,
      )
    }
    if (!isRecord(value)) return this.#fail(path, `must be a term { v, e }, not ${shown(value)}`)
    if ('termType' in value) {
      const message = "is a term of RDF/JS: termOf() of 'lorekeep/rdf' makes a term { v, e } of it"
      return this.#fail(path, message)
    }
    const { v, e } = value
    const isText = typeof v === 'string' && v.isWellFormed()
    if (!isText) this.#fail(joined(path, 'v'), `must be ${aTermText.expected}, not ${shown(v)}`)
    if (typeof e !== 'boolean') {
      const expected = 'true for a URI or false for a literal'
      this.#fail(joined(path, 'e'), `must be ${expected}, not ${shown(e)}`)
    }
    return nowhere
  }

  /** Undefined is the pattern of everything. */
  triplePattern(value: unknown, path: string): TriplePattern {
    const { s, p, o, g, filter } = this.#pattern(value === undefined ? everything : value, path)
    if (filter !== undefined && o !== undefined) this.#noFilter(path)
    return {
      s: s === undefined ? undefined : this.term(s, path, 's'),
      p: p === undefined ? undefined : this.term(p, path, 'p'),
      o: o === undefined ? undefined : this.term(o, path, 'o'),
      g: this.#graphs(g, joined(path, 'g')),
      ...this.#filter(filter, path),
    }
  }

  #filter(filter: unknown, path: string): { readonly filter?: ValueFilter } {
    if (filter === undefined) return {}
    return { filter: readFilter(filter, joined(path, 'filter'), this.problems) }
  }

  #noFilter(path: string): void {
    this.#fail(joined(path, 'filter'), 'is for an object that is open, and this pattern has one')
  }

  #graphs(g: unknown, path: string): TriplePattern['g'] {
    if (!Array.isArray(g)) return this.#graph(g, path)
    // Not map(), which passes over holes.
    return Array.from(g, (name: unknown, n) => {
      const at = `${path}[${n}]`
      if (name === undefined) this.#fail(at, 'is missing; it must be the name of a graph, or null')
      return this.#name(name, at) ?? null
    })
  }

  queryPatterns(value: unknown, path: string): QueryPattern[] {
    return this.#list(value, path).map((pattern, n) => {
      const at = `${path}[${n}]`
      const given = this.#pattern(pattern, at)
      if (!isRecord(pattern)) return nothing
      const place = (name: 's' | 'p' | 'o') => this.#place(given[name], joined(at, name))
      const graph = this.#graph(given.g, joined(at, 'g'))
      const { o, filter } = given
      if (filter !== undefined && typeof o !== 'string') this.#noFilter(at)
      return { s: place('s'), p: place('p'), o: place('o'), g: graph, ...this.#filter(filter, at) }
    })
  }

  /** One pattern or a list of them; undefined is none. */
  entityPatterns(value: unknown, path: string): EntityPattern[] {
    if (value === undefined) return []
    const patterns = Array.isArray(value)
      ? value.map((pattern: unknown, n) => this.#entityPattern(pattern, `${path}[${n}]`))
      : [this.#entityPattern(value, path)]
    // An open subject is the entity.
    const isAboutIt = ({ s, p, o }: EntityPattern) =>
      s === undefined || [s, p, o].includes('?entity')
    if (patterns.length > 0 && !patterns.some(isAboutIt) && this.#problems === undefined) {
      this.#fail(path, "has to say something of '?entity', and no pattern of it does")
    }
    return patterns
  }

  /** Undefined where everything is selected. */
  selection(value: unknown, path: string): Variable[] | undefined {
    if (value === undefined) return undefined
    for (const [n, name] of this.#list(value, path).entries()) {
      if (!aVariable.holds(name)) this.#fail(`${path}[${n}]`, broken(aVariable, name))
    }
    return Array.isArray(value) ? [...(value as readonly Variable[])] : []
  }

  /** A copy, in doubles. */
  vector(value: unknown, path: string): Float64Array {
    const isList =
      Array.isArray(value) || value instanceof Float32Array || value instanceof Float64Array
    const components = (isList ? value : []) as ArrayLike<unknown>
    if (!isList) this.#fail(path, `must be an array of numbers, not ${shown(value)}`)
    else if (components.length === 0) this.#fail(path, 'is empty: a vector has one number at least')
    const copy = new Float64Array(components.length)
    // Not forEach(), which passes over holes.
    for (let n = 0; n < components.length; n++) {
      const component = components[n]
      if (typeof component === 'number' && Number.isFinite(component)) copy[n] = component
      else this.#fail(`${path}[${n}]`, `must be a finite number, not ${shown(component)}`)
    }
    return copy
  }

  /** @throws LorekeepError `LK_GRAPH_QUERY` with `details.errors` where anything is wrong */
  end(): void {
    this.#problems?.throwIfAny('LK_GRAPH_QUERY')
  }

  /** The pattern itself; an empty one in place of what is none. */
  #pattern(value: unknown, path: string): Pattern {
    if (!isRecord(value)) {
      this.#fail(path, `must be a pattern { s, p, o }, not ${shown(value)}`)
      return everything
    }
    for (const name in value) {
      const isPlace = name === 's' || name === 'p' || name === 'o' || name === 'g'
      if (!isPlace && name !== 'filter') {
        this.problems.fail(joined(path, formatPath([name])), unknownMember(name, places))
      }
    }
    return value
  }

  /** A name, null, or a variable. */
  #graph(g: unknown, path: string): string | null | undefined {
    const isVariable = typeof g === 'string' && g.startsWith('?')
    if (isVariable && !aVariable.holds(g)) this.#fail(path, broken(aVariable, g))
    return isVariable ? g : this.#name(g, path)
  }

  #name(g: unknown, path: string): string | null | undefined {
    if (g === null || g === undefined) return g
    if (graphProblem(g) === undefined) return g as string
    const expected = `must be the name of a graph, or null, not ${shown(g)}`
    this.#fail(path, g === '' ? 'is empty; null is the default graph' : expected)
    return undefined
  }

  #entityPattern(value: unknown, path: string): EntityPattern {
    const given = this.#pattern(value, path)
    if (given.g !== undefined)
      this.#fail(joined(path, 'g'), unknownMember('g', ['s', 'p', 'o', 'filter']))
    const place = (name: TriplePlace) => {
      const found = given[name]
      return found === undefined ? undefined : this.#place(found, joined(path, name))
    }
    const { o, filter } = given
    if (filter !== undefined && typeof o === 'object') this.#noFilter(path)
    return { s: place('s'), p: place('p'), o: place('o'), ...this.#filter(filter, path) }
  }

  #place(value: unknown, path: string): Term | Variable {
    if (value === undefined) {
      return this.#fail(path, "is missing; it must be a term { v, e } or a variable such as '?x'")
    }
    if (typeof value !== 'string' || !value.startsWith('?')) return this.term(value, path)
    if (aVariable.holds(value)) return value
    return this.#fail(path, broken(aVariable, value))
  }

  #list(value: unknown, path: string): readonly unknown[] {
    if (Array.isArray(value)) return value
    this.#fail(path, `must be an array, not ${shown(value)}`)
    return []
  }

  #fail(path: string, message: string): Term {
    this.problems.fail(path, message)
    return nowhere
  }
}

function isPlainTerm(value: unknown): value is Term {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { v, e, dt, ln } = value as Partial<Term>
  if (dt !== undefined || ln !== undefined) return false
  return typeof v === 'string' && typeof e === 'boolean' && v.isWellFormed()
}

const aTermText = aRule<string>(
  'the text of a term, well-formed',
  (value) => typeof value === 'string' && value.isWellFormed(),
)

/**
 * As SPARQL spells them, but for the characters that hardly anybody names variables with. Results
 * have members of these names, and `__proto__` is not a member like others.
 */
const aVariable = aRule<Variable>(
  "a variable such as '?x'",
  (value) =>
    typeof value === 'string' && /^\?[\p{L}\p{N}_]+$/u.test(value) && value !== '?__proto__',
)

/** How many of something: a whole number, or Infinity, which is all. */
export const aLimit = aRule<number>(
  'a whole number, 0 or more',
  (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
)
