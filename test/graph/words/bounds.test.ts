// What looking for words beside each other costs is bounded.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { SeenPassages } from '../../../src/graph/index/seen-passages.js'
import { patience } from '../../../src/graph/miss.js'
import { bounds } from '../../../src/graph/words/bounds.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { longest } from '../../../src/turns.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { entity, literal, messageOf } from '../../graph/asked.js'

const user = 'u'
const usual = { ...bounds }
const { span } = patience
const usualMs = longest.ms
t.afterEach(() => {
  Object.assign(bounds, usual)
  patience.span = span
  longest.ms = usualMs
})

async function openGraph(t: Tap, texts: readonly string[]) {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  const triples = texts.map((text, n) => {
    return { s: entity(`${n}`), p: { v: vocabulary.text, e: true }, o: literal(text) }
  })
  await keep.knowledge.write({ user, id: 'core' }, [messageOf(triples, 'core')])
  await keep.knowledge.index({ user })
  return keep.knowledge.graph({ user })
}

type Tap = Pick<typeof t, 'teardown'>

t.test('two words are looked for where the rarer is in no more passages than may be', async (t) => {
  const graph = await openGraph(t, ['red house', 'red house', 'house of red', 'house', 'a house'])
  const parts = async () => {
    const [first] = await graph.search({ text: 'red house', explain: true })
    return first?.explanation?.map(({ word }) => word)
  }
  bounds.mostPaired = 3
  t.match(await parts(), ['red', 'house', '"red house"'], 'red is in three')
  bounds.mostPaired = 2
  t.match(await parts(), ['red', 'house'])
  t.equal((await parts())?.length, 2)
})

t.test('of a whole question its three rarest words are looked for first', async (t) => {
  const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
  // Each word is in one passage more than the one before it, and no passage has two in this order.
  const texts = words.map((_, n) => words.slice(n).reverse().join(' x '))
  const graph = await openGraph(t, texts)
  const read = new Set<string>()
  const { list } = SeenPassages.prototype
  SeenPassages.prototype.list = function (n) {
    read.add(this.word(n))
    return list.call(this, n)
  }
  t.teardown(() => (SeenPassages.prototype.list = list))
  const readOf = async (text: string) => {
    read.clear()
    // No pair is looked for: what is read with positions is read for the whole.
    bounds.mostPaired = 1
    await graph.search({ text })
    return [...read].sort()
  }
  const text = words.join(' ')
  t.strictSame(await readOf(text), ['one', 'three', 'two'])
  bounds.mostPlaced = 4
  t.strictSame(await readOf(text), ['four', 'one', 'three', 'two'])
})

t.test('a whole question is not looked for where its rarest word is in too many', async (t) => {
  const graph = await openGraph(t, [
    'the long way to the river and all of it again',
    ...Array.from({ length: 3 }, () => 'river river, long long way'),
  ])
  const first = async () => (await graph.search({ text: 'long way to the river' }))[0]?.chunk.v
  t.equal(await first(), '0', 'as it stands')
  bounds.mostPaired = 0
  t.not(await first(), '0')
})

t.test('words are scored alike a few at a time, and in spans of few passages', async (t) => {
  const texts = Array.from({ length: 60 }, (_, n) => {
    return ['red', 'reds', 'house', 'of', 'cards', 'house']
      .filter((_, at) => (n >> at) & 1)
      .join(' ')
  })
  const graph = await openGraph(t, texts)
  const answers = async () => {
    const found = await graph.search({ text: 'red house cards', k: 60, explain: true })
    return found.map(({ chunk, score, explanation }) => ({ chunk, score, explanation }))
  }
  const usually = await answers()
  t.ok(usually.length > 50)
  bounds.mostHeld = 0
  patience.span = 7
  t.strictSame(await answers(), usually)
})

t.test(
  'a whole question is looked for in the texts of a few passages, else in lists',
  async (t) => {
    const small = Array.from({ length: 20 }, () => 'the day of the river, and all of it')
    const texts = ['news of the day from nowhere', 'nowhere news, day', 'news of day from nowhere']
    const graph = await openGraph(t, [...texts, ...small])
    const read = new Set<string>()
    const { list } = SeenPassages.prototype
    SeenPassages.prototype.list = function (n) {
      read.add(this.word(n))
      return list.call(this, n)
    }
    t.teardown(() => (SeenPassages.prototype.list = list))
    const ask = async () => {
      read.clear()
      const [first] = await graph.search({ text: 'News of the day from nowhere' })
      return first?.chunk.v
    }
    const first = await ask()
    t.match(first, /0$/)
    t.notOk(read.has('of') || read.has('the'), [...read].join())
    for (const few of [{ mostRead: 0 }, { mostReadWords: 5 }]) {
      Object.assign(bounds, usual, few)
      t.equal(await ask(), first)
      t.ok(read.has('of') && read.has('the'), [...read].join())
    }
  },
)

t.test('a long text is read in pieces, between which others have their turn', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  const index = async (id: string, text: string) => {
    const triple = { s: entity(id), p: { v: vocabulary.text, e: true }, o: literal(text) }
    await keep.knowledge.write({ user: id, id }, [messageOf([triple])])
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    await keep.knowledge.index({ user: id })
    clearImmediate(next)
    return turns
  }
  longest.ms = -1
  const short = await index('short', 'w '.repeat(1000))
  const long = await index('long', 'w '.repeat(200_000))
  longest.ms = usualMs
  t.ok(long > short + 8, `${long} turns, and ${short} for a short one`)

  const words = Array.from({ length: 20_000 }, (_, n) => `w${(n * 7919) % 20_011}`)
  await index('words', words.join(' '))
  const graph = keep.knowledge.graph({ user: 'words' })
  const missed: string[] = []
  for (let at = 0; at < words.length; at += 63) {
    const phrase = words.slice(at, at + 64).join(' ')
    if ((await graph.search({ text: `"${phrase}"` })).length === 0) missed.push(phrase)
  }
  t.strictSame(missed, [], 'its words stand one behind the other as before')
})

t.test('words that begin alike are found, in whatever order they came', async (t) => {
  const ends = ['', 'a', 'aa', 'ab', 'é', 'z', '1', '10', '9']
  const words = ['begin', 'begi', 'beg', 'b', 'ünter', 'ünt'].flatMap((head) =>
    ends.map((end) => head + end),
  )
  const graph = await openGraph(t, [[...new Set(words)].reverse().join(' '), 'other'])
  for (const word of words) t.equal((await graph.search({ text: `"${word}"` })).length, 1, word)
  for (const word of ['begi', 'begina', 'ünterz']) {
    t.equal((await graph.search({ text: `${word}*` })).length, 1, word)
  }
})
