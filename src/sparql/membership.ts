// IN and NOT IN (SPARQL 1.1, sections 17.4.1.9 and 17.4.1.10). The engine copies what it has found so far for each term
// of the list that it passes, which is a square of the list: 5,000 rows with 800 IRIs took 14 to 17 s, and take 0.3 s.

import { xsdString } from '../terms.js'
import type {
  EngineFunction,
  EngineLiteral,
  EngineParts,
  EngineTerm,
  Evaluator,
} from './engine-parts.js'

/** An expression of the engine. One that is a term as it stands is an EngineTerm, too. */
interface Expression {
  readonly expressionType: string
}

interface Call {
  /** The same for all rows: what is sought, and the list. */
  readonly args: readonly [Expression, ...Expression[]]
  readonly mapping: unknown
  readonly exprEval: Evaluator
}

/** `made` is the engine's IN, which its NOT IN calls. */
export function lookUpMembers(made: EngineFunction, parts: EngineParts): void {
  const equality = made.equalityFunction
  const compare = equality?.applyOnTerms?.bind(equality)
  if (compare === undefined) {
    throw new Error('this version of the SPARQL engine compares the terms of IN otherwise')
  }
  const lists = new WeakMap<object, List>()
  made.apply = async (context) => {
    const { args, mapping, exprEval } = context as Call
    const sought = await exprEval.evaluatorExpressionEvaluation(args[0], mapping)
    let list = lists.get(args)
    if (list === undefined) lists.set(args, (list = new List(args.slice(1))))
    if (list.has(sought)) return parts.bool(true)
    let failure: unknown
    for (const expression of list.toCompare(sought)) {
      try {
        const term = isTerm(expression)
          ? expression
          : await exprEval.evaluatorExpressionEvaluation(expression, mapping)
        if (compare([sought, term], exprEval).typedValue === true) return parts.bool(true)
      } catch (error) {
        if (error instanceof RangeError) throw error
        failure ??= error
      }
    }
    if (failure !== undefined) throw failure
    return parts.bool(false)
  }
}

/** IRIs and plain texts are looked up. Of what cannot be equal one is enough to say whether that is an error. */
class List {
  readonly #iris = new Set<string>()
  readonly #texts = new Map<string, EngineTerm>()
  readonly #oneText: readonly EngineTerm[]
  readonly #numbers: EngineTerm[] = []
  /** Other literals, and what is no term as it stands. */
  readonly #others: Expression[] = []

  constructor(expressions: readonly Expression[]) {
    for (const expression of expressions) {
      const kind = isTerm(expression) ? kindOf(expression) : 'other'
      if (kind === 'other' || !isTerm(expression)) this.#others.push(expression)
      else if (kind === 'iri') this.#iris.add(expression.str())
      else if (kind === 'text') this.#texts.set(expression.str(), expression)
      else this.#numbers.push(expression)
    }
    this.#oneText = [...this.#texts.values()].slice(0, 1)
  }

  has(term: EngineTerm): boolean {
    const kind = kindOf(term)
    if (kind === 'iri') return this.#iris.has(term.str())
    return kind === 'text' && this.#texts.has(term.str())
  }

  /** Of a list that does not have the term by itself. No IRI is equal to a literal. */
  *toCompare(term: EngineTerm): Generator<Expression | EngineTerm, void, undefined> {
    const kind = kindOf(term)
    if (kind !== 'iri') {
      // A text and a number are an error, whichever they are: half a minute to make 4,000,000 of it.
      yield* kind === 'text' ? this.#numbers.slice(0, 1) : this.#numbers
      if (kind === 'number') yield* this.#oneText
      else if (kind === 'other') yield* this.#texts.values()
    }
    yield* this.#others
  }
}

type Kind = 'iri' | 'text' | 'number' | 'other'

function kindOf(term: EngineTerm): Kind {
  if (term.termType === 'namedNode') return 'iri'
  if (term.termType !== 'literal') return 'other'
  if ((term as EngineLiteral).dataType === xsdString) return 'text'
  return typeof term.typedValue === 'number' ? 'number' : 'other'
}

function isTerm(expression: Expression | EngineTerm): expression is EngineTerm {
  return 'expressionType' in expression && expression.expressionType === 'term'
}
