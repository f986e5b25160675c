import assert from 'node:assert/strict'
import t from 'tap'
import { encodeTerm, hashWords } from '../../../src/graph/index/encoded-term.js'
import { TermTable } from '../../../src/graph/index/term-table.js'
import type { Term } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { backends, openStore } from '../../fixtures/stores.js'
import { assertAnswers, entity, literal, messageOf, PatternOracle, patternsOf } from '../asked.js'
import { collidingTerms } from './colliding.js'

const seed = pickSeed()

t.test(`terms of one hash are kept apart, however many there are (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const colliding = collidingTerms(random, 600)
  const hashes = new Set(colliding.map((term) => hash(term)))
  t.equal(hashes.size, 1, 'the hash has changed: collidingTerms() has to follow')
  const table = new TermTable()
  const ids = new Map<string, number>()
  for (let round = 0; round < 3; round++) {
    for (const [n, term] of colliding.entries()) {
      // Among others, so that the table grows while some are crowded.
      for (let i = 0; i < 60; i++) check(literal(`other ${n} ${i}`))
      check(term)
    }
    if (round !== 1) continue
    table.clear()
    ids.clear()
  }
  t.equal(table.count, ids.size)

  function check(term: Term): void {
    const words = encodeTerm(term)
    const padded = new Int32Array(words.length + 2)
    padded.set(words, 1)
    const id = table.add(padded, 1, words.length + 1)
    const key = `${term.e} ${term.v}`
    assert.equal(id, ids.get(key) ?? ids.size, key)
    ids.set(key, id)
  }
})

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: a core of such terms answers as any (seed ${seed})`, async (t) => {
    const random = new Random(seed)
    const colliding = collidingTerms(random, 200)
    const triples = Array.from({ length: 600 }, () => ({
      s: random.pick(colliding),
      p: random.chance(0.5) ? random.pick(colliding) : entity('p'),
      o: random.pick(colliding),
    }))
    const { knowledge } = await openStore(t, createBackend(t), { graphCacheBytes: 1 })
    for (const id of ['one', 'two']) {
      await knowledge.write({ user: 'u', id }, [messageOf(triples.slice(id === 'one' ? 0 : 300))])
    }
    const oracle = new PatternOracle(triples)
    const samples = [random.pick(triples), random.pick(triples)]
    await assertAnswers(knowledge.graph({ user: 'u', cores: ['one'] }), oracle, samples, 'one')
    await assertAnswers(knowledge.graph({ user: 'u' }), oracle, samples, 'both')
    const absent = collidingTerms(new Random(seed), 300).slice(200)
    for (const term of absent) {
      for (const pattern of patternsOf({ s: term, p: term, o: term }).slice(1, 5)) {
        assert.equal(await knowledge.graph({ user: 'u' }).count(pattern), 0)
      }
    }
    t.pass()
  })
}

function hash(term: Term): number {
  const words = encodeTerm(term)
  return hashWords(words, 0, words.length)
}
