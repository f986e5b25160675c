import t from 'tap'
import { parseRdf } from '../../src/rdf/parse.js'
import { brief, parse } from './texts.js'

const head = '@prefix ex: <http://example.org/> .\n'

t.test('a text of each format is the triples that it says', async (t) => {
  const line = '<http://example.org/a> <http://example.org/b> "c\\u00e9" .\n'
  for (const [format, text] of [
    ['turtle', `${head}ex:a ex:b "c\\u00e9" .`],
    ['ttl', `\ufeff${head}ex:a ex:b "cé" .`],
    ['trig', `${head}{ ex:a ex:b "cé" }`],
    ['n-triples', line],
    ['NT', line],
    ['nq', line],
  ] as const) {
    const { triples } = await parse(text, { format })
    t.strictSame(triples.map(brief), ['http://example.org/a http://example.org/b "cé"'], format)
  }
  t.strictSame((await parse('', { format: 'turtle' })).messages, [])
})

t.test('messages are the same whatever the chunks, and of some hundred triples', async (t) => {
  const lines = Array.from(
    { length: 1234 },
    (_, n) => `ex:s${n} ex:p "käse ${n}"@de, _:n${n % 7} .`,
  )
  const text = Buffer.from(head + lines.join('\n'))
  const options = { format: 'turtle', loss: 'reify', collection: 'shelf' } as const
  const { messages, triples } = await parse(text, options)
  t.equal(triples.length, 1234 * 2 + 1234 * 5)
  t.ok(messages.every(([, { m }]) => m.c === 'shelf'))
  t.ok(messages.every(([type, data]) => type === 't' && data.t.length < 510))
  const cut = function* (size: number) {
    // One buffer for all chunks, as some sources have.
    const chunk = Buffer.alloc(size)
    for (let at = 0; at < text.length; at += size) {
      yield chunk.subarray(0, text.copy(chunk, 0, at, at + size))
    }
  }
  for (const size of [1000, 4097])
    t.strictSame((await parse(cut(size), options)).messages, messages)
})

t.test('blank nodes are the same in a text again, and others in another text', async (t) => {
  const text = `${head}_:x ex:knows [ ex:name "A" ], _:x, ( _:x ) .`
  const nodesOf = async (text: string, base?: string) => {
    const { triples } = await parse(text, { format: 'turtle', base })
    const terms = triples
      .flatMap(({ s, o }) => [s, o])
      .filter(({ e, v }) => e && v.startsWith('_:'))
    return new Set(terms.map(({ v }) => v))
  }
  const nodes = await nodesOf(text)
  t.equal(nodes.size, 3)
  t.strictSame(await nodesOf(text), nodes)
  const others = [await nodesOf(`${text}\n`), await nodesOf(text, 'http://example.org/')]
  for (const other of others) t.equal([...other].filter((node) => nodes.has(node)).length, 0)

  const long = (end: string) => `${'x'.repeat(40)}${end}`
  const renamed = await nodesOf(`${head}_:${long('a')} ex:p _:${long('b')} .`)
  t.equal(renamed.size, 2)
  t.ok([...renamed].every((label) => label.length < 60))
})

t.test('a long text with blank nodes comes back from where it waited', async (t) => {
  const node = (n: number) => `${head}_:n${n} ex:p "${'x'.repeat(1000)}" .\n`
  const text = function* () {
    for (let n = 0; n < 6000; n++) yield Buffer.from(node(n))
  }
  const { triples } = await parse(text(), { format: 'turtle' })
  t.equal(triples.length, 6000)
  t.equal(new Set(triples.map(({ s }) => s.v)).size, 6000)
  t.match(triples.at(-1)?.s.v, /-n5999$/)
})

const rich = `${head}
ex:a ex:b "1"^^ex:int, "x"@en, "x"@de, "y"@ar--rtl, "plain" .
ex:g { ex:a ex:b "plain", "2"^^ex:int }
_:g { ex:a ex:b ex:c }`

t.test('datatypes, languages and graphs are kept and counted', async (t) => {
  const { triples, extras } = await parse(rich, { format: 'trig' })
  const kept = triples.filter(({ s }) => !s.v.startsWith('urn:lorekeep:statement:'))
  const int = 'http://example.org/int'
  const g = 'http://example.org/g'
  t.strictSame(kept.map(({ o, g }) => (g === undefined ? o : { ...o, g })).slice(0, -1), [
    { v: '1', e: false, dt: int },
    { v: 'x', e: false, ln: 'en' },
    { v: 'x', e: false, ln: 'de' },
    { v: 'y', e: false, ln: 'ar' },
    { v: 'plain', e: false },
    { v: 'plain', e: false, g },
    { v: '2', e: false, dt: int, g },
  ])
  t.match(kept.at(-1)?.g, /^_:b[0-9a-f]{16}-g$/)
  t.equal(triples.length - kept.length, 5, 'a direction is reified')
  t.strictSame(extras, { statements: 7, datatypes: 2, languages: 3, directions: 1, graphs: 3 })
})

t.test('they are dropped where that is asked for, and counted', async (t) => {
  const { triples, extras } = await parse(rich, { format: 'trig', loss: 'drop' })
  t.notOk(triples.some(({ o, g }) => o.dt ?? o.ln ?? g))
  t.strictSame(
    triples.map(({ o }) => o.v),
    ['1', 'x', 'x', 'y', 'plain', 'plain', '2', 'http://example.org/c'],
  )
  t.strictSame(extras, { statements: 7, datatypes: 2, languages: 3, directions: 1, graphs: 3 })
})

t.test('it is reified where that is asked for, directly behind its triple', async (t) => {
  const { triples } = await parse(rich, { format: 'trig', loss: 'reify' })
  const name = (iri: string) => iri.replace(/^.*[/#:]/, '')
  const [plain, ...statement] = triples.slice(0, 6)
  t.equal(plain?.o.v, '1')
  t.equal(new Set(statement.map(({ s }) => s.v)).size, 1)
  t.match(statement[0]?.s.v, /^urn:lorekeep:statement:[0-9a-f]{32}$/)
  t.strictSame(
    statement.map(({ p, o }) => `${name(p.v)} ${name(o.v)}`),
    ['type Statement', 'subject a', 'predicate b', 'object 1', 'datatype int'],
  )
  const subjects = triples.filter(({ o }) => o.v.endsWith('#Statement')).map(({ s }) => s.v)
  t.equal(new Set(subjects).size, 7, 'literals that differ in language alone are kept apart')
})

t.test('it is refused where that is asked for, with all counts', async (t) => {
  await t.rejects(parse(rich, { format: 'trig', loss: 'refuse' }), {
    code: 'LK_RDF_LOSS',
    details: { statements: 7, datatypes: 2, languages: 3, directions: 1, graphs: 3 },
  })
  const { triples } = await parse('<urn:a> <urn:b> "c" .', { format: 'nt', loss: 'refuse' })
  t.equal(triples.length, 1)
})

t.test('a graph that stands for none is neither kept nor counted', async (t) => {
  const text = `<urn:a> <urn:b> "c" <urn:all> .\n<urn:a> <urn:b> "d" <urn:g> .\n`
  const options = { format: 'nq', defaultGraph: 'urn:all' }
  const { triples, extras } = await parse(text, options)
  t.strictSame(
    triples.map(({ o, g }) => [o.v, g]),
    [
      ['c', undefined],
      ['d', 'urn:g'],
    ],
  )
  t.match(extras, { statements: 1, graphs: 1 })
  const [line = ''] = text.split('\n')
  t.equal((await parse(line, { ...options, loss: 'refuse' })).triples.length, 1)
})

const nested = (depth: number) =>
  `${head}ex:a ex:b ${'[ ex:p '.repeat(depth)} ex:o ${']'.repeat(depth)} .`

t.test('brackets may be nested a thousand deep', async (t) => {
  t.equal((await parse(nested(1000), { format: 'turtle' })).triples.length, 1001)
})

t.test('a text that is not valid is refused with its line', async (t) => {
  const bytes = (text: string, ...more: number[]) => Buffer.from([...Buffer.from(text), ...more])
  for (const [format, line, text] of [
    ['turtle', 2, `${head}ex:a ex:b .`],
    ['turtle', 3, `${head}ex:a ex:b ex:c .\nex:a ex:b "c`],
    ['turtle', 2, `${head}ex:a ex:b <c> .`],
    ['turtle', 1, '@prefix : <#> .'],
    ['turtle', 2, `${head}ex:a ex:b <<( ex:a ex:b ex:c )>> .`],
    ['turtle', 2, `${head}ex:a ex:b ex:c {| ex:d ex:e |} .`],
    ['turtle', 2, nested(1001)],
    ['turtle', 2, `\n<urn:a> <urn:b> <urn:c> <urn:g> .`],
    ['nt', 1, '<urn:a> <urn:b> "c" <urn:g> .'],
    ['nt', 1, '<a> <urn:b> <urn:c> .'],
    ['nt', 2, bytes('<urn:a> <urn:b> <urn:c> .\n<urn:', 0xff)],
    ['nt', 2, bytes('<urn:a> <urn:b> <urn:c> .\n<urn:', 0xe2, 0x82)],
  ] as const) {
    const shown = String(text).slice(0, 60)
    await t.rejects(parse(text, { format }), { code: 'LK_RDF_FORMAT', details: { line } }, shown)
  }
})

t.test('bytes that are no UTF-8 are found behind a character that was cut', async (t) => {
  const text = Buffer.concat([Buffer.from('# é\n# é\n# '), Buffer.of(0xff)])
  const cut = [text.subarray(0, 3), text.subarray(3)]
  await t.rejects(parse(cut, { format: 'nt' }), { code: 'LK_RDF_FORMAT', details: { line: 3 } })
})

t.test('what stays open is bounded', async (t) => {
  const endless = function* () {
    yield Buffer.from(`${head}ex:a ex:b "`)
    for (let n = 0; n < 1000; n++) yield Buffer.alloc(64 * 1024, 'x')
    t.fail('it was read to the end')
  }
  await t.rejects(parse(endless(), { format: 'turtle' }), { code: 'LK_RDF_FORMAT' })
  const prefixes = function* () {
    for (let n = 0; n < 101_000; n += 1000) {
      const lines = Array.from({ length: 1000 }, (_, at) => `@prefix p${n + at}: <urn:p> .\n`)
      yield Buffer.from(`${lines.join('')}<urn:a> <urn:b> <urn:c> .\n`)
    }
  }
  await t.rejects(parse(prefixes(), { format: 'turtle' }), { code: 'LK_RDF_FORMAT' })
})

t.test('a base makes relative IRIs absolute', async (t) => {
  const options = { format: 'turtle', base: 'http://example.org/a/b' }
  const { triples } = await parse('<#c> <../d> <> .', options)
  t.strictSame(triples.map(brief), [
    'http://example.org/a/b#c http://example.org/d http://example.org/a/b',
  ])
})

t.test('a reader that leaves ends the source', async (t) => {
  let ended = false
  const source = async function* () {
    try {
      for (;;) yield Buffer.from('<urn:a> <urn:b> <urn:c> .\n'.repeat(1000))
    } finally {
      ended = true
    }
  }
  for await (const message of parseRdf(source(), { format: 'nt' })) {
    t.equal(message[0], 't')
    break
  }
  t.ok(ended)
})

t.test('options of the wrong kind are programming mistakes', async (t) => {
  const bytes = Buffer.alloc(0)
  t.throws(() => parseRdf(bytes, { format: 'rdf/xml' }), TypeError)
  t.throws(() => parseRdf(bytes, { format: 'nt', loss: 'all' as 'drop' }), TypeError)
  t.throws(() => parseRdf(bytes, { format: 'nt', base: '/a' }), TypeError)
  await t.rejects(parse(['text' as unknown as Buffer], { format: 'nt' }), TypeError)
  // These could be read as if they were bytes.
  for (const chunk of [new Uint16Array(8).fill(35), new Int8Array(8).fill(35), { length: 0 }]) {
    await t.rejects(parse([chunk as unknown as Buffer], { format: 'nt' }), TypeError)
  }
})
