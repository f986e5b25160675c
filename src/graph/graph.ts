import { setImmediate as turn } from 'node:timers/promises'
import { StreamedAnswer } from './answer/answer.js'
import type { Embedder, Term, Triple, Vector } from '../types.js'
import { exactCount, Matches, type OpenView } from './matches.js'
import { GraphNames } from './graph-names.js'
import { Holding } from './holding.js'
import { withBlocks } from './miss.js'
import { Neighbours } from './neighbours.js'
import { checkOptions, type Values } from '../door/options.js'
import { aCount, aFlag, anyValue, aSignal, aList } from '../door/rules.js'
import { aLimit, Question } from './question.js'
import { rdfSource } from './rdf-source.js'
import { results, type Answer } from './results.js'
import { retrieve } from './retrieve/retrieve.js'
import { checkRetrieval } from './retrieve/query.js'
import { checkSearch } from './search/query.js'
import { search } from './search/search.js'
import { checkDuplicates, findDuplicates } from './same/duplicates.js'
import { checkPair, checkWhole, planMerge, planSplit, type Plan } from './same/plan.js'
import { TextRows } from './text-rows.js'
import { Solutions } from './solve/solutions.js'
import { Solver, type SolverOptions } from './solve/solver.js'
import type {
  AnswerQuery,
  AnswerStream,
  AskOptions,
  Bindings,
  Duplicate,
  DuplicatesOptions,
  EntityPattern,
  FoundPassage,
  Graph,
  GraphQuery,
  GraphSnapshot,
  MatchOptions,
  NearEntity,
  NearestOptions,
  PatternOptions,
  Neighbour,
  QuadSource,
  QueryPattern,
  RetrieveQuery,
  SearchQuery,
  SolveOptions,
  Subgraph,
  TriplePattern,
  Variable,
} from './types.js'
import { nearest } from './vectors/nearest.js'
import type { VectorMemory } from './vectors/memory.js'
import { GraphVersion, type HeldParts, type PartOfVersion } from './version.js'
import type { PartedView, TellingView } from './view.js'
import { eitherOf } from '../in-flight.js'
import { traceMethods } from '../tracing.js'

export interface GraphParts {
  /** At once where all of it is known already. */
  readonly open: (
    query: GraphQuery,
    signal: AbortSignal | undefined,
  ) => HeldParts | Promise<HeldParts>
  /** Aborts when the store gives up waiting for questions under way. */
  readonly closing: AbortSignal
  /** Aborts as soon as the store closes: what only waits for questions lets go. */
  readonly closed: AbortSignal
  readonly memory: VectorMemory
  /** Makes vectors of questions. */
  readonly embed: Embedder
  /** Whether no model makes them. */
  readonly isOffline: boolean
  /** Writes down what is one. */
  readonly decide: Decide
}

/** Carries out what is planned of the newest version; plans again where others were faster. */
export type Decide = (
  query: GraphQuery,
  plan: () => Promise<Plan | undefined>,
  signal: AbortSignal | undefined,
) => Promise<void>

/** What a view has learnt serves the next question. */
interface KnownVersion {
  readonly parts: readonly PartOfVersion[]
  readonly version: GraphVersion
}

export class StoredGraph implements Graph {
  readonly #parts: GraphParts
  readonly #query: GraphQuery
  /** The last version that was asked. */
  #last: KnownVersion | undefined

  constructor(parts: GraphParts, query: GraphQuery, known?: KnownVersion) {
    this.#parts = parts
    this.#query = query
    this.#last = known
  }

  match(pattern?: TriplePattern, options?: PatternOptions): AsyncIterable<Triple> {
    const { byText, ...checked } = checkOptions('match()', options, patternOptions)
    const asked = checkPattern(pattern)
    if (byText !== true) return this.#matches(asked, checked)
    if (asked.filter !== undefined) {
      const question = new Question()
      question.problems.fail('filter', 'cannot be used with byText: texts alone have no values')
      question.end()
    }
    const { limit = Infinity, signal } = checked
    // A literal of the pattern is not the one that is found.
    const entities = { s: entityOnly(asked.s), p: entityOnly(asked.p), o: entityOnly(asked.o) }
    return this.#results(
      signal,
      (open) => new Matches(open, entities, limit, new TextRows(open.version.view, asked)),
    )
  }

  async count(pattern?: TriplePattern, options?: AskOptions): Promise<number> {
    const { signal } = checkOptions('count()', options, askOptions)
    const asked = checkPattern(pattern)
    const open = await this.#open(signal)
    try {
      open.check()
      const { view } = open
      const exact = await withBlocks(() => exactCount(view, asked))
      if (exact !== undefined) return exact
      const matches = new Matches({ ...open, release: () => undefined }, asked, Infinity)
      return await matches.count()
    } finally {
      open.release()
    }
  }

  solve(patterns: readonly QueryPattern[], options?: SolveOptions): AsyncIterable<Bindings> {
    const { signal, select, ...chosen } = checkOptions('solve()', options, solveOptions)
    const question = new Question()
    const asked = question.queryPatterns(patterns, 'patterns')
    const selected = question.selection(select, 'select')
    question.end()
    const { distinct = false, limit = Infinity, maxDistinctBytes = Infinity } = chosen
    const wanted = { select: selected, distinct, limit, maxDistinctBytes }
    return this.#results(signal, (open) => solved(open, asked, wanted))
  }

  async nearest(vector: Vector, options: NearestOptions = {}): Promise<NearEntity[]> {
    const { where, ...others } = checkOptions('nearest()', options, nearestOptions)
    const question = new Question()
    const patterns = question.entityPatterns(where, 'where')
    const asked = question.vector(vector, 'vector')
    question.end()
    const open = await this.#open(options.signal)
    try {
      open.check()
      return await this.#nearest(open, asked, others, patterns)
    } finally {
      open.release()
    }
  }

  async retrieve(query: RetrieveQuery): Promise<Subgraph> {
    const { closing } = this.#parts
    const retrieval = await checkRetrieval(query, this.#parts, closing)
    const open = await this.#open(retrieval.signal)
    open.version.bring()
    try {
      const asked = {
        view: open.view,
        nearest: (vector: Vector, options: NearestOptions) =>
          this.#nearest(open, vector, options, []),
        passages: () => open.version.passages({ cores: undefined, collection: undefined }),
        coreOf: (s: number, p: number, o: number) => open.version.coreOf(s, p, o),
      }
      return await retrieve(asked, retrieval)
    } finally {
      open.release()
    }
  }

  answer(query: AnswerQuery): AnswerStream {
    return new StreamedAnswer(query, (asked) => this.retrieve(asked))
  }

  async search(query: SearchQuery): Promise<FoundPassage[]> {
    const checked = checkSearch(query, this.#parts.closing)
    const open = await this.#open(checked.question.signal)
    try {
      const sets = await open.version.passages(checked, open.check)
      return await search(open.view, sets, checked)
    } finally {
      open.release()
    }
  }

  async duplicates(options?: DuplicatesOptions): Promise<Duplicate[]> {
    const asked = checkDuplicates(options, this.#parts.closing)
    const open = await this.#open(options?.signal)
    try {
      return await findDuplicates(open.view, asked)
    } finally {
      open.release()
    }
  }

  async merge(a: Term, b: Term, options?: AskOptions): Promise<void> {
    const { signal } = checkOptions('merge()', options, askOptions)
    await this.#decide(checkPair(a, b), planMerge, signal)
  }

  async split(a: Term, b: Term, options?: AskOptions): Promise<void> {
    const { signal } = checkOptions('split()', options, askOptions)
    await this.#decide(checkPair(a, b), planSplit, signal)
  }

  async #decide(
    pair: readonly [Term, Term],
    planOf: typeof planMerge,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    checkWhole(this.#query, this instanceof StoredSnapshot)
    const plan = async () => {
      const open = await this.#open(signal)
      try {
        open.check()
        return await planOf(open.view, pair, open.check)
      } finally {
        open.release()
      }
    }
    await this.#parts.decide(this.#query, plan, signal)
  }

  neighbours(term: Term, options?: MatchOptions): AsyncIterable<Neighbour> {
    const { limit = Infinity, signal } = checkOptions('neighbours()', options, matchOptions)
    const asked = checkTerm(term)
    return this.#results(signal, (open) => new Neighbours(open, asked, limit))
  }

  describe(term: Term, options?: MatchOptions): AsyncIterable<Triple> {
    const checked = checkOptions('describe()', options, matchOptions)
    return this.#matches({ s: checkTerm(term) }, checked)
  }

  graphs(options?: AskOptions): AsyncIterable<string> {
    const { signal } = checkOptions('graphs()', options, askOptions)
    return this.#results(signal, (open) => new GraphNames(open))
  }

  async snapshot(options?: AskOptions): Promise<GraphSnapshot> {
    const { signal } = checkOptions('snapshot()', options, askOptions)
    const { parts: held, version, release } = await this.#open(signal)
    const holding = new Holding({ parts: held, release }, this.#parts.closed)
    const parts = { ...this.#parts, open: holding.open }
    const snapshot = new StoredSnapshot(parts, this.#query, { parts: held, version }, holding)
    holding.closeAfter(snapshot)
    return snapshot
  }

  source(): QuadSource {
    return rdfSource(this)
  }

  #matches(
    asked: TriplePattern,
    { limit = Infinity, signal }: Values<typeof matchOptions>,
  ): AsyncIterable<Triple> {
    return this.#results(signal, (open) => new Matches(open, asked, limit))
  }

  #results<T>(
    signal: AbortSignal | undefined,
    answer: (open: OpenVersion) => Answer<T>,
  ): AsyncIterable<T> {
    return results(() => {
      const open = this.#open(signal)
      return open instanceof Promise ? open.then(answer) : answer(open)
    }, this.#parts.closing)
  }

  async #nearest(
    { version, view, check }: OpenVersion,
    vector: Vector,
    options: NearestOptions,
    where: readonly EntityPattern[],
  ): Promise<NearEntity[]> {
    const { memory } = this.#parts
    const entities = where.length === 0 ? undefined : await entitiesOf(view, where, check)
    const sets = await version.vectors(vector.length, entities, check)
    const signal = eitherOf(this.#parts.closing, options.signal)
    return nearest(sets, vector, { ...options, signal, memory, term: (id) => view.term(id) })
  }

  #open(signal: AbortSignal | undefined): OpenVersion | Promise<OpenVersion> {
    signal?.throwIfAborted()
    const held = this.#parts.open(this.#query, signal)
    if (held instanceof Promise) return held.then((opened) => this.#opened(opened, signal))
    const version = this.#known(held.parts)
    return version === undefined ? this.#opened(held, signal) : this.#held(version, held, signal)
  }

  async #opened(held: HeldParts, signal: AbortSignal | undefined): Promise<OpenVersion> {
    try {
      const version = await this.#version(held.parts)
      return this.#held(version, held, signal)
    } catch (error) {
      held.release()
      throw error
    }
  }

  #held(
    version: GraphVersion,
    { parts, release }: HeldParts,
    signal: AbortSignal | undefined,
  ): OpenVersion {
    const { closing } = this.#parts
    const check = () => {
      signal?.throwIfAborted()
      closing.throwIfAborted()
    }
    return { parts, version, view: version.view, check, release }
  }

  async #version(parts: readonly PartOfVersion[]): Promise<GraphVersion> {
    const known = this.#known(parts)
    if (known !== undefined) return known
    const version = await GraphVersion.of(parts, this.#query.collection)
    this.#last = { parts, version }
    return version
  }

  #known(parts: readonly PartOfVersion[]): GraphVersion | undefined {
    return this.#last?.parts === parts ? this.#last.version : undefined
  }
}

const nothing = () => ({})

traceMethods(StoredGraph, 'graph', {
  match: nothing,
  count: nothing,
  solve: nothing,
  nearest: nothing,
  retrieve: nothing,
  search: nothing,
  duplicates: nothing,
  merge: nothing,
  split: nothing,
  neighbours: nothing,
  describe: nothing,
  graphs: nothing,
  snapshot: nothing,
})

class StoredSnapshot extends StoredGraph implements GraphSnapshot {
  readonly #holding: Holding

  constructor(parts: GraphParts, query: GraphQuery, known: KnownVersion, holding: Holding) {
    super(parts, query, known)
    this.#holding = holding
  }

  close(): void {
    this.#holding.close()
  }
}

function solved(
  { view, check, release }: OpenVersion,
  patterns: readonly QueryPattern[],
  options: SolverOptions,
): Answer<Bindings> {
  try {
    const solutions = new Solutions(view, patterns, options)
    return {
      get isDone() {
        return solutions.isDone
      },
      next: (most) => solutions.next(most),
      end: release,
      check,
    }
  } catch (error) {
    release()
    throw error
  }
}

interface OpenVersion extends OpenView, HeldParts {
  readonly version: GraphVersion
  readonly view: TellingView
}

const askOptions = { signal: aSignal }
const matchOptions = { limit: aLimit, signal: aSignal }
const patternOptions = { ...matchOptions, byText: aFlag }
// What is in `select` and in `where` is a part of the question.
const solveOptions = {
  select: aList,
  distinct: aFlag,
  limit: aLimit,
  maxDistinctBytes: aLimit,
  signal: aSignal,
}
const nearestOptions = { k: aCount(), exact: aFlag, where: anyValue, signal: aSignal }

function checkPattern(pattern: unknown): TriplePattern {
  const question = new Question()
  const asked = question.triplePattern(pattern, '')
  question.end()
  return asked
}

function checkTerm(term: unknown): Term {
  const question = new Question()
  const asked = question.term(term, 'term')
  question.end()
  return asked
}

function entityOnly(term: Term | undefined): Term | undefined {
  return term?.e === true ? term : undefined
}

/** The entities of which all patterns hold, as ids of the view. */
async function entitiesOf(
  view: PartedView,
  where: readonly EntityPattern[],
  check: () => void,
): Promise<ReadonlySet<number>> {
  const used = new Set(where.flatMap(({ s, p, o }) => [s, p, o]))
  let others = 0
  const patterns = where.map(({ s, p, o, filter }): QueryPattern => {
    const names = [s, p, o].includes('?entity')
    const anything = (): Variable => {
      let name: Variable
      do name = `?_${others++}`
      while (used.has(name))
      return name
    }
    return {
      s: s ?? (names ? anything() : '?entity'),
      p: p ?? anything(),
      o: o ?? anything(),
      filter,
    }
  })
  const solver = new Solver(view, patterns, { select: ['?entity'], distinct: true })
  const found = new Set<number>()
  const batch = new Float64Array(1024)
  while (!solver.isDone) {
    check()
    const count = await withBlocks(() => solver.next(batch, batch.length))
    for (let i = 0; i < count; i++) found.add(batch[i] as number)
    await turn()
  }
  return found
}
