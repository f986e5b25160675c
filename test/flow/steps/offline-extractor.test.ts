import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { entityUri, relationUri } from '../../../src/flow/steps/names.js'
import { offlineExtractor } from '../../../src/flow/steps/offline-extractor.js'
import type { ChunkText, Extraction } from '../../../src/flow/steps/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const base = 'e:'
const related = 'http://www.w3.org/2004/02/skos/core#related'
const { mainEntity } = vocabulary
const extractor = offlineExtractor()

async function extract(chunk: ChunkText, whole: string, title?: string): Promise<Extraction> {
  const named = title === undefined ? {} : { title }
  const document = { id: 'd', user: 'u', collection: 'c', ...named, metadata: [], text: whole }
  return extractor(chunk, {
    signal: new AbortController().signal,
    document,
    source: { v: 'd', e: true },
    entity: (name) => ({ v: entityUri(name, base), e: true }),
    relation: (name) => ({ v: relationUri(name, base), e: true }),
  })
}

async function extractText(text: string) {
  const { entities, triples } = await extract({ index: 0, start: 0, end: text.length, text }, text)
  const short = triples.map(({ s, p, o }) => [s, p, o].map(({ v }) => v.replace(base, '')))
  return {
    entities,
    names: entities.map(({ name }) => name),
    statements: short.filter(([, p]) => p !== related).map((terms) => terms.join(' ')),
    pairs: short.filter(([, p]) => p === related).map(([s, , o]) => `${s} ${o}`),
  }
}

/** Every promise of an extraction that can be checked without knowing what the text means. */
function flaws({ entities, triples }: Extraction, text: string): string[] {
  const plain = text.replace(/\s+/g, ' ')
  const uris = new Set(entities.map(({ name }) => entityUri(name, base)))
  const missing = entities.filter(({ name }) => !plain.includes(name)).map(({ name }) => name)
  // What a document is about is said of the document.
  const named = triples.flatMap(({ s, p, o }) => (p.v === mainEntity ? [o.v] : [s.v, o.v]))
  const unknown = named.filter((uri) => !uris.has(uri))
  const repeated = uris.size < entities.length ? ['an entity twice'] : []
  return [...missing, ...unknown, ...repeated]
}

t.test('names are found whole, and without titles', async (t) => {
  const { names } = await extractText(
    'In March, Dr. Angela Merkel met Emmanuel Macron at the Élysée Palace in Paris. Jean-Claude ' +
      'Juncker of the European Central Bank wrote to the House of Commons about Apollo 11.',
  )
  t.strictSame(names, [
    'Angela Merkel',
    'Emmanuel Macron',
    'Élysée Palace',
    'Paris',
    'Jean-Claude Juncker',
    'European Central Bank',
    'House of Commons',
    'Apollo 11',
  ])
})

t.test('a heading is no part of the sentence below', async (t) => {
  const wesson = 'Barry Jarvis Wesson is an American outfielder. He played in Houston.'
  for (const text of [
    `Barry Wesson\n${wesson}`,
    `Barry Wesson\r\n${wesson}`,
    `# Barry Wesson\n${wesson}`,
    `\ufeff# Barry Wesson ##\n${wesson}`,
  ]) {
    const { names, entities } = await extractText(text)
    t.strictSame(names.slice(0, 2), ['Barry Wesson', 'Barry Jarvis Wesson'], text)
    t.match(entities[1], { definition: 'Barry Jarvis Wesson is an American outfielder.' })
  }
  const sections = '# Wesson\n\nHe came.\n\n## Minor Leagues\nBarry Wesson met Ada Byron.'
  const { names } = await extractText(sections)
  t.ok(names.includes('Barry Wesson') && !names.some((name) => name.includes('Leagues Barry')))
  const code = '# Wesson\n\n```\n# Minor Leagues\nBarry Wesson\n```\n'
  t.strictSame((await extractText(code)).names.includes('Minor Leagues Barry Wesson'), true)
})

t.test(
  'the title that a document was given stands apart, and is no entity by itself',
  async (t) => {
    const text =
      'Wesson, the early years\nBarry Wesson met Ada Byron.\nBarry Wesson\nAda Byron left.'
    const chunk = { index: 0, start: 0, end: text.length, text }
    const named = async (title?: string) => {
      const { entities } = await extract(chunk, text, title)
      return entities.map(({ name }) => name)
    }
    t.ok((await named()).includes('Barry Wesson Ada Byron'))
    const names = await named('Barry Wesson')
    t.ok(names.includes('Barry Wesson') && names.includes('Ada Byron'))
    t.notOk(names.includes('Barry Wesson Ada Byron'))
    t.strictSame(await named('Nowhere'), await named())
  },
)

t.test('words with a capital that name nothing are no entities', async (t) => {
  const { names } = await extractText(
    'CHAPTER IV: THE JOURNEY HOME\n\nThen I said: "Yes, I will." He went on Monday. She laughed. ' +
      'Excuse me! However, it rained in June. Good morning to you. Batteries are heavy.',
  )
  t.strictSame(names, [])
})

t.test('a word that begins a sentence is a name where another sentence shows it', async (t) => {
  const { names } = await extractText('Rose was late. We waited for Rose.')
  t.strictSame(names, ['Rose'])
  t.strictSame((await extractText('Prices rose. Rose bushes grew.')).names.includes('Rose'), false)
})

t.test('key phrases are noun phrases, and nouns that come again', async (t) => {
  const { names } = await extractText(
    'Solid-state batteries store electrical energy. The battery was new. A battery is heavy. ' +
      'This battery has other good things.',
  )
  t.strictSame(names, ['Solid-state batteries', 'electrical energy', 'battery'])
})

t.test('subject, verb and object become a statement', async (t) => {
  const { statements } = await extractText(
    'Apple Inc. acquired the London startup DeepSound. Ada Lovelace was born in London. DNA was ' +
      'described by Rosalind Franklin. Tim Cook has never met Emmanuel Macron. The wife of ' +
      "John Smith visited Rome. Grace Hopper praised Alan Turing's work.",
  )
  t.strictSame(statements, [
    'apple-inc. acquire deepsound',
    'deepsound http://www.w3.org/1999/02/22-rdf-syntax-ns#type startup',
    'ada-lovelace born-in london',
    'dna described-by rosalind-franklin',
  ])
})

t.test('"X is a Y" defines X', async (t) => {
  const { entities } = await extractText(
    'A knowledge core is a set of triples. Paris is the capital of France. Is Rome a town? ' +
      '"Well. Oslo is a town," he said. Bern is a \ud800 town.',
  )
  const defined = entities.filter(({ definition }) => definition !== undefined)
  t.strictSame(defined, [
    { name: 'Paris', definition: 'Paris is the capital of France.' },
    { name: 'knowledge core', definition: 'A knowledge core is a set of triples.' },
  ])
})

t.test('what stands near each other is related, once and in the order of the URIs', async (t) => {
  const { pairs } = await extractText(
    'We saw Zoe and Adam. He saw Adam with Zoe.\n\nIt rained.\n\nIt rained.\n\nWe met Bob.',
  )
  t.strictSame(pairs, ['adam zoe'])
})

t.test('relations are bounded, however many names a text has', async (t) => {
  const names = Array.from(
    { length: 300 },
    (_, i) => `Na${String.fromCharCode(97 + (i % 26))}${i}x`,
  )
  const { pairs } = await extractText(`We met ${names.join(', ')}.`)
  t.ok(pairs.length > 0 && pairs.length <= 32, `${pairs.length}`)
})

t.test('a name that the end or begin of a chunk cuts is left to its neighbour', async (t) => {
  const whole = 'We came to New York City with Bob.'
  const chunk = (start: number, end: number) => {
    return extract({ index: 0, start, end, text: whole.slice(start, end) }, whole)
  }
  t.strictSame((await chunk(0, 19)).entities, [])
  t.strictSame((await chunk(15, 34)).entities, [{ name: 'Bob' }])
  t.strictSame((await chunk(0, 24)).entities, [{ name: 'New York City' }])
})

t.test('no name is cut at a blank line or the end of a sentence, or elsewhere', async (t) => {
  const namesAt = async (whole: string, part: string) => {
    const start = whole.indexOf(part)
    const chunk = { index: 1, start, end: start + part.length, text: part }
    return (await extract(chunk, whole)).entities.map(({ name }) => name)
  }
  for (const [before, gap] of [
    ['They lived in Prague', '\n\n'],
    ['They lived in Prague', '\r\n \r\n'],
    ['They lived in Prague.', '\n\n'],
    ['They lived in (old) Prague.)', ' '],
  ]) {
    const text = 'Kafka met Max Brod in Vienna.'
    t.strictSame(await namesAt(`${before}${gap}${text}`, text), ['Kafka', 'Max Brod', 'Vienna'])
  }
  const heading = 'Kafka\n\nKafka met Max Brod in Vienna, and we met Kafka'
  const found = ['Kafka', 'Max Brod', 'Vienna']
  t.strictSame(await namesAt(`They lived in Prague.\n\n${heading}`, heading), found)
  t.strictSame(await namesAt(`We met Franz ${heading} Max.`, heading), found)
  const bought = 'We know that it was bought by Apple Inc.'
  t.strictSame(await namesAt(`${bought} Later it was sold.`, bought), ['Apple Inc.'])
  t.strictSame(await namesAt(`We met J. R. R. Tolkien here.`, 'Tolkien here.'), [])
})

t.test('of other languages it takes names inside of sentences', async (t) => {
  const french = 'Le président Emmanuel Macron habite à Paris. Il a vu la chancelière hier.'
  t.strictSame((await extractText(french)).names, ['Emmanuel Macron', 'Paris'])
  const lower = 'il a acheté une nouvelle lampe rouge et un vieux livre pour ses enfants.'
  t.strictSame((await extractText(lower)).names, [])
  const german = 'Gestern kaufte der alte Mann eine schöne rote Lampe und ein neues Buch in Rom.'
  t.strictSame((await extractText(german)).names, ['Mann', 'Lampe', 'Buch', 'Rom'])
  const russian = 'Вчера президент встретил Ангелу Меркель в городе Берлине.'
  t.strictSame((await extractText(russian)).names, ['Ангелу Меркель', 'Берлине'])
  t.strictSame((await extractText('東京は日本の首都です。')).names, [])
})

const seed = pickSeed()
t.test(`no text makes it fail, or name what is not in it (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const parts = [
    ...['Ada', 'Lovelace', 'met', 'the', 'of', 'is', 'a', 'battery', "don't", 'cannot', 'U.S.'],
    ...['.', ',', '"', '’s', '-', '_', '&', '<b>', '{}', '=>', 'http://a.b/', '__proto__', 'x@y.z'],
    ...['\n\n', '\r\n', '\u00a0', '\u2028', '\u200d', '\ud800', '\u0000', '😀', '漢字', 'İ', 'ﬁ'],
  ]
  for (let i = 0; i < 150; i++) {
    const gap = random.pick(['', ' ', ' ', '\n'])
    const words = Array.from({ length: random.below(300) }, () => {
      const code = random.below(0x1_0000)
      return random.chance(0.1) ? String.fromCharCode(code) : random.pick(parts)
    })
    const text = words.join(gap)
    const found = await extract({ index: 0, start: 0, end: text.length, text }, text)
    const wrong = flaws(found, text)
    if (wrong.length > 0) t.strictSame(wrong, [], JSON.stringify(text))
  }
})

t.test('a text of one thing again and again takes no time to speak of', async (t) => {
  const joined = ['http://a.', "a'", 'a-', '<b>', 'Aa', 'Ł', '\u0301']
  const apart = ['Chief ', 'Aa of ', 'Aa and ', 'Council for ', '" ', 'A. ', '1 ', 'President ']
  for (const piece of [...joined, ...apart]) {
    const text = piece.repeat(100_000 / piece.length)
    const found = await extract({ index: 0, start: 0, end: text.length, text }, text)
    t.strictSame(flaws(found, text), [], piece)
  }
})

t.test('nor do many brackets in one sentence', async (t) => {
  for (const text of ['Ada [of it] and '.repeat(20_000), `Ada the ${'(a) '.repeat(40_000)}`]) {
    const found = await extract({ index: 0, start: 0, end: text.length, text }, text)
    t.strictSame(flaws(found, text), [])
  }
})

const novel = resolve('../shared/data/news-from-nowhere.txt')
const skip = existsSync(novel) ? false : 'no novel: ../shared/data is not there'
t.test('every name of a novel stands in its chunk', { skip }, async (t) => {
  const whole = readFileSync(novel, 'utf8')
  const all = new Map<string, number>()
  for (let start = 0; start < whole.length; start += 1900) {
    const end = Math.min(start + 2000, whole.length)
    const chunk = { index: start / 1900, start, end, text: whole.slice(start, end) }
    const found = await extract(chunk, whole)
    const wrong = flaws(found, chunk.text)
    if (wrong.length > 0) t.strictSame(wrong, [], `chunk ${chunk.index}`)
    for (const { name } of found.entities) all.set(name, (all.get(name) ?? 0) + 1)
  }
  const top = [...all].sort(([, a], [, b]) => b - a).slice(0, 12)
  for (const name of ['Dick', 'Clara', 'Ellen', 'Hammond', 'London', 'Thames']) {
    t.ok(
      top.some(([found]) => found === name),
      name,
    )
  }
  t.ok(all.size < 2000, `${all.size} names`)
})
