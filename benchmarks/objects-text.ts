// Full-text search over 100,000 objects of some 20 words, 200 bytes as those of the other scenarios,
// whose frequencies fall as those of a language do (Zipf): the best 100 of all matches, whole, and the
// exact total, against SQLite's FTS5 with the same weights, and stems as it has them.
//
// A round is some tenths of a second or longer on either side: in front of each the garbage collector
// runs, and what it costs those who are asked next is nothing that a store's users meet every few
// milliseconds. What comes first after opening has rows of its own.

import type { Filters, Lorekeep } from '../src/index.js'
import { Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import { hasSqlite, reportOrSkip, sqliteName, TextPeer } from './objects-peers.js'
import { openOurs } from './objects-store.js'

const rounds = 5
const count = 100_000
const batch = 1000
const limit = 100
const vocabulary = 50_000

interface Article {
  readonly id: string
  readonly title: string
  readonly body: string
  readonly group: number
}

interface Case {
  readonly name: string
  readonly questions: number
  readonly least?: number
  /** By the ranks of words: 0 is the most frequent. */
  ask(random: Random): Question
}

interface Question {
  readonly search: string
  /** The same, as FTS5 writes it. */
  readonly match: string
  readonly group?: number
  /** Where the page begins. */
  readonly offset?: number
  isMatch(article: Article): boolean
}

const schema = {
  name: 'article',
  fields: {
    id: { type: 'string', required: true },
    title: { type: 'string', required: true },
    body: { type: 'text', required: true },
    group: { type: 'integer', required: true },
  },
  indexes: ['group', { text: ['title', 'body'], weights: { title: 3 } }],
}

const cases: readonly Case[] = [
  {
    name: 'text, two words of which some thousand objects have one',
    questions: 200,
    least: 1,
    ask: (random) => anyOf([between(random, 30, 300), between(random, 30, 300)]),
  },
  {
    name: 'text, three words, one of them in a third of all objects',
    questions: 100,
    least: 1,
    ask: (random) =>
      anyOf([between(random, 2, 6), between(random, 100, 1000), between(random, 1000, 9000)]),
  },
  {
    name: 'text, a rare word',
    questions: 2500,
    least: 1,
    ask: (random) => anyOf([between(random, 5000, 20_000)]),
  },
  {
    name: 'text, two words and one of ten groups',
    questions: 150,
    least: 1,
    ask: (random) => {
      const asked = anyOf([between(random, 30, 300), between(random, 30, 300)])
      const group = random.below(10)
      return { ...asked, group, isMatch: (one) => one.group === group && asked.isMatch(one) }
    },
  },
  {
    name: 'text, a word of a tenth to a half of all objects',
    questions: 100,
    least: 1,
    ask: (random) => anyOf([between(random, 0, 10)]),
  },
  {
    name: 'text, words that begin in some way',
    questions: 1000,
    least: 1,
    ask: (random) => beginning(wordOf(between(random, 2000, 9000)).slice(0, 5)),
  },
  {
    name: 'text, two words, from the 300th on',
    questions: 150,
    least: 1,
    ask: (random) => ({
      ...anyOf([between(random, 30, 300), between(random, 30, 300)]),
      offset: 300,
    }),
  },
  {
    name: 'text, a phrase of two frequent words',
    questions: 150,
    least: 1,
    ask: (random) => phraseOf([between(random, 0, 20), between(random, 0, 20)]),
  },
  {
    name: 'text, a phrase of a frequent word and a rarer one',
    questions: 500,
    least: 1,
    ask: (random) => phraseOf([between(random, 0, 20), between(random, 50, 500)]),
  },
]

await bench.inDirectory(async (directory) => {
  bench.note('objects-text: filling the stores')
  const articles = createArticles()
  await fill(directory, articles)
  await measureFirst(directory)
  await using keep = await openOurs(directory)
  using peer = hasSqlite ? new TextPeer(directory) : undefined
  for (const chosen of cases) await measure(keep, peer, articles, chosen)
})

async function fill(directory: string, articles: readonly Article[]): Promise<void> {
  await using keep = await openOurs(directory)
  await keep.objects.defineSchema(schema)
  using peer = hasSqlite ? new TextPeer(directory) : undefined
  const start = performance.now()
  for (let at = 0; at < count; at += batch) {
    const metadata = { id: `batch-${at}`, user: 'bench', collection: 'articles' }
    const values = articles.slice(at, at + batch).map((article) => ({ ...article }))
    await keep.objects.import({ metadata, schema_name: schema.name, values })
  }
  const between = performance.now()
  for (let at = 0; at < count; at += batch) peer?.import(articles.slice(at, at + batch))
  const [ours, theirs] = [between - start, performance.now() - between]
  bench.note(`  ours ${ours.toFixed(0)} ms, ${sqliteName} ${theirs.toFixed(0)} ms`)
}

async function measure(
  keep: Lorekeep,
  peer: TextPeer | undefined,
  articles: readonly Article[],
  { name, questions, least, ask }: Case,
): Promise<void> {
  bench.note(`  ${name}`)
  const asked = (round: number) => {
    const random = new Random(1000 + round)
    return Array.from({ length: questions }, () => ask(random))
  }
  // What is counted without any index, of some.
  for (const question of asked(0).slice(0, 5)) {
    const total = articles.filter((article) => question.isMatch(article)).length
    const ours = await askOurs(keep, question)
    const theirs = peer?.ask(question, limit)
    bench.check(ours === total, `the total of ${question.search}: ${ours} of ${total}`)
    bench.check(theirs === undefined || theirs === total, `that of the peer: ${theirs} of ${total}`)
  }
  const { ours, theirs } = await bench.interleave(rounds, {
    ours: (round) =>
      bench.seconds(async () => {
        for (const question of asked(round)) await askOurs(keep, question)
      }),
    ...(peer && {
      theirs: (round: number) =>
        bench.seconds(() => {
          for (const question of asked(round)) peer.ask(question, limit)
        }),
    }),
  })
  const names = { scenario: `${name}, best 100 and total`, peer: `${sqliteName}, FTS5` }
  const operations = { count: questions, unit: 'queries/s' }
  const target = least === undefined ? undefined : { least }
  reportOrSkip(names, theirs, (theirs) =>
    bench.report(bench.compareOperations(names, operations, ours, theirs, target)),
  )
}

/** What nobody has asked about before: the stores are opened, and asked one question of each kind so often. */
async function measureFirst(directory: string): Promise<void> {
  for (const each of [1, 10]) {
    bench.note(`  first questions, ${each} of each kind`)
    const random = new Random(each)
    const asked = Array.from({ length: each }, () => cases.map(({ ask }) => ask(random))).flat()
    const { ours, theirs } = await bench.interleave(rounds, {
      ours: () =>
        bench.seconds(async () => {
          await using keep = await openOurs(directory)
          for (const question of asked) await askOurs(keep, question)
        }),
      ...(hasSqlite && {
        theirs: () =>
          bench.seconds(() => {
            using peer = new TextPeer(directory)
            for (const question of asked) peer.ask(question, limit)
          }),
      }),
    })
    const scenario = `text, opening and the first ${asked.length} questions of all kinds`
    const names = { scenario, peer: `${sqliteName}, FTS5` }
    const operations = { count: asked.length, unit: 'queries/s' }
    reportOrSkip(names, theirs, (theirs) =>
      bench.report(bench.compareOperations(names, operations, ours, theirs)),
    )
  }
}

async function askOurs(keep: Lorekeep, question: Question): Promise<number> {
  const { search, group, offset = 0 } = question
  const filters = { $text: { $search: search }, ...(group !== undefined && { group }) } as Filters
  const asked = { schema_name: schema.name, filters, limit, offset }
  const { objects, total } = await keep.objects.query(asked)
  const rest = Math.max(0, total - offset)
  bench.check(objects.length === Math.min(limit, rest), `the page of ${search}`)
  let before = Infinity
  for (const { _score = 0 } of objects) {
    bench.check(_score <= before, `the order of ${search}`)
    before = _score
  }
  return total
}

function anyOf(ranks: readonly number[]): Question {
  const words = ranks.map(wordOf)
  return {
    search: words.join(' '),
    match: words.join(' OR '),
    isMatch: ({ title, body }) => words.some((word) => ` ${title} ${body} `.includes(` ${word} `)),
  }
}

function phraseOf(ranks: readonly number[]): Question {
  const phrase = ranks.map(wordOf).join(' ')
  return {
    search: `"${phrase}"`,
    match: `"${phrase}"`,
    isMatch: ({ title, body }) => [title, body].some((text) => ` ${text} `.includes(` ${phrase} `)),
  }
}

function beginning(text: string): Question {
  return {
    search: `${text}*`,
    match: `${text}*`,
    isMatch: ({ title, body }) => ` ${title} ${body}`.includes(` ${text}`),
  }
}

function between(random: Random, least: number, below: number): number {
  return least + random.below(below - least)
}

/** No two are alike, and no stemmer takes anything from one. */
function wordOf(rank: number): string {
  const consonants = 'bdfgklmnprtv'
  const vowels = 'aou'
  let word = ''
  for (let left = rank + 40; left > 0; left = Math.floor(left / 36)) {
    word += `${consonants[left % 12]}${vowels[Math.floor(left / 12) % 3]}`
  }
  return `${word}k`
}

function createArticles(): Article[] {
  const random = new Random(1)
  // The n-th word is n times as rare as the first.
  const sums = new Float64Array(vocabulary)
  let sum = 0
  for (let rank = 0; rank < vocabulary; rank++) sums[rank] = sum += 1 / (rank + 2.7)
  const words = Array.from({ length: vocabulary }, (_, rank) => wordOf(rank))
  const pick = () => {
    const at = random.next() * sum
    let [low, high] = [0, vocabulary - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sums[middle] as number) <= at) low = middle + 1
      else high = middle
    }
    return words[low] as string
  }
  const text = (length: number) => Array.from({ length }, pick).join(' ')
  return Array.from({ length: count }, (_, n) => ({
    id: `article-${n}`,
    title: text(2 + random.below(5)),
    body: text(8 + random.below(17)),
    group: random.below(10),
  }))
}
