import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { withBlocks } from '../../../src/graph/miss.js'
import { Solutions } from '../../../src/graph/solve/solutions.js'
import type { SolverOptions } from '../../../src/graph/solve/solver.js'
import type { Bindings, QueryPattern } from '../../../src/graph/types.js'
import type { PartedView } from '../../../src/graph/view.js'
import { createLorekeep, type Lorekeep } from '../../../src/index.js'
import type { Triple } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { ArrayView, MissingView } from './array-view.js'
import { Oracle, randomPatterns, randomTriples, sorted, variablesOf } from './oracle.js'

const questionsPerGraph = 20
const most = 1000

interface Question {
  readonly patterns: QueryPattern[]
  readonly options: Required<Pick<SolverOptions, 'select' | 'distinct'>>
  readonly expected: Bindings[]
}

/** Questions about a graph with what oxigraph answers, not those with very many solutions. */
function* questions(triples: readonly Triple[], random: Random): Generator<Question> {
  const oracle = new Oracle(triples)
  for (let n = 0; n < questionsPerGraph; n++) {
    const patterns = randomPatterns(random)
    const variables = variablesOf(patterns)
    const chosen = random.shuffle(variables).slice(random.below(4))
    const options = {
      select: random.chance(0.5) && chosen.length > 0 ? chosen : variables,
      distinct: random.chance(0.3),
    }
    const expected = oracle.solve(patterns, { ...options, most })
    if (expected !== undefined) yield { patterns, options, expected }
  }
}

/** As several segments of several cores of the user, of which some say the same. */
async function store(
  keep: Lorekeep,
  user: string,
  triples: readonly Triple[],
  random: Random,
): Promise<void> {
  const cores = 1 + random.below(3)
  const size = 5 + random.below(triples.length)
  for (let from = 0; from < triples.length; from += size) {
    const t = [...triples.slice(from, from + size), random.pick(triples)]
    const id = `core-${random.below(cores)}`
    await keep.knowledge.write({ user, id }, [['t', { m: { i: id, m: [], u: user, c: 'c' }, t }]])
  }
}

const seed = pickSeed()

t.test(`1,000 questions have the solutions of oxigraph (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  let solved = 0
  let withSolutions = 0
  for (let n = 0; solved < 1000; n++) {
    const triples = randomTriples(random)
    await store(keep, `user-${n}`, triples, random)
    const graph = keep.knowledge.graph({ user: `user-${n}` })
    for (const { patterns, options, expected } of questions(triples, random)) {
      const name = JSON.stringify({ patterns, ...options })
      const found = await collect(graph.solve(patterns, options))
      if (!t.strictSame(sorted(found), sorted(expected), name)) return
      const limit = random.below(expected.length + 2)
      const limited = await collect(graph.solve(patterns, { ...options, limit }))
      if (!t.equal(limited.length, Math.min(limit, expected.length), `limit: ${name}`)) return
      solved++
      if (expected.length > 0) withSolutions++
    }
  }
  t.ok(withSolutions > solved / 3, `${withSolutions} have solutions`)
})

t.test(`blocks that are missing lose and double nothing (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  for (let n = 0; n < 10; n++) {
    const triples = randomTriples(random)
    const view = new MissingView(new ArrayView(triples))
    for (const { patterns, options, expected } of questions(triples, random)) {
      const found = await solve(view, patterns, options, 1 + random.below(20))
      t.strictSame(sorted(found), sorted(expected), JSON.stringify({ patterns, ...options }))
    }
  }
})

async function solve(
  view: PartedView,
  patterns: readonly QueryPattern[],
  options: SolverOptions,
  batch: number,
): Promise<Bindings[]> {
  const solutions = new Solutions(view, patterns, options)
  const found: Bindings[] = []
  while (!solutions.isDone) found.push(...(await withBlocks(() => solutions.next(batch))))
  return found
}

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const result of results) all.push(result)
  return all
}
