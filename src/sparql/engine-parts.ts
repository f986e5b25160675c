// What is used of the engine's own packages: terms, functions and what makes them.

import type { Literal, Term } from '@rdfjs/types'
import type { Spelled } from './answer-terms.js'

/** A term as the engine's functions have it. */
export interface EngineTerm {
  readonly termType: string
  /** Of a literal, what it stands for. */
  readonly typedValue?: unknown
  str(): string
}

export interface EngineLiteral extends EngineTerm {
  readonly dataType: string
  readonly language?: string
  /** The term that it was made of, where that says more. */
  readonly rdf?: Spelled
  /** Of a date, its parts. */
  readonly typedValue: unknown
}

export interface Evaluator {
  readonly context: { get(key: { readonly name: string }): unknown }
  evaluatorExpressionEvaluation(expression: unknown, row: unknown): Promise<EngineTerm>
}

export interface EngineFunction {
  readonly operator: string
  apply(context: unknown): Promise<EngineTerm>
  /** Of those that take terms, whatever expressions these come from. */
  applyOnTerms?(terms: readonly EngineTerm[], evaluator: Evaluator): EngineTerm
  /** Of `in`: what compares with each of the list. */
  readonly equalityFunction?: EngineFunction
}

/** Those parts of the engine's own packages that are used. */
export interface EngineParts {
  readonly ExpressionError: new (message: string) => Error
  readonly NamedNode: new (iri: string) => EngineTerm
  readonly bool: (value: boolean) => EngineTerm
  readonly integer: (value: number) => EngineTerm
  readonly decimal: (value: number) => EngineTerm
  readonly float: (value: number) => EngineTerm
  readonly double: (value: number) => EngineTerm
  readonly string: (value: string) => EngineTerm
  readonly langString: (value: string, language: string) => EngineTerm
  readonly isNonLexicalLiteral: (term: EngineTerm) => unknown
  /** Of a literal that its datatype does not allow. */
  readonly NonLexicalLiteral: NonLexicalClass
  readonly TermTransformer: { readonly prototype: TermTransformer }
  readonly BooleanLiteral: LiteralClass
  readonly DateLiteral: LiteralClass
  readonly DateTimeLiteral: LiteralClass
  readonly DayTimeDurationLiteral: LiteralClass
  readonly DecimalLiteral: LiteralClass
  readonly DoubleLiteral: LiteralClass
  readonly DurationLiteral: LiteralClass
  readonly FloatLiteral: LiteralClass
  readonly IntegerLiteral: LiteralClass
  readonly StringLiteral: LiteralClass
  readonly TimeLiteral: LiteralClass
  readonly YearMonthDurationLiteral: LiteralClass
}

/** Of literals of one datatype and those derived of it, where their texts are such. */
export interface LiteralClass {
  readonly prototype: {
    str(): string
    /** Of a number, its text. */
    specificFormatter?(value: number): string
  }
}

interface NonLexicalClass {
  new (value: undefined, dataType: string, superTypes: unknown, text: string): EngineTerm
  /** What a condition takes it for (section 17.2.2). */
  readonly prototype: { coerceEBV(this: EngineLiteral): boolean }
}

/** What makes terms of RDF into those of the engine's functions. */
export interface TermTransformer {
  readonly superTypeProvider: unknown
  transformLiteral(literal: Literal): EngineTerm
  transformTerm(expression: { readonly term: Term }): EngineTerm
  transformRDFTermUnsafe(term: Term): EngineTerm
}
