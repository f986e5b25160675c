// Phrases, looked for in turns.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { patience } from '../../../src/graph/miss.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { longest } from '../../../src/turns.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { pickSeed } from '../../fixtures/random.js'
import { entity, literal, matched, messageOf } from '../../graph/asked.js'

const user = 'u'
const usual = { passages: patience.passages, ms: longest.ms }

/** From here on others have their turn after each passage. */
function inSmallTurns(): void {
  Object.assign(patience, { passages: 1 })
  Object.assign(longest, { ms: -1 })
}

t.afterEach(() => {
  Object.assign(patience, { passages: usual.passages })
  Object.assign(longest, { ms: usual.ms })
})

const passage = (name: string, text: string): Triple => ({
  s: entity(name),
  p: { v: vocabulary.text, e: true },
  // Long, and without more words: the triples lie in many blocks, the words in one.
  o: literal(`${text}${'.'.repeat(10_000)}`),
})

t.test('a phrase is found though others take the memory between its turns', async (t) => {
  const keep = await createLorekeep({
    backend: new MemoryBackend(),
    indexThreads: 0,
    graphCacheBytes: 1,
  })
  t.teardown(() => keep.close())
  const messages = ['odd', 'even'].map((collection) => {
    const names = Array.from({ length: 50 }, (_, n) => `${collection} ${n}`)
    return messageOf(
      names.map((name) => passage(name, `the river of ${name}`)),
      collection,
    )
  })
  await keep.knowledge.write({ user, id: 'core' }, messages)
  await keep.knowledge.index({ user })
  const graph = keep.knowledge.graph({ user })
  inSmallTurns()
  const questions = Array.from({ length: 6 }, () =>
    graph.search({ text: '"the river"', collection: 'odd', k: 50 }),
  )
  // Triples take the memory: of what the searches need nothing stays.
  const others = Array.from({ length: 6 }, () => matched(graph))
  for (const found of await Promise.all(questions)) t.equal(found.length, 50)
  for (const found of await Promise.all(others)) t.equal(found.length, 100)
})

const seed = pickSeed()
const form = fc.constantFrom('a', 'ab', 'abc', 'b', 'ba')
const field = fc.array(form, { maxLength: 8 })
const phrase = fc.record({
  forms: fc.array(form, { minLength: 1, maxLength: 3 }),
  isPrefix: fc.boolean(),
})
type AskedPhrase = Readonly<{ forms: string[]; isPrefix: boolean }>

/** How often a phrase is in a field. */
function occurrences(words: readonly string[], { forms, isPrefix }: AskedPhrase): number {
  return words.filter((_, at) =>
    forms.every((form, n) => {
      const word = words[at + n] ?? ''
      return isPrefix && n === forms.length - 1 ? word.startsWith(form) : word === form
    }),
  ).length
}

t.test(`phrases are found that are there, and as often (seed ${seed})`, async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  inSmallTurns()
  const passages = fc.array(fc.record({ title: field, text: field }), {
    minLength: 1,
    maxLength: 9,
  })
  let round = 0
  const property = fc.asyncProperty(
    passages,
    fc.array(phrase, { minLength: 1, maxLength: 3 }),
    phrase,
    async (passages, required, excluded) => {
      const ref = { user: `u${round++}`, id: 'core' }
      const triples = passages.flatMap(({ title, text }, n) => [
        { s: entity(`${n}`), p: { v: vocabulary.name, e: true }, o: literal(title.join(' ')) },
        { s: entity(`${n}`), p: { v: vocabulary.text, e: true }, o: literal(text.join(' ')) },
      ])
      await keep.knowledge.write(ref, [messageOf(triples)])
      const isThere = (n: number, asked: AskedPhrase) =>
        occurrences(passages[n]?.title ?? [], asked) + occurrences(passages[n]?.text ?? [], asked) >
        0
      const expected = [...passages.keys()].filter(
        (n) => required.every((one) => isThere(n, one)) && !isThere(n, excluded),
      )
      const asked = ({ forms, isPrefix }: AskedPhrase) =>
        `"${forms.join(' ')}${isPrefix ? '*' : ''}"`
      const text = `${required.map(asked).join(' ')} -${asked(excluded)}`
      const graph = keep.knowledge.graph({ user: ref.user })
      const found = await graph.search({ text, explain: true })
      assert.deepEqual(found.map(({ chunk }) => Number(chunk.v)).sort(), expected)
      for (const { chunk, explanation = [] } of found) {
        const title = passages[Number(chunk.v)]?.title ?? []
        const inText = passages[Number(chunk.v)]?.text ?? []
        const mean = (lengths: number[]) => lengths.reduce((a, b) => a + b, 0) / passages.length
        const norm = (length: number, mean: number) => 0.25 + (0.75 * length) / mean
        const meanTitle = mean(passages.map(({ title }) => title.length))
        const meanText = mean(passages.map(({ text }) => text.length))
        for (const one of required) {
          const [ofTitle, ofText] = [occurrences(title, one), occurrences(inText, one)]
          const told = explanation.find(({ word }) => word === asked(one))
          const frequency =
            (ofTitle && (3 * ofTitle) / norm(title.length, meanTitle)) +
            (ofText && ofText / norm(inText.length, meanText))
          assert.ok(Math.abs((told?.frequency ?? 0) - frequency) < 1e-9, text)
        }
      }
    },
  )
  await fc.assert(property, { seed, numRuns: 100 })
})

t.test('others have their turn within a passage that has the words very often', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  const triples = ['a '.repeat(3000), 'a b'].map((text, n) => passage(`${n}`, text))
  await keep.knowledge.write({ user, id: 'core' }, [messageOf(triples)])
  await keep.knowledge.index({ user })
  const graph = keep.knowledge.graph({ user })
  const turnsOf = async (text: string) => {
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    const found = await graph.search({ text })
    clearImmediate(next)
    return { turns, found: found.map(({ chunk }) => chunk.v) }
  }
  const text = `"${'a '.repeat(60).trim()}"`
  t.strictSame((await turnsOf(text)).found, ['0'])
  inSmallTurns()
  const [short, long] = [await turnsOf('"a b"'), await turnsOf(text)]
  t.strictSame([short.found, long.found], [['1'], ['0']])
  t.ok(long.turns > short.turns + 50, `${long.turns} turns, ${short.turns} for two words`)
})
