// The order of ORDER BY, MIN and MAX (SPARQL 1.1, section 15.1). Any two terms have one, whatever their texts are, and
// where `<` says something, it says the same. The engine asks `<` alone, which is an error for some: it ended the
// process, out of a sort; and numbers, compared by their datatypes with other literals, had no order among these.

import type { Literal, Term } from '@rdfjs/types'
import { compareTexts, xsd, xsdString } from '../terms.js'
import type { EngineLiteral, EngineParts, TermTransformer } from './engine-parts.js'
import { millisecondsOf, monthsOf, secondsOf, type Instant } from './instants.js'

/** What literals are compared by, of those that their datatypes allow. */
export interface Kind {
  /** A datatype. Those that are derived of it are compared with it. */
  readonly name: string
  /** Of those that are compared by more than their texts. */
  readonly toNumber?: (literal: EngineLiteral) => number
}

export type Kinds = ReadonlyMap<unknown, Kind>

/** By the engine's classes of literals. */
export function literalKinds(parts: EngineParts): Kinds {
  // Before all others.
  const number = { name: '', toNumber: ({ typedValue }: EngineLiteral) => Number(typedValue) }
  const instant = (name: string): Kind => ({
    name: xsd + name,
    toNumber: ({ typedValue }) => millisecondsOf(typedValue as Instant),
  })
  return new Map<unknown, Kind>([
    [parts.IntegerLiteral, number],
    [parts.DecimalLiteral, number],
    [parts.FloatLiteral, number],
    [parts.DoubleLiteral, number],
    [parts.BooleanLiteral, { ...number, name: `${xsd}boolean` }],
    [parts.StringLiteral, { name: xsdString }],
    [parts.DateTimeLiteral, instant('dateTime')],
    [parts.DateLiteral, instant('date')],
    [parts.TimeLiteral, instant('time')],
    [
      parts.YearMonthDurationLiteral,
      {
        name: `${xsd}yearMonthDuration`,
        toNumber: (literal) => monthsOf(literal.typedValue as Instant),
      },
    ],
    [
      parts.DayTimeDurationLiteral,
      {
        name: `${xsd}dayTimeDuration`,
        toNumber: (literal) => secondsOf(literal.typedValue as Instant),
      },
    ],
  ])
}

export const kindOf = (literal: object, kinds: Kinds): Kind | undefined =>
  kinds.get(literal.constructor)

export type Compare = (a: Term | undefined, b: Term | undefined) => number

/** Less than 0, 0 or more. What has one value is one to it, also 1 and 1.0. */
export function termOrder(transformer: TermTransformer, kinds: Kinds, parts: EngineParts): Compare {
  // A sort comes back to each many times.
  const places = new WeakMap<Literal, Place>()
  return compare

  function compare(a: Term | undefined, b: Term | undefined): number {
    if (a === b) return 0
    if (a?.termType !== b?.termType) return rankOf(a) - rankOf(b)
    if (a === undefined || b === undefined) return 0
    if (a.termType === 'Literal') return compareLiterals(a, b as Literal)
    if (a.termType !== 'Quad') return compareTexts(a.value, b.value)
    if (b.termType !== 'Quad') return 0
    return (
      compare(a.subject, b.subject) ||
      compare(a.predicate, b.predicate) ||
      compare(a.object, b.object) ||
      compare(a.graph, b.graph)
    )
  }

  function compareLiterals(a: Literal, b: Literal): number {
    if (a.datatype.value === xsdString && b.datatype.value === xsdString) {
      return compareTexts(a.value, b.value)
    }
    const [left, right] = [placeOf(a), placeOf(b)]
    if (left.group !== right.group) return left.group < right.group ? -1 : 1
    if (left.isIllTyped !== right.isIllTyped) return left.isIllTyped ? 1 : -1
    if (left.value !== undefined && right.value !== undefined) {
      return compareValues(left.value, right.value)
    }
    return compareTexts(a.value, b.value) || compareTexts(tagOf(a), tagOf(b))
  }

  function placeOf(literal: Literal): Place {
    const known = places.get(literal)
    if (known !== undefined) return known
    const made = transformer.transformRDFTermUnsafe(literal) as EngineLiteral
    const kind = kindOf(made, kinds)
    const place = {
      group: kind?.name ?? literal.datatype.value,
      isIllTyped: parts.isNonLexicalLiteral(made) !== undefined,
      value: kind?.toNumber?.(made),
    }
    places.set(literal, place)
    return place
  }
}

/** Where a literal stands; within that, by its text. */
interface Place {
  /** Numbers are first, whatever their datatypes; others are by their datatypes. */
  readonly group: string
  /** Behind all others of the datatype. */
  readonly isIllTyped: boolean
  readonly value: number | undefined
}

const ranks: Readonly<Record<string, number>> = {
  BlankNode: 1,
  NamedNode: 2,
  Literal: 3,
  Quad: 4,
  DefaultGraph: 5,
}

/** What is unbound, or an error, is first. */
function rankOf(term: Term | undefined): number {
  return term === undefined ? 0 : (ranks[term.termType] ?? 6)
}

/** NaN, of which `<` says nothing, is before all numbers. */
function compareValues(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  return Number(Number.isNaN(b)) - Number(Number.isNaN(a))
}

function tagOf({ language, direction }: Literal): string {
  return direction ? `${language}--${direction}` : language
}
