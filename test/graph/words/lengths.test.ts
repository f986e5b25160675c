// Lengths of titles and headings are read where a word is in one, in the midst of what is added up.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { FileWords } from '../../../src/graph/index/part-file.js'
import { FieldWeights } from '../../../src/graph/words/scoring.js'
import type { PassageSet } from '../../../src/graph/words/types.js'
import { WordList, WordListWriter } from '../../../src/graph/words/word-list.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { entity, literal, messageOf } from '../asked.js'

const user = 'u'
const [name, text, isPartOf] = [vocabulary.name, vocabulary.text, vocabulary.isPartOf].map((v) => ({
  v,
  e: true,
})) as [{ v: string; e: true }, { v: string; e: true }, { v: string; e: true }]

/** Their lengths are in three pieces; some of those further behind have a title. */
const count = 9000

const kinds = ['dog', 'dogs dogs dogs dogs', 'dog and dogs', 'a cat of dogs', 'dog', 'my dog']

function* passages(): Generator<Triple> {
  for (let n = 0; n < count; n++) {
    const words = kinds[n % 20] ?? 'cat'
    yield { s: entity(`${n}`), p: text, o: literal(`${words} ${'x '.repeat(n % 11)}`) }
    yield { s: entity(`${n}`), p: isPartOf, o: entity(`document ${n < 8990 ? 0 : n % 7}`) }
  }
  // In one form of two: that is missed when the other was added.
  for (let n = 3; n < 7; n++) {
    const title = n === 3 ? 'Of all' : 'All kinds of dogs'
    yield { s: entity(`document ${n}`), p: name, o: literal(title) }
  }
}

async function graphIn(t: Test, graphCacheBytes: number) {
  const keep = await createLorekeep({
    backend: new MemoryBackend(),
    indexThreads: 0,
    graphCacheBytes,
  })
  t.teardown(() => keep.close())
  await keep.knowledge.write({ user, id: 'core' }, [messageOf([...passages()])])
  await keep.knowledge.index({ user })
  return keep.knowledge.graph({ user })
}

t.test('scores are the same, whatever of the lengths was in memory', async (t) => {
  const inMemory = await graphIn(t, 64 * 1024 * 1024)
  const forgetful = await graphIn(t, 1)
  const questions = ['dog', 'dogs cat', 'do*', '"dog and"']
  for (const text of questions) {
    const ask = async (graph: typeof inMemory) => {
      const found = await graph.search({ text, k: 200, explain: true })
      return found.map(({ chunk, score, explanation }) => [chunk.v, score, explanation])
    }
    await ask(inMemory)
    // By now nothing of it is missed.
    const right = await ask(inMemory)
    t.equal(right.length, 200)
    t.strictSame(await ask(forgetful), right, text)
  }
})

t.test('lengths of titles and headings are left alone where no word is in one', (t) => {
  const columns: string[] = []
  const column = (name: string) => {
    columns.push(name)
    return new FileWords([new Uint32Array(2 ** 12).fill(4)], 0)
  }
  const set = { column } as unknown as PassageSet
  const weights = new FieldWeights({ passages: 3, average: { title: 4, heading: 4, text: 4 } })
  weights.begin(set, 0, 3)
  const writer = new WordListWriter()
  writer.passage(0, { title: 0, heading: 0, text: 2 })
  writer.passage(2, { title: 0, heading: 1, text: 0 })
  const cursor = new WordList(Buffer.concat(writer.take()), 3).entries()
  t.equal(weights.read(cursor, 1, 1, undefined), 1)
  t.strictSame(columns, ['textWords'])
  t.equal(weights.read(cursor, 1, 3, undefined), 1)
  t.strictSame(columns, ['textWords', 'headingWords'])
  t.end()
})
