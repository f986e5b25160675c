// Random histories of a schema whose texts are indexed, in several ways or not at all: what a search
// finds, in which order, with which scores and how many, is what the oracle says of what is stored.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { KeptBackend } from './kept-backend.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { StoredObject, TextIndex } from '../../src/objects/types.js'
import type { Scope } from '../../src/scope.js'
import { naiveSearch } from './text-oracle.js'

/** RUNS=5000 takes some minutes. */
const numRuns = Number(process.env['RUNS'] ?? 60)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

type Stored = {
  readonly id: number
  readonly user: string
  readonly n: number
  readonly title?: string
  readonly notes?: string | readonly string[]
}

const vocabulary = [
  ...['lamp', 'lamps', 'Lamp', 'lamplight', 'oak', 'oaks', 'running', 'runs', 'run', 'steel'],
  ...['the', 'of', 'ISO-4217', 'café', 'cafe', '知识库', '知', "can't", '12', 'a-b'],
]

const textIndexes: readonly TextIndex[] = [
  { text: ['title'] },
  { text: ['title', 'notes'] },
  { text: ['title', 'notes'], weights: { title: 3 } },
  { text: ['notes'], language: 'none' },
]

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values)

const words = fc.array(pick(vocabulary), { maxLength: 8 }).map((some) => some.join(' '))

const object = fc.record(
  {
    id: fc.nat(12),
    n: fc.nat(3),
    title: words,
    notes: fc.oneof(words, fc.array(words, { maxLength: 3 })),
  },
  { requiredKeys: ['id', 'n'] },
)

const term = fc.oneof(
  { arbitrary: pick(vocabulary), weight: 6 },
  fc.tuple(pick(vocabulary), pick(vocabulary)).map((pair) => `"${pair.join(' ')}"`),
  pick(vocabulary).map((word) => `-${word}`),
  fc.tuple(pick(vocabulary), pick(vocabulary)).map((pair) => `-"${pair.join(' ')}"`),
  pick(['la', 'lamp', 'o', '4', '知']).map((beginning) => `${beginning}*`),
)

const question = fc.record({
  search: fc.array(term, { minLength: 1, maxLength: 4 }).map((terms) => terms.join(' ')),
  language: pick([undefined, undefined, 'de', 'english', 'none']),
  least: pick([undefined, 0, 2, 4]),
  among: pick(['n', 'm'] as const),
  scope: pick<Scope>([{}, {}, { user: 'alice' }, { user: 'bob' }]),
  sort: pick([
    undefined,
    { _score: 'desc' },
    { n: 'asc', _score: 'desc' },
    { _score: 'asc' },
  ] as const),
  page: fc.integer({ min: 1, max: 5 }),
})

const step = fc.oneof(
  {
    arbitrary: fc.record({
      what: fc.constant('import' as const),
      user: pick(['alice', 'bob']),
      objects: fc.uniqueArray(object, { selector: ({ id }) => id, minLength: 1, maxLength: 8 }),
    }),
    weight: 4,
  },
  fc.record({ what: fc.constant('replace' as const), object }),
  fc.record({ what: fc.constant('delete' as const), id: fc.nat(12) }),
  fc.record({ what: fc.constant('define' as const), text: fc.option(pick(textIndexes)) }),
  fc.record({ what: fc.constant('reopen' as const) }),
)

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never

class Run {
  readonly #backend = new KeptBackend(new MemoryBackend())
  readonly #cacheBytes: number
  /** In the order in which they were stored. */
  readonly #stored = new Map<number, Stored>()
  #keep: Lorekeep | undefined
  #text: TextIndex | null = null

  constructor(cacheBytes: number) {
    this.#cacheBytes = cacheBytes
  }

  async keep(): Promise<Lorekeep> {
    return (this.#keep ??= await createLorekeep({
      backend: this.#backend,
      objectCacheBytes: this.#cacheBytes,
    }))
  }

  async do(step: Step): Promise<void> {
    const { objects } = await this.keep()
    switch (step.what) {
      case 'import': {
        const metadata = { id: 'batch', user: step.user, collection: 'c' }
        const values = step.objects.map((object) => ({ ...object, m: object.n }))
        await objects.import(
          { metadata, schema_name: 'texts', values: values as never },
          { onDuplicate: 'replace' },
        )
        for (const one of step.objects) this.#put({ ...one, user: step.user } as Stored)
        return
      }
      case 'replace': {
        const { id } = step.object
        const { user } = this.#stored.get(id) ?? {}
        const value = { ...step.object, m: step.object.n }
        const replaced = await objects.replace('c', id, value as never)
        assert.equal(replaced !== undefined, user !== undefined)
        if (user !== undefined) this.#put({ ...step.object, user } as Stored)
        return
      }
      case 'delete':
        assert.equal(await objects.delete('c', step.id), this.#stored.delete(step.id))
        return
      case 'define':
        this.#text = step.text
        await this.define()
        return
      case 'reopen':
        await this.#keep?.close()
        this.#keep = undefined
    }
  }

  async define(): Promise<void> {
    const { objects } = await this.keep()
    await objects.defineSchema({
      name: 'texts',
      fields: {
        id: { type: 'integer' },
        n: { type: 'integer' },
        title: { type: 'text' },
        notes: { type: 'any' },
      },
      indexes: ['n', ...(this.#text === null ? [] : [this.#text])],
    })
  }

  #put(object: Stored): void {
    this.#stored.delete(object.id)
    this.#stored.set(object.id, object)
  }

  async ask({ search, language, least, among, scope, sort, page }: Question): Promise<void> {
    const { objects } = await this.keep()
    const asked = {
      schema_name: 'texts',
      filters: {
        $text: { $search: search, ...(language !== undefined && { $language: language }) },
        ...(least !== undefined && { [among]: { $gte: least } }),
      } as never,
      ...(sort && { sort }),
    }
    if (this.#text === null) {
      await assert.rejects(objects.query(asked, scope), { code: 'LK_QUERY' })
      return
    }
    const seen = [...this.#stored.values()].filter(
      ({ user }) => scope.user === undefined || scope.user === user,
    )
    const tag = language === 'english' ? 'en' : language
    let expected = await naiveSearch(seen, this.#text, search, tag)
    expected = expected.filter(({ object }) => least === undefined || object.n >= least)
    if (sort !== undefined && '_score' in sort && sort._score === 'asc') {
      const order = [...this.#stored.keys()]
      const placeOf = ({ object }: (typeof expected)[number]) => order.indexOf(object.id)
      expected.sort((a, b) => a.score - b.score || placeOf(a) - placeOf(b))
    }
    if (sort !== undefined && 'n' in sort) expected.sort((a, b) => a.object.n - b.object.n)
    const lines = expected.map(({ object, score }) => `${object.id} ${score}`)
    const lineOf = ({ _id, _score }: StoredObject) => `${_id} ${_score}`

    const paged: string[] = []
    for (let after: string | undefined; ;) {
      const {
        objects: some,
        total,
        next,
      } = await objects.query(
        { ...asked, limit: page, ...(after !== undefined && { after }) },
        scope,
      )
      assert.equal(total, lines.length, `the total of ${search}`)
      paged.push(...some.map(lineOf))
      if (next === undefined) break
      after = next
    }
    assert.deepEqual(paged, lines, `pages of ${search}`)
    const part = await objects.query({ ...asked, limit: page, offset: 2 }, scope)
    assert.deepEqual(part.objects.map(lineOf), lines.slice(2, 2 + page), `an offset of ${search}`)
    const all: string[] = []
    for await (const object of objects.find(asked, scope)) all.push(lineOf(object))
    assert.deepEqual(all, lines, `a find of ${search}`)
  }

  async verify(): Promise<void> {
    const keep = await this.keep()
    const found: unknown[] = []
    for await (const finding of keep.verify({ deep: true })) found.push(finding)
    assert.deepEqual(found, [])
  }
}

for (const cacheBytes of [64 * 1024 ** 2, 1]) {
  t.test(`${cacheBytes} bytes for pages: as the oracle has it (seed ${seed})`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.array(question, { maxLength: 3 })), { maxLength: 12 }),
        pick([null, ...textIndexes]),
        async (steps, text) => {
          const run = new Run(cacheBytes)
          await run.do({ what: 'define', text })
          for (const [step, questions] of steps) {
            await run.do(step)
            for (const question of questions) await run.ask(question)
          }
          await run.verify()
          await (await run.keep()).close()
        },
      ),
      { numRuns, seed },
    )
    t.pass()
  })
}
