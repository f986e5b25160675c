// The text of a query, as the algebra that the engine runs; less what it shall not run.

import { quoted } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import type { Dataset } from '../graph/rdf-source.js'
import { rdfFactory } from '../rdf/factory.js'
import { xsd } from '../terms.js'
import { ungroupedVariable } from './grouping.js'
import { resolveIris } from './iris.js'
import type { Peer } from './peer.js'
import { queryError } from './query-error.js'
import { functionNames, whyUnsupported } from './regex.js'
import { become, coalesce, type Operation } from './operation.js'

interface ParsedQuery {
  readonly operation: Operation
  /** The variables of a SELECT in their order. */
  readonly variables: readonly string[]
  /** What IRI() resolves against: the last BASE of the query, or that of the request. */
  readonly baseIRI: string | undefined
  /** By FROM and FROM NAMED; undefined without. */
  readonly dataset: Dataset | undefined
}

/** @throws LorekeepError `LK_GRAPH_QUERY`, with `errors` in `details`, and the line where it is known */
export function parseQuery(
  { parser, toAlgebra, resolve }: Peer,
  text: string,
  baseIRI: string | undefined,
): ParsedQuery {
  try {
    const base = baseIRI === undefined ? {} : { baseIRI }
    const syntax = parser.parse(text, { prefixes: {}, ...base })
    if (syntax.type !== 'query') {
      // The parser takes an empty text for an update that does nothing.
      const isEmpty = syntax.updates?.every(({ operation }) => operation === undefined)
      if (!isEmpty) throw refused('an update, and a graph can only be read')
      throw refused('nothing in it that asks: write SELECT, ASK, CONSTRUCT or DESCRIBE')
    }
    const lastBase = resolveIris(syntax, baseIRI, resolve)
    const options = { quads: false, blankToVariable: true, prefixes: {}, ...base }
    const whole = toAlgebra(syntax, options)
    const isFrom = whole.type === 'from'
    const operation = isFrom ? (whole.input as Operation) : whole
    makeSafe(operation)
    return {
      operation,
      variables: variablesOf(operation),
      baseIRI: lastBase,
      dataset: isFrom ? datasetOf(whole) : undefined,
    }
  } catch (error) {
    throw error instanceof LorekeepError ? error : unparsed(text, error)
  }
}

/** Without one of the two, it is empty: SPARQL 1.1 Query, section 13.2. */
function datasetOf(from: Operation): Dataset {
  const names = (terms: unknown) =>
    (terms as readonly { value: string }[]).map(({ value }) => value)
  return { defaultGraphs: names(from.default), namedGraphs: names(from.named) }
}

function makeSafe(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(makeSafe)
  if (typeof node !== 'object' || node === null) return
  const operation = node as Operation
  if (operation.termType === 'Variable') return checkVariable(operation)
  if (operation.type === 'service') throw refused('SERVICE, and there is no other endpoint to ask')
  if (operation.subType === 'named') checkFunction(operation)
  if (operation.type === 'project') checkProjection(operation)
  if (operation.type === 'construct') (operation.template as Operation[]).forEach(endLabels)
  for (const part of Object.values(operation)) makeSafe(part)
  if (operation.subType === 'operator' && functionNames.has(operation.operator)) {
    replaceRegex(operation)
  }
  if (operation.type === 'filter' || operation.type === 'leftjoin') makeFilterSafe(operation)
  // REDUCED may leave every row. The engine takes those of the same texts for one, whatever their types.
  if (operation.type === 'reduced') become(operation, operation.input as Operation)
}

/** The engine puts the number of the row behind a label: `_:b1` of one would be `_:b` of another. */
function endLabels(triple: Operation): void {
  for (const place of ['subject', 'predicate', 'object']) {
    const term = triple[place] as Operation
    if (term.termType === 'Quad') endLabels(term)
    if (term.termType === 'BlankNode')
      triple[place] = rdfFactory.blankNode(`${String(term.value)}-`)
  }
}

/**
 * The engine looks at what an OPTIONAL or an EXISTS finds with the values of the row in place, but
 * leaves them out of filters that are a variable, a constant or a cast.
 */
function makeFilterSafe({ expression }: Operation): void {
  const { subType } = (expression ?? {}) as Operation
  if (subType === 'term' || subType === 'named') coalesce(expression as Operation)
}

/**
 * The engine keeps variables in plain objects. `?constructor` would give wrong answers, and
 * `?__proto__` would change every object of the process.
 */
function checkVariable({ value }: Operation): void {
  if (String(value) in {}) throw refused(`the variable ?${value}, which needs another name`)
}

function checkProjection(operation: Operation): void {
  const name = ungroupedVariable(operation)
  if (name === undefined) return
  throw refused(`?${name} in a SELECT with groups: name it in GROUP BY, or aggregate it`)
}

const casts = new Set(
  `boolean date dateTime dayTimeDuration decimal double duration float integer string time
  yearMonthDuration`.split(/\s+/),
)

function checkFunction(operation: Operation): void {
  const { value } = operation.name as { value: string }
  const isKnown = value.startsWith(xsd) && casts.has(value.slice(xsd.length))
  if (!isKnown) throw refused(`the function <${value}>, and there is none of this name`)
}

/** The engine's own REGEX and REPLACE backtrack, for years with a hostile pattern. */
function replaceRegex(operation: Operation): void {
  const [, pattern, ...others] = operation.args as readonly Operation[]
  const flags = others[operation.operator === 'regex' ? 0 : 1]
  checkPattern(constantOf(pattern), flags === undefined ? '' : constantOf(flags))
  operation.subType = 'named'
  operation.name = rdfFactory.namedNode(functionNames.get(operation.operator) as string)
}

function checkPattern(pattern: string | undefined, flags: string | undefined): void {
  if (pattern === undefined || flags === undefined) return
  const reason = whyUnsupported(pattern, flags)
  if (reason === undefined) return
  throw refused(`the pattern ${quoted(pattern)}: ${reason}`)
}

function constantOf(expression: Operation | undefined): string | undefined {
  const { termType, value } = (expression?.term ?? {}) as { termType?: unknown; value?: unknown }
  return termType === 'Literal' && typeof value === 'string' ? value : undefined
}

/** The outermost projection, below LIMIT, DISTINCT and the like. */
function variablesOf(operation: Operation): readonly string[] {
  for (let at: unknown = operation; at !== undefined;) {
    const { type, variables, input } = at as Operation
    if (type === 'project') return (variables as { value: string }[]).map(({ value }) => value)
    at = input
  }
  return []
}

function refused(what: string): LorekeepError {
  return queryError(`the query has ${what}`)
}

function unparsed(text: string, error: unknown): LorekeepError {
  const message = error instanceof RangeError ? 'it is nested too deeply' : String(error)
  const [, offset] = /\bat offset: (\d+)/.exec(message) ?? []
  const [, inWords] = /\bon line (\d+)/.exec(message) ?? []
  const line =
    offset === undefined ? Number(inWords ?? NaN) : text.slice(0, Number(offset)).split('\n').length
  const known = Number.isNaN(line) ? undefined : line
  const where = known === undefined ? '' : ` in line ${known}`
  const what = `the SPARQL cannot be read${where}: ${reasonOf(message)}`
  return queryError(what, { line: known, cause: error })
}

/** The parser's messages draw the place, name its tokens and say what was found in their last line. */
function reasonOf(message: string): string {
  const [, character] = /unexpected character: ->(.)<-/su.exec(message) ?? []
  if (character !== undefined) return `unexpected ${quoted(character)}`
  // Before these it draws the line of the query.
  const said = message.slice(Math.max(0, message.lastIndexOf('Expecting')))
  const [, one, instead] =
    /^Expecting(?: token of type)? --> (.*?) <-- but found --> '(.*)' <--$/su.exec(said) ?? []
  if (one !== undefined && instead !== undefined) return expectedOf([one], instead)
  const [, behind] = /expecting EOF but found: (.*)$/su.exec(message) ?? []
  if (behind !== undefined) return expectedOf(['its end'], behind)
  const [expected = '', found] = said.split(/\nbut found: '(.*)'$/su)
  if (found !== undefined) {
    const tokens = [...expected.matchAll(/\[([^\]]+)\]/g)]
    return expectedOf(
      tokens.map(([, token]) => String(token)),
      found,
    )
  }
  if (message.endsWith('Variable not allowed in projection')) {
    return 'a SELECT with groups has a variable that is neither in GROUP BY nor aggregated'
  }
  return (message.split('\n').at(-1) ?? message).replace(/^Error: /, '')
}

const mostNamed = 8

function expectedOf(tokens: readonly string[], found: string): string {
  const names = [...new Set(tokens.map(nameOf))]
  const some = names.slice(0, mostNamed).join(', ') + (names.length > mostNamed ? ' …' : '')
  const what = found === '' ? 'it ends' : `found ${quoted(found)}`
  return `${what}, expected ${names.length > 1 ? 'one of ' : ''}${some}`
}

/** A token of the parser, in words. */
function nameOf(token: string): string {
  if (/^Var\d$/.test(token)) return 'a variable'
  if (/^(?:IriRef|PName)/.test(token)) return 'an IRI'
  if (token.startsWith('String')) return 'a text'
  if (/^(?:Integer|Decimal|Double)/.test(token)) return 'a number'
  if (token === 'BlankNodeLabel' || token === 'Anon') return 'a blank node'
  return token.replace(/^type declaration /, '')
}
