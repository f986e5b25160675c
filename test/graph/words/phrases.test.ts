// Phrases, looked for in turns.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { patience } from '../../../src/graph/miss.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { longest } from '../../../src/turns.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
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
