import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { maxMessageWeight, weightOf } from '../../src/message-weight.js'
import { parseRdf } from '../../src/rdf/parse.js'
import type { CoreMessage } from '../../src/types.js'
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

const triplesIn = ([type, data]: CoreMessage) => (type === 't' ? data.t : [])

t.test('a message ends where it would weigh too much', async (t) => {
  const line = (n: number, length: number) => `<urn:s${n}> <urn:p> "${'x'.repeat(length)}" .\n`
  const sizes = async (...lengths: number[]) => {
    const text = lengths.map((length, n) => line(n, length)).join('')
    const { messages } = await parse(text, { format: 'nt' })
    return messages.map((message) => triplesIn(message).length)
  }
  // A statement has 11 characters beside its literal.
  const half = maxMessageWeight / 2 - 11
  t.strictSame(await sizes(half, half, 1), [2, 1])
  t.strictSame(await sizes(half, half + 1, 1), [1, 2])
  t.strictSame(await sizes(1, 2 * maxMessageWeight, 1, 1), [1, 1, 2], 'one alone may weigh more')
  t.strictSame(await sizes(...Array<number>(1234).fill(900)), [500, 500, 234])

  // Datatypes and graphs weigh, too, and what is reified stays in one message.
  const long = 'x'.repeat(maxMessageWeight / 8)
  const quad = (n: number) => `<urn:s> <urn:p> "${n}"^^<urn:${long}> <urn:${long}> .\n`
  const text = Array.from({ length: 20 }, (_, n) => quad(n)).join('')
  for (const [loss, perMessage] of [
    ['keep', 3],
    ['drop', 20],
    ['reify', 21],
  ] as const) {
    const { messages } = await parse(text, { format: 'nq', loss })
    t.equal(messages[0] && triplesIn(messages[0]).length, perMessage, loss)
    for (const message of messages) {
      const weight = triplesIn(message).reduce((sum, triple) => sum + weightOf(triple), 0)
      t.ok(weight <= maxMessageWeight, loss)
    }
  }
})

t.test('a chunk is read piece by piece, however long it is', async (t) => {
  const chunk = Buffer.from(`${'<urn:s> <urn:p> <urn:o> .\n'.repeat(20_000)}this is none .\n`)
  let messages = 0
  const reading = async () => {
    for await (const _ of parseRdf([chunk], { format: 'turtle' })) messages++
  }
  await t.rejects(reading(), { code: 'LK_RDF_FORMAT' })
  t.ok(messages >= 35, `what lies before the last 64 KiB was handed on: ${messages}`)
})

t.test('a text of long literals is imported', async (t) => {
  const limits = { maxMessageBytes: 4 * 1024 * 1024 }
  const keep = await createLorekeep({ backend: new MemoryBackend(), limits })
  t.teardown(() => keep.close())
  const text = function* () {
    for (let n = 0; n < 40; n++)
      yield Buffer.from(`<urn:s${n}> <urn:p> "${'x'.repeat(150_000)}" .\n`)
  }
  const ref = { user: 'u', id: 'long' }
  const { triples } = await keep.knowledge.write(ref, parseRdf(text(), { format: 'nt' }))
  t.equal(triples, 40)
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

t.test('what a short text stands for is bounded', async (t) => {
  const most = 4096
  const iri = (length: number) => `http://a/${'x'.repeat(length - 9)}`
  const said = '<urn:a> <urn:b> <urn:c> .'
  const count = async (text: string, base?: string) =>
    (await parse(text, { format: 'turtle', base })).triples.length
  const fails = (line: number) => ({ code: 'LK_RDF_FORMAT', details: { line } })

  t.equal(await count(`@prefix a: <${iri(most)}> .\n${said}`), 1)
  await t.rejects(count(`\n@prefix a: <${iri(most + 1)}> .\n${said}`), fails(2))
  t.equal(await count(`@prefix a: <${'x'.repeat(most - 9)}> .\n${said}`, 'http://a/b'), 1)
  await t.rejects(count(`PREFIX a: <${'x'.repeat(most - 8)}>\n${said}`, 'http://a/b'), fails(1))

  t.equal(await count(`@base <${iri(most)}> .\n${said}`), 1)
  await t.rejects(count(`\n@base <${iri(most + 1)}> .\n${said}`), fails(2))
  t.equal(await count(said, iri(most)), 1)
  await t.rejects(count(said, iri(most + 1)), fails(1))
  const chain = (links: number) => `@base <http://a/> .\n${'BASE <abc/>\n'.repeat(links)}`
  const links = Math.floor((most - 'http://a/'.length) / 4)
  t.equal(await count(chain(links) + said), 1)
  await t.rejects(count(chain(links + 1) + said), fails(links + 2))
  t.equal(await count(chain(links) + chain(links) + said), 1, 'an absolute one begins anew')

  const long = 'x'.repeat(4000)
  const prefixes = function* () {
    yield Buffer.from(`@base <http://a/${long}/> .\n`)
    for (let n = 0; n < 5000; n++) yield Buffer.from(`@prefix p${n}: <${n}> .\n${said}\n`)
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
