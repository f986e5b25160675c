// The SPARQL engine, an optional peer: what is used of it, and how it comes into memory.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Quad, Source, Term, Variable } from '@rdfjs/types'
import { LorekeepError } from '../errors.js'
import { rdfFactory } from '../rdf/factory.js'
import type { EngineParts } from './engine-parts.js'
import { mendFunctions } from './functions.js'
import type { Syntax } from './iris.js'
import { mediatorOf } from './mediator.js'
import { mendEnds, mendUnions, type EndingIterator, type UnionIterator } from './iterators.js'
import { mendMinus } from './minus.js'
import { mendRowKeys, type RowCounter, type RowTexts } from './row-keys.js'
import { mendPathActors, mendPathIterators } from './paths.js'
import type { LateIterator, PathIterator } from './paths.js'
import { quietTasks, type EngineStream } from './question.js'
import type { Operation } from './operation.js'

const packageName = '@comunica/query-sparql-rdfjs-lite'

export type EngineBindings = Iterable<readonly [Variable, Term]>

type EngineResult =
  | {
      readonly resultType: 'bindings'
      readonly execute: () => Promise<EngineStream<EngineBindings>>
    }
  | { readonly resultType: 'quads'; readonly execute: () => Promise<EngineStream<Quad>> }
  | { readonly resultType: 'boolean'; readonly execute: () => Promise<boolean> }

export type EngineFunction = (terms: readonly Term[]) => Promise<Term>

interface EngineContext {
  readonly sources: readonly Source[]
  readonly extensionFunctions: Readonly<Record<string, EngineFunction>>
  readonly baseIRI?: string
}

export interface Peer {
  readonly parser: { parse(text: string, context: object): Syntax }
  readonly toAlgebra: (syntax: Syntax, options: object) => Operation
  /** A relative IRI against a base. */
  readonly resolve: (iri: string, base: string) => string
  /** A term as the engine has it from the one source that a query is about: blank nodes get other labels. */
  readonly ofSource: (term: Term) => Term
  readonly engine: { query(operation: Operation, context: EngineContext): Promise<EngineResult> }
}

export function isPeerInstalled(require = createRequire(import.meta.url)): boolean {
  try {
    require.resolve(packageName)
    return true
  } catch {
    // Node remembers that it was not there, and it may have come since.
    const folders = require.resolve.paths(packageName) ?? []
    return folders.some((folder) => existsSync(join(folder, packageName, 'package.json')))
  }
}

/** One engine for the process, made when it is first asked for: that takes a second or two. */
export const loadPeer = peerLoader(() => import('@comunica/query-sparql-rdfjs-lite'))

interface EnginePackage {
  readonly QueryEngine: new () => unknown
}

export function peerLoader(importEngine: () => Promise<EnginePackage>): () => Promise<Peer> {
  let loaded: Promise<Peer> | undefined
  return () => {
    loaded ??= importEngine()
      .then(peerOf)
      .catch((cause: unknown) => {
        loaded = undefined
        if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
        throw new LorekeepError(
          'LK_PEER_MISSING',
          `SPARQL needs ${packageName}: npm install ${packageName}@5`,
          { cause, details: { package: packageName } },
        )
      })
    return loaded
  }
}

function peerOf({ QueryEngine }: EnginePackage): Peer {
  // By the parts of it that are used: its types come with hundreds more.
  const engine = new QueryEngine() as Peer['engine']
  // The engine would parse a query by itself, and run what we do not want run. The packages that it
  // does this with, and its scheduler, are found by its own way to them.
  const require = createRequire(createRequire(import.meta.url).resolve(packageName))
  const parsing = createRequire(require.resolve('@comunica/actor-query-parse-sparql'))
  const reading = createRequire(require.resolve('@comunica/actor-query-source-identify-rdfjs'))
  const { Parser } = parsing('@traqula/parser-sparql-1-2') as {
    Parser: new (options: object) => Peer['parser']
  }
  const { toAlgebra } = parsing('@traqula/algebra-sparql-1-2') as Pick<Peer, 'toAlgebra'>
  const expressions = createRequire(
    require.resolve('@comunica/actor-expression-evaluator-factory-default'),
  )
  mendFunctions(engine, expressions('@comunica/utils-expression-evaluator') as EngineParts)
  keepEmptyParts(engine)
  const joining = createRequire(require.resolve('@comunica/actor-rdf-join-minus-hash'))
  const { termToString } = joining('rdf-string') as { termToString(term: Term): string }
  mendMinus(engine, termToString)
  const grouping = createRequire(require.resolve('@comunica/actor-query-operation-group'))
  const texts = grouping('@comunica/utils-bindings-factory/lib/bindingsToString') as RowTexts
  const { WildcardCountAggregator } =
    require('@comunica/actor-bindings-aggregator-factory-wildcard-count') as {
      WildcardCountAggregator: { readonly prototype: RowCounter }
    }
  mendRowKeys(engine, texts, WildcardCountAggregator.prototype, termToString)
  const asynciterator = reading('asynciterator') as Iterators
  mendPathActors(engine, asynciterator.TransformIterator)
  const paths = createRequire(require.resolve('@comunica/actor-query-operation-path-zero-or-more'))
  const { PathVariableObjectIterator } = paths('@comunica/actor-abstract-path') as {
    PathVariableObjectIterator: { readonly prototype: PathIterator }
  }
  mendPathIterators(PathVariableObjectIterator.prototype)
  const iris = createRequire(require.resolve('@comunica/actor-function-factory-term-iri'))
  const { resolve } = iris('relative-to-absolute-iri') as Pick<Peer, 'resolve'>
  asynciterator.setTaskScheduler(quietTasks(asynciterator.getTaskScheduler()))
  mendUnions(asynciterator.UnionIterator.prototype)
  mendEnds(asynciterator.AsyncIterator.prototype, (task) => asynciterator.getTaskScheduler()(task))
  const { skolemizeTerm } =
    require('@comunica/actor-optimize-query-operation-query-source-skolemize') as {
      skolemizeTerm(factory: typeof rdfFactory, term: Term, source: string): Term
    }
  const { lex } = parsing('@traqula/rules-sparql-1-2') as {
    lex: { sparql12LexerBuilder: { tokenVocabulary: readonly Token[] } }
  }
  const parser = withDecimals(
    lex.sparql12LexerBuilder.tokenVocabulary,
    () => new Parser({ lexerConfig: { positionTracking: 'full' } }),
  )
  const ofSource = (term: Term) => skolemizeTerm(rdfFactory, term, '0')
  return { engine, parser, toAlgebra, resolve, ofSource }
}

interface Plan {
  readonly operation: Operation
  readonly context: unknown
}

/**
 * The engine leaves out patterns of which it knows no triple, and then also what is around them: a
 * whole SELECT where they are in a MINUS or an EXISTS of it, or are counted, and a path of no length.
 */
function keepEmptyParts(engine: object): void {
  const optimisers = mediatorOf<Plan, Plan>(engine, 'mediatorOptimizeQueryOperation').bus.actors
  const pruning = optimisers.find(({ name }) => name.endsWith('#prune-empty-source-operations'))
  if (pruning) pruning.run = async ({ operation, context }) => ({ operation, context })
}

interface Iterators {
  getTaskScheduler(): (task: () => void) => void
  setTaskScheduler(schedule: (task: () => void) => void): void
  readonly TransformIterator: LateIterator
  readonly AsyncIterator: { readonly prototype: EndingIterator }
  readonly UnionIterator: { readonly prototype: UnionIterator }
}

interface Token {
  readonly name: string
  PATTERN?: unknown
}

/** `.5` is a decimal. The engine's parser wants a digit before the point, but may be made otherwise. */
function withDecimals<T>(tokens: readonly Token[], make: () => T): T {
  const signs: Readonly<Record<string, string>> = {
    Decimal: '',
    DecimalPositive: '\\+',
    DecimalNegative: '-',
  }
  const decimals = tokens.filter(({ name }) => signs[name] !== undefined)
  const patterns = decimals.map(({ PATTERN }) => PATTERN)
  for (const token of decimals) token.PATTERN = new RegExp(`${signs[token.name]}\\d*\\.\\d+`)
  try {
    return make()
  } finally {
    // They are those of others, too.
    decimals.forEach((token, at) => (token.PATTERN = patterns[at]))
  }
}
