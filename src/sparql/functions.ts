// Where the engine's functions do otherwise than SPARQL 1.1 has it (section 17): comparisons by the
// locale and the time zone of the process, literals that their datatype does not allow, and errors
// that would end the query. Of each function that the engine makes, this is put around.

import type { Term } from '@rdfjs/types'
import { NUMBER, orderedDatatypes } from '../graph/value/literal-value.js'
import { isAbsoluteIri, isLanguageTag } from '../rdf/terms.js'
import { compareTexts, rdf, xsd, xsdString } from '../terms.js'
import { spelledAs, type Spelled } from './answer-terms.js'
import type {
  EngineFunction,
  EngineLiteral,
  EngineParts,
  EngineTerm,
  Evaluator,
  TermTransformer,
} from './engine-parts.js'
import {
  dayAfterMonths,
  instantOf,
  millisecondsOf,
  monthsOf,
  withoutHour24,
  writtenDate,
  writtenDateTime,
  writtenTime,
  type Instant,
} from './instants.js'
import { hasScheme } from './iris.js'
import { isAllowed } from './lexical-forms.js'
import { mediatorOf, type Mediator } from './mediator.js'
import { lookUpMembers } from './membership.js'
import { kindOf, literalKinds, termOrder, type Compare, type Kind, type Kinds } from './order.js'

interface Comparator {
  readonly internalEvaluator: { readonly transformer: TermTransformer }
  orderTypes: Compare
}

interface Aggregator {
  state: Term | undefined
  readonly evaluator: { evaluate(row: unknown): Promise<Term | undefined> }
  readonly orderByEvaluator?: Comparator
  putTerm(term: Term): void
  /** Of SUM and AVG, what they add. */
  termToNumericOrError?(term: Term): EngineTerm
}

export function mendFunctions(engine: object, parts: EngineParts): void {
  keepTerms(parts.TermTransformer)
  checkForms(parts)
  writeWhole(parts)
  keepTexts(parts)
  const kinds = literalKinds(parts)
  const functions = mediatorOf<unknown, EngineFunction>(engine, 'mediatorFunctionFactory')
  around(functions, (made) => mend(made, parts, kinds))
  const comparators = mediatorOf<unknown, Comparator>(engine, 'mediatorTermComparatorFactory')
  around(comparators, (made) => {
    made.orderTypes = termOrder(made.internalEvaluator.transformer, kinds, parts)
  })
  const aggregators = mediatorOf<{ readonly expr: { readonly aggregator: string } }, Aggregator>(
    engine,
    'mediatorBindingsAggregatorFactory',
  )
  around(aggregators, (made, { expr: { aggregator } }) => {
    if (aggregator === 'min') takeAny(made, 1)
    if (aggregator === 'max') takeAny(made, -1)
    if (made.termToNumericOrError !== undefined) addNumbers(made, parts)
    // COUNT(*) evaluates nothing.
    if ('evaluator' in made) keepErrors(made, leavesErrors.has(aggregator), parts)
  })
}

function around<Action, Made>(
  mediator: Mediator<Action, Made>,
  change: (made: Made, action: Action) => void,
): void {
  const mediate = mediator.mediate.bind(mediator)
  mediator.mediate = async (action) => {
    const made = await mediate(action)
    change(made, action)
    return made
  }
}

/** MIN and MAX are by the order of ORDER BY (section 18.5.1.5), in which any terms are. */
function takeAny(aggregator: Aggregator, sign: number): void {
  const order = aggregator.orderByEvaluator
  if (order === undefined) throw new Error('this version of the SPARQL engine orders no terms')
  aggregator.putTerm = (term) => {
    const { state } = aggregator
    if (state === undefined || order.orderTypes(state, term) * sign > 0) aggregator.state = term
  }
}

/** The sum of one number is what it is, and would be so where that is none. */
function addNumbers(aggregator: Aggregator, parts: EngineParts): void {
  const toNumber = aggregator.termToNumericOrError?.bind(aggregator)
  aggregator.termToNumericOrError = (term) => {
    const number = toNumber?.(term)
    if (number !== undefined && !parts.isNonLexicalLiteral(number)) return number
    throw new parts.ExpressionError('no number')
  }
}

/** Of a set of errors and terms, these take the terms (sections 18.5.1.2 and 18.5.1.8). */
const leavesErrors = new Set(['count', 'sample'])

/** To the engine what is unbound is none of the set, and any other error is one of all; to SPARQL they are the same. */
function keepErrors(
  { evaluator }: Aggregator,
  isLeft: boolean,
  { ExpressionError }: EngineParts,
): void {
  const evaluate = evaluator.evaluate.bind(evaluator)
  evaluator.evaluate = async (row) => {
    try {
      return await evaluate(row)
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      if (isLeft) return undefined
      throw new ExpressionError('a row without a value')
    }
  }
}

function mend(made: EngineFunction, parts: EngineParts, kinds: Kinds): void {
  if (made.operator === 'in') lookUpMembers(made, parts)
  if (made.operator === 'bnode') labelNodes(made)
  const apply = made.apply
  made.apply = async (context) => {
    try {
      return await apply(context)
    } catch (error) {
      // A text or stack that grows too large is no error of an expression.
      if (error instanceof parts.ExpressionError || error instanceof RangeError) throw error
      throw new parts.ExpressionError(String(error))
    }
  }
  const own = mended[made.operator]
  const engines = made.applyOnTerms?.bind(made)
  if (engines === undefined) return
  made.applyOnTerms = (terms, evaluator) => {
    const result = own?.(
      { parts, kinds, evaluator, engines: () => engines(terms, evaluator) },
      ...terms,
    )
    return settled(result ?? engines(terms, evaluator), parts)
  }
}

/** A number of these types has an end, and no exponent. What is beyond a double has no value. */
function settled(result: EngineTerm, parts: EngineParts): EngineTerm {
  const { typedValue } = result
  if (typeof typedValue === 'object') return ofNextDay(result)
  if (typeof typedValue !== 'number' || Number.isFinite(typedValue)) return result
  const { constructor } = result
  if (constructor !== parts.IntegerLiteral && constructor !== parts.DecimalLiteral) return result
  throw new parts.ExpressionError('a number without an end')
}

/** Of a date as of what else there is. */
function ofNextDay(term: EngineTerm): EngineTerm {
  const instant = term.typedValue as Instant | undefined
  if (instant?.hours === 24) Object.assign(instant, withoutHour24(instant))
  return term
}

/**
 * STR() is the text that a literal has. The engine makes one of what it has read of a date, and writes
 * dates in the digits of the locale.
 */
function keepTexts(parts: EngineParts): void {
  const { DateTimeLiteral, DateLiteral, TimeLiteral } = parts
  const { DurationLiteral, YearMonthDurationLiteral } = parts
  for (const [{ prototype }, write] of [
    [DateTimeLiteral, writtenDateTime],
    [DateLiteral, writtenDate],
    [TimeLiteral, writtenTime],
    [DurationLiteral, undefined],
    [YearMonthDurationLiteral, undefined],
  ] as const) {
    const make = prototype.str
    prototype.str = function (this: { readonly strValue?: string; readonly typedValue: unknown }) {
      return this.strValue ?? write?.(this.typedValue as Instant) ?? make.call(this)
    }
  }
}

/** JavaScript writes numbers from here on with an exponent. */
const longNumber = 1e21

function writeWhole({ IntegerLiteral, DecimalLiteral }: EngineParts): void {
  for (const [{ prototype }, end] of [
    [IntegerLiteral, ''],
    [DecimalLiteral, '.0'],
  ] as const) {
    const format = prototype.specificFormatter
    if (format === undefined) throw new Error('this version of the SPARQL engine writes no numbers')
    prototype.specificFormatter = (value) =>
      Math.abs(value) >= longNumber && Number.isFinite(value) ? BigInt(value) + end : format(value)
  }
}

/** A node of BNODE(), which gets a number behind its label for each row that it is in. */
interface MadeNode {
  value: { readonly value: string }
}

/**
 * The engine takes the text for the label: that may be the label of another node, or be none, and would be one
 * with that of another row where it ends with a digit.
 */
function labelNodes(made: EngineFunction): void {
  const apply = made.apply
  made.apply = async (context) => {
    const node = await apply(context)
    const { value } = (node as unknown as MadeNode).value
    const hasText = (context as { readonly args: readonly unknown[] }).args.length > 0
    const label = hasText ? `t-${value.replace(/[^0-9A-Za-z]/g, inHex)}-` : `n-${value}-`
    Object.assign((node as unknown as MadeNode).value, { value: label })
    return node
  }
}

const inHex = (unit: string): string => `_${unit.charCodeAt(0).toString(16)}_`

interface Call {
  readonly parts: EngineParts
  readonly kinds: Kinds
  /** What the engine says, or throws. */
  readonly engines: () => EngineTerm
  readonly evaluator: Evaluator
}

type Own = (call: Call, ...terms: readonly EngineTerm[]) => EngineTerm | undefined

/** Types that the engine casts a text to by what it reads of it. */
const dated = ['dateTime', 'date', 'time', 'duration', 'yearMonthDuration', 'dayTimeDuration']

/** By the engine's names of operators. Undefined is for what the engine knows. */
const mended: Readonly<Record<string, Own>> = {
  '=': isEqual,
  '<': isLess,
  lang: languageOf,
  strlang: inLanguage,
  strlangdir: inDirection,
  strdt: ofType,
  datatype: ofIllTyped(({ parts }, { dataType }) => new parts.NamedNode(dataType)),
  isnumeric: ofIllTyped(({ parts }) => parts.bool(false)),
  [`${xsd}string`]: ofIllTyped(({ parts }, literal) => parts.string(literal.str())),
  [`${xsd}integer`]: castOf('integer'),
  [`${xsd}decimal`]: castOf('decimal'),
  [`${xsd}float`]: castOf('float'),
  [`${xsd}double`]: castOf('double'),
  ...Object.fromEntries(dated.map((name) => [xsd + name, ofAllowed(xsd + name)])),
  '+': (call, date, duration) => afterMonths(call, 1, date, duration),
  '-': (call, date, duration) => afterMonths(call, -1, date, duration),
  now,
  substr: takePart,
  strbefore: (call, text, part) => withLanguage(call, text, part),
  strafter: (call, text, part) => withLanguage(call, text, part),
  encode_for_uri: encode,
  iri: toIri,
  uri: toIri,
}

/**
 * RDFterm-equal (section 17.4.1.7), which is an error for most literals that are not the same term.
 * What is not of one language is never equal to what has it, nor a date to a time.
 */
function isEqual(
  { parts, kinds }: Call,
  left?: EngineTerm,
  right?: EngineTerm,
): EngineTerm | undefined {
  if (!isLiteral(left) || !isLiteral(right)) return undefined
  if (left.dataType === xsdString && right.dataType === xsdString) {
    return parts.bool(left.str() === right.str())
  }
  const [a, b] = [left.language, right.language]
  if (a !== undefined || b !== undefined) {
    return parts.bool(left.str() === right.str() && a?.toLowerCase() === b?.toLowerCase())
  }
  if (parts.isNonLexicalLiteral(left) && left.dataType === right.dataType) {
    return left.str() === right.str() ? parts.bool(true) : undefined
  }
  const [one, other] = [kindOf(left, kinds), kindOf(right, kinds)]
  if (!isInstant(one) || !isInstant(other)) return undefined
  return parts.bool(one === other && between(parts, left, right) === 0)
}

function isLess(
  { parts, kinds }: Call,
  left?: EngineTerm,
  right?: EngineTerm,
): EngineTerm | undefined {
  if (!isLiteral(left) || !isLiteral(right)) return undefined
  const kind = kindOf(left, kinds)
  if (kind !== kindOf(right, kinds)) return undefined
  if (kind?.name === xsdString) return parts.bool(compareTexts(left.str(), right.str()) < 0)
  return isInstant(kind) ? parts.bool(between(parts, left, right) < 0) : undefined
}

const instants = new Set([`${xsd}date`, `${xsd}dateTime`, `${xsd}time`])

const isInstant = (kind: Kind | undefined) => kind !== undefined && instants.has(kind.name)

const maxZoneMs = 14 * 3_600_000

/**
 * Milliseconds from the second to the first. Where one alone has a time zone, that of the other may be
 * any of 28 hours (XML Schema 1.1, D.2.1): less is an error. An order takes UTC for it, which is the same
 * where this is none.
 */
function between(
  { ExpressionError }: EngineParts,
  left: EngineLiteral,
  right: EngineLiteral,
): number {
  const [a, b] = [left.typedValue as Instant, right.typedValue as Instant]
  const difference = millisecondsOf(a) - millisecondsOf(b)
  const isSure = (a.zoneHours === undefined) === (b.zoneHours === undefined)
  if (isSure || Math.abs(difference) > maxZoneMs) return difference
  throw new ExpressionError('one of the two has no time zone')
}

/** As it was spelled: the engine has it in small letters. */
function languageOf({ parts }: Call, literal?: EngineTerm): EngineTerm | undefined {
  if (!isLiteral(literal)) return undefined
  // Also of one that its datatype does not allow.
  return parts.string(literal.rdf?.spelled ?? literal.language ?? '')
}

function inLanguage({ parts, engines }: Call, _text?: EngineTerm, tag?: EngineTerm): EngineTerm {
  const made = engines()
  checkTag(parts, tag)
  return backAs(spelledAs(made.str(), tag?.str() ?? ''), parts)
}

/** Of SPARQL 1.2, which the engine knows. */
function inDirection({ parts, engines }: Call, _text?: EngineTerm, tag?: EngineTerm): EngineTerm {
  const made = engines()
  checkTag(parts, tag)
  return made
}

function checkTag({ ExpressionError }: EngineParts, tag?: EngineTerm): void {
  if (!isLanguageTag(tag?.str() ?? '')) throw new ExpressionError('no language tag')
}

/** What has a language is of these types, and nothing else (RDF 1.1 Concepts, section 3.3). */
const languageTypes = new Set([`${rdf}langString`, `${rdf}dirLangString`])

function ofType({ parts, engines }: Call, _text?: EngineTerm, type?: EngineTerm): EngineTerm {
  const made = engines()
  if (languageTypes.has(type?.str() ?? '')) {
    throw new parts.ExpressionError('a type of what has a language')
  }
  return made
}

/** A term of the engine's functions that is this one where they give it back. */
function backAs(term: Spelled, parts: EngineParts): EngineTerm {
  const made = parts.langString(term.value, term.language)
  return Object.assign(made, { rdf: term, toRDF: () => term })
}

/**
 * The engine's functions make terms of their own, and terms of these: a tag would be spelled otherwise,
 * and a blank node would be none of its source any more.
 */
function keepTerms({ prototype }: EngineParts['TermTransformer']): void {
  const transform = prototype.transformTerm
  prototype.transformTerm = function (expression) {
    const made = ofNextDay(transform.call(this, expression))
    const { term } = expression
    if (!('spelled' in term) && !('skolemized' in term)) return made
    return Object.assign(made, { rdf: term, toRDF: () => term })
  }
}

/** What is not allowed has no value. As a condition, a number or a boolean that is none is false (section 17.2.2). */
function checkForms({ TermTransformer, NonLexicalLiteral }: EngineParts): void {
  const transform = TermTransformer.prototype.transformLiteral
  TermTransformer.prototype.transformLiteral = function (literal) {
    const { value, datatype } = literal
    if (isAllowed(value, datatype.value)) return transform.call(this, literal)
    return new NonLexicalLiteral(undefined, datatype.value, this.superTypeProvider, value)
  }
  const coerce = NonLexicalLiteral.prototype.coerceEBV
  NonLexicalLiteral.prototype.coerceEBV = function () {
    const { dataType } = this
    const isFalse =
      dataType === `${xsd}boolean` || orderedDatatypes.get(dataType)?.family === NUMBER
    return isFalse ? false : coerce.call(this)
  }
}

/** Of a literal that its datatype does not allow, which is a literal all the same. */
function ofIllTyped(make: (call: Call, literal: EngineLiteral) => EngineTerm): Own {
  return (call, literal) =>
    isLiteral(literal) && call.parts.isNonLexicalLiteral(literal) ? make(call, literal) : undefined
}

/** Of a text. The engine has a sign for an error here, and nothing or `0x10` for a number there. */
function castOf(type: 'integer' | 'decimal' | 'float' | 'double'): Own {
  return ({ parts }, text) => {
    if (!isLiteral(text) || text.dataType !== xsdString) return undefined
    const number = text.str().trim()
    if (!isAllowed(number, xsd + type)) throw new parts.ExpressionError('no number')
    return parts[type](Number(number.replace('INF', 'Infinity')))
  }
}

function ofAllowed(type: string): Own {
  return ({ parts }, text) => {
    const isText = isLiteral(text) && text.dataType === xsdString
    if (isText && !isAllowed(text.str(), type)) throw new parts.ExpressionError('no such literal')
    return undefined
  }
}

/** To the engine, a day that the month has not is one of the next month. */
function afterMonths(
  { parts, kinds, engines }: Call,
  sign: number,
  from?: EngineTerm,
  duration?: EngineTerm,
): EngineTerm | undefined {
  if (from === undefined || duration?.constructor !== parts.YearMonthDurationLiteral) {
    return undefined
  }
  const { year, month = 1, day = 1 } = (from.typedValue ?? {}) as Instant
  if (!isInstant(kindOf(from, kinds)) || year === undefined) return undefined
  const months = sign * monthsOf(duration.typedValue as Instant)
  const made = engines()
  Object.assign(made.typedValue as Instant, dayAfterMonths({ year, month, day }, months))
  return made
}

const timestamp = { name: '@comunica/actor-init-query:queryTimestamp' }

/** In UTC. The engine has the hours of the process, and a time zone of the other sign. */
function now({ engines, evaluator }: Call): EngineTerm {
  const at = evaluator.context.get(timestamp)
  if (!(at instanceof Date)) throw new Error('this version of the SPARQL engine knows no NOW()')
  const made = engines()
  Object.assign(made.typedValue as Instant, instantOf(at))
  return made
}

/** fn:substring(): characters before the first are there, and empty. */
function takePart(
  { parts, engines }: Call,
  text?: EngineTerm,
  start?: EngineTerm,
  length?: EngineTerm,
): EngineTerm {
  // Which has checked what they are.
  const taken = engines()
  const from = Number(start?.str()) - 1
  const to = length === undefined ? Infinity : from + Number(length.str())
  if (from >= 0 && to >= from) return taken
  const part = [...(text?.str() ?? '')].slice(Math.max(from, 0), Math.max(to, 0)).join('')
  const { language } = text as EngineLiteral
  return language === undefined ? parts.string(part) : parts.langString(part, language)
}

/** What is before or behind a match has the language of the text, also where it is empty. */
function withLanguage({ parts, engines }: Call, text?: EngineTerm, part?: EngineTerm): EngineTerm {
  const taken = engines()
  const { language } = text as EngineLiteral
  const isFound = text?.str().includes(part?.str() ?? '')
  if (language === undefined || taken.str() !== '' || !isFound) return taken
  return parts.langString('', language)
}

/** fn:encode-for-uri() */
function encode({ parts, engines }: Call, text?: EngineTerm): EngineTerm {
  // Which has checked what it is.
  engines()
  const encoded = encodeURIComponent(text?.str() ?? '')
  return parts.string(encoded.replace(/[!'()*]/g, percentEncoded))
}

/**
 * An absolute IRI stays as it is written (section 4.1.1): the engine takes dots out of its path. What is
 * none in the end is an error, as IRI() makes none then.
 */
function toIri({ parts, engines }: Call, iri?: EngineTerm): EngineTerm {
  const made = engines()
  if (iri?.termType === 'namedNode') return iri
  const text = iri?.str() ?? ''
  const absolute = hasScheme(text) ? text : made.str()
  if (!isAbsoluteIri(absolute)) throw new parts.ExpressionError('no absolute IRI')
  return new parts.NamedNode(absolute)
}

function isLiteral(term: EngineTerm | undefined): term is EngineLiteral {
  return term?.termType === 'literal'
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
