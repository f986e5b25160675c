import t from 'tap'
import type { LorekeepError } from '../../src/errors.js'
import { Library, readDescription } from '../../src/tgx/library.js'

const brief = (json: object) =>
  readDescription({ id: 'urn:a', ...json }, 'member').metadata.map(
    ({ s, p, o }) => `${s.v} ${p.v.replace(/^.*\//, '')} ${o.e ? `<${o.v}>` : o.v}`,
  )

t.test('what is said of a document becomes its metadata', async (t) => {
  const metadata = [
    { s: 'urn:b', p: 'http://example.org/about', o: 'returns' },
    { s: 'urn:b', p: 'http://example.org/see', o: 'https://example.org/x' },
    { s: 'urn:b', p: 'http://example.org/see', o: 'urn:isbn:1' },
    { s: 'urn:b', p: 'http://example.org/note', o: 'see https://example.org/x' },
    { s: 'urn:b', p: 'http://example.org/note', o: 'note:this' },
  ]
  const said = {
    title: 'Policy',
    comments: 'On returns',
    tags: ['shop', 'policy'],
    time: '2026-07-01T12:00:00',
    kind: 'text/markdown; charset=utf-8',
    parent_id: 'urn:whole',
    metadata,
  }
  t.strictSame(brief(said), [
    'urn:a title Policy',
    'urn:a description On returns',
    'urn:a subject shop',
    'urn:a subject policy',
    'urn:a dateSubmitted 2026-07-01T12:00:00',
    'urn:a format text/markdown',
    'urn:a isPartOf <urn:whole>',
    'urn:b about returns',
    'urn:b see <https://example.org/x>',
    'urn:b see <urn:isbn:1>',
    'urn:b note see https://example.org/x',
    'urn:b note note:this',
  ])
  t.strictSame(brief({ title: '', comments: null, tags: null, time: null, metadata: null }), [
    'urn:a format text/plain',
  ])
})

t.test('the kind is a media type, and may say a charset', async (t) => {
  for (const [kind, expected, charset] of [
    [undefined, 'text/plain', 'utf-8'],
    [null, 'text/plain', 'utf-8'],
    ['Text/HTML', 'text/html', 'utf-8'],
    ['text/plain; format=flowed; Charset="windows-1252"', 'text/plain', 'windows-1252'],
    ['text/plain;charset=shift_jis', 'text/plain', 'shift_jis'],
    ['text/plain; charset=None', 'text/plain', 'utf-8'],
    ['text/plain; charset=binary; charset=latin1', 'text/plain', 'latin1'],
  ] as const) {
    t.match(readDescription({ id: 'a', kind }, 'm'), { kind: expected, charset }, String(kind))
  }
})

t.test('all that is wrong is told', async (t) => {
  const wrong = { id: 7, kind: [], tags: ['a', 1], metadata: [{ s: 'a', p: 'b' }, 'c'], title: {} }
  try {
    readDescription(wrong, 'knowledge/library/a.meta.json')
    t.fail('it is wrong')
  } catch (error) {
    const { code, message, details } = error as LorekeepError
    t.equal(code, 'LK_WORKSPACE_FORMAT')
    t.match(message, 'knowledge/library/a.meta.json: id must be a string, not 7; kind must')
    t.equal(details['member'], 'knowledge/library/a.meta.json')
    const errors = details['errors'] as readonly { path: string }[]
    t.strictSame(
      errors.map(({ path }) => path),
      [
        ...['id', 'kind', 'title', 'tags[1]', 'metadata[0].o'],
        ...['metadata[1].s', 'metadata[1].p', 'metadata[1].o'],
      ],
    )
  }
  for (const json of [null, [], 'x', {}, { id: '' }, { id: null }]) {
    t.throws(() => readDescription(json, 'm'), { code: 'LK_WORKSPACE_FORMAT' })
  }
  t.throws(() => readDescription([], 'm'), /m: must be an object, not an empty array/)
})

/** `id kind parent type` each. */
function fates(...documents: readonly string[]): Readonly<Record<string, string>> {
  const library = new Library()
  for (const document of documents) {
    const [id = '', kind, parent_id, document_type] = document.split(' ')
    t.ok(library.add(readDescription({ id, kind, parent_id, document_type }, 'm')))
  }
  return Object.fromEntries(
    documents.map((document) => {
      const [id = ''] = document.split(' ')
      return [id, library.fateOf(id)]
    }),
  )
}

t.test('a text is loaded unless it is a part of one that is', async (t) => {
  t.strictSame(
    fates(
      'chunk-of-page text/plain page chunk',
      'text text/plain',
      'chunk text/plain text chunk',
      'pdf application/pdf',
      'page text/plain pdf page',
      'image image/png page image',
      'caption text/plain image extracted',
      'markdown text/markdown',
      'orphan text/plain gone chunk',
      'answer text/plain  answer',
    ),
    {
      text: 'text',
      chunk: 'part',
      pdf: 'kind',
      page: 'text',
      'chunk-of-page': 'part',
      image: 'kind',
      caption: 'part',
      markdown: 'text',
      orphan: 'text',
      answer: 'answer',
    },
  )
})

t.test('texts that are parts of each other, or of themselves, are not lost', async (t) => {
  t.strictSame(fates('a text/plain b', 'b text/plain a', 'c text/plain c'), {
    a: 'text',
    b: 'text',
    c: 'text',
  })
})

t.test('a document is there once', async (t) => {
  const library = new Library()
  const description = readDescription({ id: 'a' }, 'm')
  t.equal(library.add(description), true)
  t.equal(library.add(description), false)
  t.equal(library.size, 1)
  t.strictSame([...library.fates()], [{ fate: 'text', kind: '' }])
})
