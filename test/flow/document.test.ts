import t from 'tap'
import { hasCode, type LorekeepError } from '../../src/errors.js'
import { acceptDocument, type AcceptedDocument } from '../../src/flow/document.js'

const limits = {
  maxTextBytes: 1000,
  maxMetadataTriples: 1000,
  maxFileBytes: 2000,
}
const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')
const id = 'http://example.org/doc/1'
const text = base64('News from Nowhere')
const title = {
  s: { v: id, e: true },
  p: { v: 'http://purl.org/dc/terms/title', e: true },
  o: { v: 'News from Nowhere', e: false },
}

const accept = (document: unknown): AcceptedDocument =>
  acceptDocument(document, limits, 'trustgraph')
const words = (document: unknown): string => Buffer.from(accept(document).text).toString()

function refusal(document: unknown): LorekeepError | undefined {
  try {
    accept(document)
    return undefined
  } catch (error) {
    return error as LorekeepError
  }
}

/** The paths of what is wrong, with offsets where there are any. */
function flaws(document: unknown): string[] {
  const error = refusal(document)
  if (!hasCode(error, 'LK_DOCUMENT_INVALID'))
    return [String((error as LorekeepError | undefined)?.code)]
  const errors = error.details['errors'] as { path: string; message: string; offset?: number }[]
  return errors.map(({ path, offset }) => (offset === undefined ? path : `${path}@${offset}`))
}

t.test('a document is accepted with its fields, and with the defaults of the others', async (t) => {
  const { text: bytes, ...fields } = accept({ id, text })
  const defaults = { user: 'trustgraph', collection: 'default', metadata: [], metadataLength: 0 }
  t.strictSame(fields, { id, ...defaults })
  t.equal(Buffer.from(bytes).toString(), 'News from Nowhere')
  const whole = { id, user: 'alice', collection: 'utopias', title: 'News', metadata: [title] }
  const { text: latin, ...rest } = accept({ ...whole, charset: 'Latin1', text: 'Y2Fm6SCA' })
  const metadataLength = title.s.v.length + title.p.v.length + title.o.v.length
  t.strictSame(rest, { ...whole, metadataLength })
  t.equal(Buffer.from(latin).toString(), 'café €')
  t.not(rest.metadata[0], title, 'what the caller changes later is not in it')
})

t.test('the text comes as base64 with white space, or as content', async (t) => {
  t.equal(words({ id, text: 'TmV3\r\ncw==\n' }), 'News')
  t.equal(words({ id, content: 'Nowhere 💩' }), 'Nowhere 💩')
  t.equal(words({ id, text: '' }), '')
  t.equal(words({ id, content: '' }), '')
  t.equal(words({ id, text: base64('\ufeffa') }), '\ufeffa', 'a byte order mark stays')
})

t.test('a file is its bytes, copied, with the type that they show', async (t) => {
  const bytes = Buffer.from('%PDF-1.7 and more')
  const { text: kept, ...fields } = accept({ name: 'a.pdf', bytes, charset: null, type: null })
  t.match(fields, { id: 'a.pdf', user: 'trustgraph', type: 'application/pdf' })
  t.strictSame(Buffer.from(kept), bytes)
  bytes.fill(0)
  t.equal(Buffer.from(kept).subarray(0, 4).toString(), '%PDF')
  t.match(accept({ id, name: 'a.md', bytes: Buffer.from('# A') }), { id, type: 'text/markdown' })
  const latin = Buffer.from('Br\xfccke', 'latin1')
  t.equal(words({ id, bytes: latin }), 'Brücke')
  t.equal(words({ id, bytes: latin, charset: 'iso-8859-5' }), 'Brќcke')
  const plain = accept({ id, bytes: Buffer.from('text') })
  t.notOk('type' in plain)
  t.equal(Buffer.from(plain.text).toString(), 'text')
})

t.test('a file that is no document is refused by what it looks like', async (t) => {
  const zip = Buffer.from('504b0506', 'hex')
  const seen = { code: 'LK_DOCUMENT_TYPE', details: { found: 'a damaged ZIP archive' } }
  t.match(refusal({ id, bytes: zip }), seen)
  t.strictSame(flaws({ id: '', bytes: zip }), ['id'], 'what else is wrong is told before')
  for (const [bytes, charset] of [
    [zip, 'utf-8'],
    [Buffer.from('%PDF-1.7'), 'utf-8'],
    [Buffer.from('7f454c4602010100', 'hex'), 'windows-1252'],
  ] as const) {
    t.strictSame(flaws({ id, text: base64(bytes), charset }), ['text'], 'nor is it taken as a text')
  }
  t.ok(accept({ id, text: base64('{ "a": 1 }') }))
  t.ok(accept({ id, text: base64('%') }))
})

t.test('a file has a size, and a text in it has that of texts', async (t) => {
  const file = (size: number, name: string) => ({ id, name, bytes: Buffer.alloc(size, 'x') })
  t.ok(accept(file(2000, 'a.html')))
  t.match(refusal(file(2001, 'a.html')), {
    code: 'LK_DOCUMENT_TOO_LARGE',
    details: { maxFileBytes: 2000, found: 2001 },
  })
  t.ok(accept(file(1000, 'a.txt')))
  t.match(refusal(file(1001, 'a.txt')), {
    code: 'LK_DOCUMENT_TOO_LARGE',
    details: { maxTextBytes: 1000, found: 1001 },
  })
})

t.test(
  'null for an optional member is as good as leaving it out, as Python sends it',
  async (t) => {
    const nothing = {
      user: null,
      collection: null,
      metadata: null,
      charset: null,
      content: null,
      title: null,
    }
    t.strictSame(accept({ id, text, ...nothing }), accept({ id, text }))
    t.strictSame(accept({ id, content: 'a', text: null }), accept({ id, content: 'a' }))
  },
)

t.test('each thing that is wrong is told with its path', async (t) => {
  const half = '\ud800'
  const triple = (change: object) => ({ id, text, metadata: [title, { ...title, ...change }] })
  const bad: readonly (readonly [what: string, document: unknown, paths: readonly string[]])[] = [
    ['nothing', undefined, ['', 'id', 'text']],
    ['null', null, ['', 'id', 'text']],
    ['an array', [{ id, text }], ['', 'id', 'text']],
    ['no fields', {}, ['id', 'text']],
    ['an empty id', { id: '', text }, ['id']],
    ['a number for an id', { id: 1, text }, ['id']],
    ['half a surrogate pair in the id', { id: `a${half}`, text }, ['id@1']],
    ['a long id', { id: 'é'.repeat(513), text }, ['id']],
    ['an empty user', { id, user: '', text }, ['user']],
    ['a long user', { id, user: 'u'.repeat(1025), text }, ['user']],
    ['half a surrogate pair in the user', { id, user: '\udc00', text }, ['user@0']],
    ['an empty collection', { id, collection: '', text }, ['collection']],
    ['a long collection', { id, collection: 'c'.repeat(257), text }, ['collection']],
    ['an empty title', { id, title: '', text }, ['title']],
    ['a blank title', { id, title: ' \n', text }, ['title']],
    ['a number for a title', { id, title: 1984, text }, ['title']],
    ['half a pair in a title', { id, title: `A ${half}`, text }, ['title@2']],
    ['a long title', { id, title: 'a'.repeat(1001), text }, ['title']],
    ['a string for bytes', { id, bytes: 'text' }, ['bytes']],
    ['no name and no id', { bytes: Buffer.from('a') }, ['id']],
    ['a number for a name', { id, name: 1, bytes: Buffer.from('a') }, ['name']],
    ['a number for a type', { id, type: 1, bytes: Buffer.from('a') }, ['type']],
    ['bytes beside content', { id, content: 'a', bytes: Buffer.from('a') }, ['content']],
    ['an unknown charset', { id, charset: 'x', bytes: Buffer.from('a') }, ['charset']],
    [
      'bytes of another charset',
      { id, charset: 'utf-8', bytes: Buffer.from('ff', 'hex') },
      ['bytes@0'],
    ],
    ['one triple for metadata', { id, metadata: title, text }, ['metadata']],
    ['no triple', { id, metadata: [title, 'title'], text }, ['metadata[1]']],
    ['a hole in metadata', { id, metadata: new Array<unknown>(1), text }, ['metadata[0]']],
    ['a triple of nothing', triple({ o: undefined }), ['metadata[1].o']],
    ['a string for a term', triple({ p: 'title' }), ['metadata[1].p']],
    ['a number for a value', triple({ o: { v: 1, e: false } }), ['metadata[1].o.v']],
    ['a number for e', triple({ s: { v: 'a', e: 1 } }), ['metadata[1].s.e']],
    ['an empty term', triple({ s: {} }), ['metadata[1].s.v', 'metadata[1].s.e']],
    ['half a pair in a value', triple({ o: { v: half, e: true } }), ['metadata[1].o.v@0']],
    ['a long value', triple({ o: { v: 'a'.repeat(2 ** 20 + 1), e: true } }), ['metadata[1].o.v']],
    ['more in a triple', triple({ c: title.s }), ['metadata[1].c']],
    ['a graph that is a term', triple({ g: title.s }), ['metadata[1].g']],
    ['an empty graph', triple({ g: '' }), ['metadata[1].g']],
    ['a name for a datatype', triple({ o: { v: '1', e: false, dt: 'int' } }), ['metadata[1].o.dt']],
    ['a language of a URI', triple({ o: { v: '1', e: true, ln: 'en' } }), ['metadata[1].o.ln']],
    [
      'a datatype and a language',
      triple({ o: { v: '1', e: false, ln: 'en', dt: 'a:b' } }),
      ['metadata[1].o'],
    ],
    ['more in a term', triple({ o: { v: '', e: true, t: '' } }), ['metadata[1].o.t']],
    ['an unknown charset', { id, charset: 'cp437', text }, ['charset']],
    ['a charset that is not decoded', { id, charset: 'iso-2022-kr', text }, ['charset']],
    ['the wrong charset', { id, text: base64(Buffer.from('café', 'latin1')) }, ['text@3']],
    ['half a character', { id, charset: 'utf-16', text: base64('abc') }, ['text@2']],
    ['null for a text', { id, text: null }, ['text']],
    ['bytes for a text', { id, text: Buffer.from('a') }, ['text']],
    ['a data URL', { id, text: `data:text/plain;base64,${text}` }, ['text@4']],
    ['base64url', { id, text: 'QUJ_' }, ['text@3']],
    ['no padding', { id, text: 'QQ' }, ['text@2']],
    ['raw text', { id, text: 'News, from Nowhere' }, ['text@4']],
    ['null for content', { id, content: null }, ['text']],
    ['half a pair in content', { id, content: `a💩${half}b` }, ['content@3']],
    ['text and content', { id, text, content: 'a' }, ['content']],
    ['a charset for content', { id, charset: 'utf-8', content: 'a' }, ['charset']],
    ['an unknown member', { id, text, Title: 'a' }, ['Title']],
    ['a prototype', JSON.parse(`{"id":"a","text":"","__proto__":{"user":1}}`), ['__proto__']],
    ['several', { id: 1, user: 2, charset: '?', text: '?' }, ['id', 'user', 'charset', 'text@0']],
  ]
  for (const [what, document, paths] of bad) t.strictSame(flaws(document), paths, what)
})

t.test('at their limits, names and values are accepted', async (t) => {
  const long = { s: title.s, p: title.p, o: { v: 'a'.repeat(2 ** 20), e: false } }
  const literal = { s: { v: '', e: false }, p: { v: 'p', e: false }, o: { v: 'o', e: false } }
  const names = { id: 'é'.repeat(512), user: 'u'.repeat(1024), collection: 'c'.repeat(256) }
  t.match(accept({ ...names, text, metadata: [long, literal] }), {
    ...names,
    metadata: [long, literal],
  })
})

t.test('only members of its own count, and they are read once', async (t) => {
  const inherits = Object.create({ id, text }) as object
  t.strictSame(flaws(inherits), ['id', 'text'])
  let reads = 0
  const document = {
    text,
    get id() {
      return reads++ === 0 ? id : 1
    },
  }
  t.equal(accept(document).id, id)
})

t.test('at most 100 things are told, none of them at length', async (t) => {
  const metadata = Array.from({ length: 300 }, () => ({}))
  t.equal(flaws({ id, text, metadata }).length, 100)
  // A value, and the name of a member: a text is longer than either, and ends up in logs.
  const secret = 'x'.repeat(21)
  const name = 'x'.repeat(65)
  for (const [document, hidden] of [
    [{ id, text: `?${secret}` }, secret],
    [{ id, text, charset: secret }, secret],
    [{ id, text, metadata: secret }, secret],
    [{ id, text, metadata: [{ ...title, o: secret }] }, secret],
    [{ id: [secret], user: { secret }, text: [secret] }, secret],
    [{ id, text, [name]: 1 }, name],
  ] as const) {
    const error = refusal(document)
    t.equal(error?.code, 'LK_DOCUMENT_INVALID')
    t.notOk(JSON.stringify([error?.message, error?.details]).includes(hidden))
  }
})

t.test('a text of just the most bytes is accepted, one byte more is too large', async (t) => {
  const most = limits.maxTextBytes
  const wrapped = base64('a'.repeat(most)).replace(/.{76}/g, '$&\r\n')
  for (const [fits, exceeds] of [
    [{ text: base64('a'.repeat(most)) }, { text: base64('a'.repeat(most + 1)) }],
    [{ text: wrapped }, { text: `${wrapped.replaceAll('=', '')}A` }],
    [{ content: 'é'.repeat(most / 2) }, { content: `a${'é'.repeat(most / 2)}` }],
  ]) {
    t.ok(accept({ id, ...fits }))
    const error = refusal({ id, ...exceeds })
    t.match(error, {
      code: 'LK_DOCUMENT_TOO_LARGE',
      details: { maxTextBytes: most, found: most + 1 },
    })
  }
})

t.test('so is the limit of metadata', async (t) => {
  const metadata = (length: number) => Array.from({ length }, () => title)
  t.equal(accept({ id, text, metadata: metadata(1000) }).metadata.length, 1000)
  t.match(refusal({ id, text, metadata: metadata(10_000) }), {
    code: 'LK_DOCUMENT_TOO_LARGE',
    details: { maxMetadataTriples: 1000, found: 10_000 },
  })
  t.strictSame(flaws({ id: 1, text, metadata: metadata(1001) }), ['id'], 'flaws come first')
})

t.test('so is that of all strings in the metadata together', async (t) => {
  const most = 4 * 1024 * 1024
  const term = (v: string) => ({ v, e: false })
  const million = term('x'.repeat(2 ** 20))
  const metadata = (rest: string) => [
    { s: million, p: million, o: million },
    { s: term('x'.repeat(2 ** 20 - 1)), p: term('x'), o: term(rest) },
  ]
  t.equal(accept({ id, text, metadata: metadata('') }).metadataLength, most)
  t.match(refusal({ id, text, metadata: metadata('y') }), {
    code: 'LK_DOCUMENT_TOO_LARGE',
    details: { maxMetadataLength: most, found: most + 1 },
  })
})
