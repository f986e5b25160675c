// Searches give others their turns, and end when they are told to.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { SeenPassages } from '../../../src/graph/index/seen-passages.js'
import { PartTerms } from '../../../src/graph/index/part-terms.js'
import { patience } from '../../../src/graph/miss.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { longest } from '../../../src/turns.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { entity, literal, messageOf } from '../asked.js'

const user = 'u'
const usual = { passages: patience.passages, span: patience.span, ms: longest.ms }

t.afterEach(() => {
  Object.assign(patience, { passages: usual.passages, span: usual.span })
  Object.assign(longest, { ms: usual.ms })
})

/** From here on others have their turn whenever they may. */
function inSmallTurns(): void {
  Object.assign(patience, { passages: 1, span: 1 })
  Object.assign(longest, { ms: -1 })
}

async function keepOf(t: Test, texts: readonly string[], graphCacheBytes?: number) {
  const keep = await createLorekeep({
    backend: new MemoryBackend(),
    indexThreads: 0,
    closeTimeoutMs: 50,
    ...(graphCacheBytes !== undefined && { graphCacheBytes }),
  })
  t.teardown(() => keep.close())
  const text = { v: vocabulary.text, e: true }
  const triples = texts.map((words, n): Triple => {
    return { s: entity(`passage ${n}`), p: text, o: literal(words) }
  })
  await keep.knowledge.write({ user, id: 'core' }, [messageOf(triples)])
  await keep.knowledge.index({ user })
  return keep
}

/** How often others had their turn while it was done. */
async function turnsIn(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isDone = true
  return turns
}

t.test('others have their turn between passages, words and forms of words', async (t) => {
  const count = 200
  const texts = Array.from({ length: count }, (_, n) => `river${'abcdefghij'[n % 10]}${n} river`)
  const graph = (await keepOf(t, texts)).knowledge.graph({ user })
  inSmallTurns()
  const few = await turnsIn(() => graph.search({ text: 'river', k: 1, languages: ['en'] }))
  // Looked through once for all, as words that may have the stem.
  t.ok(few > 2 * count, `${few} turns for a word`)
  const found = await turnsIn(() => graph.search({ text: 'river', k: count, languages: ['en'] }))
  t.ok(found > 3 * count, `${found} turns for the passages`)
  const forms = await turnsIn(() => graph.search({ text: 'river*', k: 1 }))
  t.ok(forms > count, `${forms} turns for a beginning`)
})

t.test('a search ends when the store is closed, and when its signal says so', async (t) => {
  const texts = Array.from({ length: 2000 }, () => 'the river, and the river again')
  const keep = await keepOf(t, texts)
  const graph = keep.knowledge.graph({ user })
  inSmallTurns()
  const ask = (signal?: AbortSignal) =>
    graph.search({ text: '"the river" the', k: 2000, ...(signal && { signal }) })
  const controller = new AbortController()
  const reason = new Error('enough')
  const aborted = ask(controller.signal)
  setImmediate(() => controller.abort(reason))
  await t.rejects(aborted, reason)
  const search = ask()
  const ended = t.rejects(search, { code: 'LK_CLOSED' })
  await keep.close()
  await ended
})

t.test('a phrase is looked for once, and what a beginning follows as well', async (t) => {
  const count = 200
  const texts = Array.from({ length: count }, (_, n) => `the r${n} the river`)
  const graph = (await keepOf(t, texts)).knowledge.graph({ user })
  inSmallTurns()
  const required = await turnsIn(() => graph.search({ text: '"the river"', k: 1 }))
  t.ok(required < 1.5 * count, `${required} turns`)
  // 201 words, each of which was looked for behind all 200.
  const begun = await turnsIn(() => graph.search({ text: '"the r*"', k: 1 }))
  t.ok(begun < 5 * count, `${begun} turns`)
})

t.test('words of a stem are looked for once in a part, whatever of it is seen', async (t) => {
  const count = 200
  const texts = Array.from({ length: count }, (_, n) => `river${'abcdefghij'[n % 10]}${n} boat`)
  const graph = (await keepOf(t, texts)).knowledge.graph({ user })
  inSmallTurns()
  Object.assign(patience, { span: usual.span })
  const ask = (collection?: string) => () =>
    graph.search({ text: 'river', languages: ['en'], ...(collection && { collection }) })
  const first = await turnsIn(ask())
  t.ok(first > count, `${first} turns`)
  const other = await turnsIn(ask('default'))
  t.ok(other < count / 2, `${other} turns`)
})

/** Which words of parts are read while something is done. */
async function wordsRead(t: Test, work: () => Promise<unknown>): Promise<string[]> {
  const read: string[] = []
  const { word } = SeenPassages.prototype
  SeenPassages.prototype.word = function (n) {
    const form = word.call(this, n)
    read.push(form)
    return form
  }
  t.teardown(() => (SeenPassages.prototype.word = word))
  await work()
  SeenPassages.prototype.word = word
  return read
}

t.test('no other forms are looked for of what no stemmer looks at', async (t) => {
  const texts = Array.from({ length: 100 }, (_, n) => `chapter 1 ${n}1 1${n} 1.${n}`)
  const graph = (await keepOf(t, texts)).knowledge.graph({ user })
  for (const languages of [['en'], ['en', 'ja'], ['ja']]) {
    const read = await wordsRead(t, () => graph.search({ text: 'chapters 1 1.5', languages, k: 1 }))
    t.strictSame(
      read.filter((form) => form !== '1' && form !== '1.5' && !form.startsWith('ch')),
      [],
    )
  }
})

t.test('forms of many words are read one by one, whatever the memory has room for', async (t) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const nth = (n: number) => [26 * 26, 26, 1].map((by) => letters[Math.floor(n / by) % 26]).join('')
  const words = Array.from({ length: 1200 }, (_, n) => `${nth(n)}${'x'.repeat(240)}`)
  const texts = Array.from({ length: 120 }, (_, n) => words.slice(10 * n, 10 * n + 10).join(' '))
  const graph = (await keepOf(t, texts, 1)).knowledge.graph({ user })
  const asked = words.filter((_, n) => n % 20 === 0)
  const ask = () => graph.search({ text: asked.join(' '), languages: [], k: 1 })
  const read = await wordsRead(t, ask)
  t.equal(new Set(read).size, asked.length)
  t.ok(read.length <= 2 * asked.length, `${read.length} words`)
})

t.test('names of cores are looked for one by one, whatever the memory has room for', async (t) => {
  const keep = await keepOf(t, ['7'], 1)
  // A block has sixteen of them.
  const cores = Array.from({ length: 300 }, (_, n) => `${'c'.repeat(1000)}${n}`)
  for (const [n, id] of cores.entries()) {
    const triple = { s: entity(`of ${n}`), p: { v: vocabulary.text, e: true }, o: literal('7') }
    await keep.knowledge.write({ user, id }, [messageOf([triple])])
  }
  await keep.knowledge.index({ user })
  const looks = new Map<string, number>()
  const { find } = PartTerms.prototype
  PartTerms.prototype.find = function (term) {
    const name = term.join()
    looks.set(name, (looks.get(name) ?? 0) + 1)
    return find.call(this, term)
  }
  t.teardown(() => (PartTerms.prototype.find = find))
  const found = await keep.knowledge.graph({ user }).search({ text: '7', cores, k: 400 })
  t.equal(found.length, cores.length)
  t.ok(looks.size >= cores.length)
  const most = Math.max(...looks.values())
  t.ok(most < 8, `one was looked for ${most} times`)
})
