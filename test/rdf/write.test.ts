import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Term } from '@rdfjs/types'
import { Parser } from 'n3'
import t from 'tap'
import { reify } from '../../src/rdf/extras.js'
import { Restorer } from '../../src/rdf/restorer.js'
import { writeRdf } from '../../src/rdf/write.js'
import type { CoreMessage, Triple } from '../../src/types.js'
import { brief, entity, literal, parse, write } from './texts.js'

const all = ['n-triples', 'n-quads', 'turtle', 'trig']
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'

/** What another parser reads, sorted; blank nodes keep the labels of the text. */
function read(text: string, format: string): string[] {
  const show = (term: Term): string =>
    term.termType === 'Literal'
      ? JSON.stringify([term.value, term.datatype.value, term.language, term.direction ?? ''])
      : `${term.termType} ${term.value}`
  const quads = new Parser({ format, blankNodePrefix: '' }).parse(text)
  return quads
    .map(({ subject, predicate, object, graph }) => [subject, predicate, object, graph])
    .map((terms) => terms.map(show).join(' '))
    .sort()
}

t.test('a core of any triples is valid in every format, and comes back', async (t) => {
  const strange = ['Ellen Grey', '<"\\\n\t\u0000\u001f\u007f>', '\u{1f600}\ufffe', 'rdf:type', 'é']
  const triples: Triple[] = strange.flatMap((v) => [
    { s: entity(v), p: entity(v), o: entity(v) },
    { s: literal(v), p: literal(v), o: literal(v) },
    { s: entity('https://schema.org/Book'), p: entity(rdfType), o: literal(v) },
  ])
  for (const format of all) {
    const { triples: back } = await parse(await write(triples, format), { format })
    t.strictSame(back, triples, format)
  }
})

t.test('Turtle has prefixes for namespaces that it uses, and no others', async (t) => {
  const book = entity('https://schema.org/Book')
  const text = await write([{ s: book, p: entity(rdfType), o: literal('a\nb') }], 'turtle')
  t.match(text, /^@prefix schema: /m)
  t.match(text, /^schema:Book a "a\\nb"\.$/m)
  t.notMatch(text, 'xsd')
  t.equal(await write([], 'turtle'), '')
})

t.test('an IRI that looks like a prefixed name is written as the IRI that it is', async (t) => {
  const name = (v: string): Triple => ({ s: entity(v), p: entity('urn:p'), o: entity(v) })
  const many = Array.from({ length: 600 }, (_, n) => name(`https://schema.org/n${n}`))
  const triples = [...many, name('schema:name'), name('https://schema.org/name')]
  for (const format of ['turtle', 'trig']) {
    const { triples: back } = await parse(await write(triples, format), { format })
    t.strictSame(back, triples)
  }
})

const rich = `@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:a ex:b 1, 1.0, 1e0, true, "1"^^xsd:date, "x"@en, "x"@de-AT, "x", "y"@ar--rtl, [ ex:c ( 1 "x"@en ) ] .
ex:g { ex:a ex:b 1, "x", ex:c }
_:g { ex:a ex:b 1 . _:x ex:b "x"@en }
ex:a ex:b 2 .`

t.test('what was kept is written as it was', async (t) => {
  const { messages } = await parse(rich, { format: 'trig' })
  for (const format of ['trig', 'n-quads']) {
    const text = await write(messages, format)
    t.strictSame(inOrder(text, format), inOrder(rich, 'trig'))
    t.notMatch(text, 'urn:lorekeep')
  }
  // Through formats without graphs these are reified, and whole again where there are graphs.
  for (const format of ['n-triples', 'turtle']) {
    const text = await write(messages, format)
    t.match(text, 'urn:lorekeep:rdf:graph')
    const back = await parse(text, { format })
    const again = inOrder(await write(back.messages, 'n-quads'), 'n-quads')
    t.strictSame(again, inOrder(rich, 'trig'))
  }
})

t.test('what was reified is written as it was', async (t) => {
  const { messages, triples } = await parse(rich, { format: 'trig', loss: 'reify' })
  for (const format of ['trig', 'n-quads']) {
    const text = await write(messages, format)
    // Named after the text, the blank nodes of the copy are others: in order they are the same.
    t.strictSame(inOrder(text, format), inOrder(rich, 'trig'))
    t.notMatch(text, 'urn:lorekeep')
  }
  // Without graphs what was in one stays reified, and is whole when it comes back to where they are.
  for (const format of ['n-triples', 'turtle']) {
    const text = await write(messages, format)
    t.match(text, 'urn:lorekeep:rdf:graph')
    const { triples: back } = await parse(text, { format, loss: 'reify' })
    t.equal(back.length, triples.length)
  }
})

/** Each blank node by the place where it comes first. */
function inOrder(text: string, format: string): string[] {
  const labels = new Map<string, number>()
  const show = (term: Term): string => {
    if (term.termType === 'BlankNode') {
      if (!labels.has(term.value)) labels.set(term.value, labels.size)
      return `_:${labels.get(term.value)}`
    }
    if (term.termType !== 'Literal') return term.value
    const { value, datatype, language, direction } = term
    return JSON.stringify([value, datatype.value, language, direction ?? ''])
  }
  const quads = new Parser({ format }).parse(text)
  return quads.map(({ subject, predicate, object, graph }) =>
    [subject, predicate, object, graph].map(show).join(' '),
  )
}

t.test('only what is the whole of a reified statement is taken for one', async (t) => {
  const { triples } = await parse('<urn:a> <urn:b> "1"@en .', { format: 'nt', loss: 'reify' })
  t.match(await write(triples, 'nt'), /^<urn:a> <urn:b> "1"@en \.\n$/)
  const other: Triple = { s: entity('urn:a'), p: entity('urn:b'), o: literal('2') }
  const [plain = other, ...statement] = triples
  const more = { ...(statement[0] ?? other), p: entity('urn:more') }
  const forged = reify(plain, { language: 'en> <urn:x' })
  for (const changed of [
    statement,
    [other, ...statement],
    [plain, other, ...statement],
    [plain, ...statement.slice(0, -1)],
    [plain, ...statement.slice(1)],
    [plain, ...statement, more],
    [plain, ...statement, ...statement],
    [plain, ...forged],
  ]) {
    const { triples: back } = await parse(await write(changed, 'nt'), { format: 'nt' })
    t.strictSame(back.map(brief), changed.map(brief))
  }
  const twice = await write([...triples, ...triples, other], 'nt')
  t.equal(twice.split('\n').length, 4)
})

t.test('no more is held back than a reified statement has', async (t) => {
  const { triples } = await parse('<urn:a> <urn:b> "1"@en .', { format: 'nt', loss: 'reify' })
  const restorer = new Restorer(true)
  for (const triple of triples) t.equal(restorer.push(triple).length, 0)
  const more = { ...(triples[1] as Triple), p: entity('urn:more') }
  const pushed = Array.from({ length: 10 }, () => restorer.push(more).length)
  t.equal(pushed.reduce((sum, length) => sum + length) + restorer.end().length, triples.length + 10)
  t.ok(pushed.some((length) => length > 0))
})

t.test('embeddings are counted, not written', async (t) => {
  const m = { i: '', m: [], u: '', c: '' }
  const messages: CoreMessage[] = [
    ['ge', { m, e: [{ e: entity('urn:a'), v: [[1]] }] }],
    ['t', { m, t: [{ s: literal('a'), p: entity('urn:b'), o: literal('c') }] }],
  ]
  const text = writeRdf(messages, { format: 'nt' })
  let written = ''
  for await (const chunk of text) written += String(chunk)
  t.equal(written, '<urn:lorekeep:literal:a> <urn:b> "c" .\n')
  t.strictSame(text.counts, { statements: 1, encoded: 1, embeddings: 1 })
  t.throws(() => writeRdf([], { format: 'json' }), TypeError)
})

t.test('a long core comes in chunks', async (t) => {
  const triple = { s: entity('urn:a'), p: entity('urn:b'), o: literal('x'.repeat(100)) }
  const sizes: number[] = []
  const triples = function* () {
    for (let n = 0; n < 5000; n++) yield triple
  }
  for await (const chunk of writeRdf(triples(), { format: 'nt' })) sizes.push(chunk.length)
  t.ok(sizes.length > 4)
  t.ok(Math.max(...sizes) < 256 * 1024)
})

t.test('no chunk holds much more than its longest statement', async (t) => {
  const long = 20_000
  const source = Array.from({ length: 600 }, (_, n) => ({
    s: entity(`urn:s${n}`),
    p: entity('urn:p'),
    o: literal(`${n}`.padEnd(long)),
  }))
  for (const format of all) {
    let most = 0
    for await (const { length } of writeRdf(source, { format })) most = Math.max(most, length)
    t.ok(most < 64 * 1024 + 2 * long, `${most} in ${format}`)
  }
})

t.test('schema.org comes back with its graph and its languages', async (t) => {
  const file = resolve('../shared/data/schemaorg-30.0.nq')
  if (!existsSync(file)) return t.pass('skipped', { skip: 'schemaorg-30.0.nq is not there' })
  const text = readFileSync(file)
  const expected = read(text.toString(), 'n-quads')
  for (const loss of ['keep', 'reify'] as const) {
    const { messages, extras } = await parse(text, { format: 'nq', loss })
    t.match(extras, { statements: 18061, languages: 14, graphs: 18061 })
    for (const format of ['n-quads', 'trig']) {
      t.strictSame(read(await write(messages, format), format), expected, format)
    }
  }
})

t.test('without n3 the error names what to install', async (t) => {
  const script = `
    import { register } from 'node:module'
    const hook = \`export async function resolve(name, context, next) {
      if (name !== 'n3') return next(name, context)
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
    }\`
    register('data:text/javascript,' + encodeURIComponent(hook))
    const { parseRdf, writeRdf } = await import('${new URL(`file://${resolve('dist/src/rdf/index.js')}`)}')
    for (const stream of [parseRdf(Buffer.from(''), { format: 'nt' }), writeRdf([], { format: 'nt' })]) {
      try { for await (const _ of stream); } catch (error) { console.log(error.code, error.details.package) }
    }`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script])
  t.equal(output.toString(), 'LK_PEER_MISSING n3\nLK_PEER_MISSING n3\n')
})
