import t from 'tap'
import { ask, type JsonReply } from '../fixtures/objects.js'
import { defineQuick, end, run } from '../fixtures/flows.js'
import { as, json, send, serve, type Serving } from '../fixtures/serving.js'
import { column, pdf, zip } from '../../flow/files/made-files.js'

const path = '/flow/quick/service/file-load'
const paper = pdf([
  [
    { x: 72, y: 740, text: 'Of Tolls', size: 20 },
    ...column(72, 700, ['The toll was a penny then.']),
  ],
])

function sendFile(
  { url }: Serving,
  query: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  flow = path,
) {
  return send(`${url}/api/v1${flow}${query}`, {
    method: 'POST',
    headers: { ...as('alice'), ...headers },
    body: Buffer.from(body),
  })
}

async function sendForm(serving: Serving, form: FormData, query = '', flow = path) {
  const request = new Response(form)
  const headers = { 'Content-Type': request.headers.get('content-type') ?? '' }
  return sendFile(serving, query, new Uint8Array(await request.arrayBuffer()), headers, flow)
}

function formOf(fields: Readonly<Record<string, string | Blob>>, name = 'paper.pdf'): FormData {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(key, value)
    else form.append(key, value, name)
  }
  return form
}

t.test('a file as the body becomes passages that cite their page', async (t) => {
  const serving = await serve(t)
  const flow = '/flow/default/service/file-load'
  run(t, serving)
  const reply = await sendFile(serving, '?id=urn:tolls&collection=c', paper, {}, flow)
  t.equal(reply.status, 200)
  t.equal(reply.body.byteLength, 0)
  const job = await end(serving, String(reply.headers['lorekeep-job']))
  t.match(job, { state: 'done', user: 'alice', document: 'urn:tolls', collection: 'c' })
  const found = await ask(serving, 'POST /graph/search', { text: 'penny' })
  t.match(found.value, { passages: [{ heading: 'Of Tolls', page: 1, title: 'Of Tolls' }] })
})

t.test('a form has the file and its fields, as browsers send it', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const s = { v: 'urn:a', e: true }
  const metadata = JSON.stringify([{ s, p: s, o: { v: 'x', e: false } }])
  const file = new Blob([new Uint8Array(paper)], { type: 'application/pdf' })
  const form = formOf({ id: 'urn:a', title: 'Tolls', metadata, file })
  const reply = await sendForm(serving, form)
  t.equal(reply.status, 200)
  const job = await serving.flows.job(String(reply.headers['lorekeep-job']))
  t.match(job, { user: 'alice', document: 'urn:a', state: 'queued' })
  const named = await sendForm(serving, formOf({ file }))
  t.equal(named.status, 200)
  const other = await serving.flows.job(String(named.headers['lorekeep-job']))
  t.equal(other?.document, 'paper.pdf', 'its name is its id')
})

t.test('what is wrong with a form is told', async (t) => {
  const serving = await serve(t, { maxFileBytes: 5000 })
  await defineQuick(serving)
  const file = new Blob(['text'])
  const refusal = async (form: FormData, query?: string) => {
    const reply = await sendForm(serving, form, query)
    const { code, errors } = json(reply) as JsonReply['value'] & {
      code: string
      errors: readonly { path?: string }[]
    }
    return [reply.status, code, ...errors.flatMap((error) => error.path ?? [])].join(' ')
  }
  const twice = formOf({ file, id: 'a' })
  twice.append('id', 'b')
  t.equal(await refusal(twice), '400 LK_HTTP_REQUEST id')
  t.equal(await refusal(formOf({ id: 'a' })), '400 LK_HTTP_REQUEST file')
  t.equal(await refusal(formOf({ file, other: file })), '400 LK_HTTP_REQUEST file')
  t.equal(await refusal(formOf({ file, usr: 'x' })), '400 LK_HTTP_REQUEST usr')
  t.equal(await refusal(formOf({ file, metadata: '{' })), '400 LK_HTTP_REQUEST metadata')
  t.equal(
    await refusal(formOf({ file, metadata: '[{}]' })),
    '400 LK_DOCUMENT_INVALID metadata[0].s metadata[0].p metadata[0].o',
  )
  const long = new Blob(['x'.repeat(5001)])
  t.equal(await refusal(formOf({ file: long })), '413 LK_HTTP_TOO_LARGE')
  const fields = formOf({ file, title: 'x'.repeat(1024 ** 2 + 1) })
  t.equal(await refusal(fields), '413 LK_HTTP_TOO_LARGE')
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
  for (const body of [
    '',
    'x',
    '--x\r\n\r\n',
    '--x\r\nContent-Disposition: form-data\r\n\r\n--x--',
  ]) {
    const reply = await sendFile(serving, '', Buffer.from(body), headers)
    t.equal(reply.status, 400, body)
  }
})

t.test('what nothing is read of is a 415 that says what it looks like', async (t) => {
  const serving = await serve(t)
  await defineQuick(serving)
  const reply = await sendFile(serving, '?name=a.zip', zip({ a: 'b' }))
  t.equal(reply.status, 415)
  t.match(json(reply), { code: 'LK_DOCUMENT_TYPE', found: 'a ZIP archive', detail: /ZIP archive/ })
  t.strictSame(await serving.flows.stats('quick'), {
    queued: 0,
    active: 0,
    delayed: 0,
    done: 0,
    dead: 0,
  })
})

t.test('what a body says of itself counts for texts', async (t) => {
  const serving = await serve(t)
  const texts: string[] = []
  await serving.flows.define({
    id: 'quick',
    steps: [
      {
        name: 'see',
        run: (_, { document }) => void texts.push(`${document.type} ${document.text}`),
      },
    ],
  })
  run(t, serving)
  const load = async (query: string, body: Uint8Array, type?: string) => {
    const reply = await sendFile(serving, query, body, type ? { 'Content-Type': type } : {})
    if (reply.status === 200) await end(serving, String(reply.headers['lorekeep-job']))
    return reply.status
  }
  const latin = Buffer.from('Br\xfccke', 'latin1')
  t.equal(await load('?id=a', Buffer.from('# A'), 'text/markdown; charset=utf-8'), 200)
  t.equal(await load('?id=a', Buffer.from('# A'), 'application/x-www-form-urlencoded'), 200)
  t.equal(await load('?id=a', latin, 'text/plain; charset="iso-8859-1"'), 200)
  t.equal(await load('?id=a', latin, 'text/plain; charset=utf-8'), 400)
  t.equal(await load('?id=a&charset=latin1', latin, 'text/plain; charset=utf-8'), 200)
  const cyrillic = Buffer.from('<p>\xcd\xcf\xd3\xd4', 'latin1')
  t.equal(await load('?id=a', cyrillic, 'application/xhtml+xml; charset=koi8-r'), 200)
  const file = new File([cyrillic], 'a.html', { type: 'text/html; charset=koi8-r' })
  const binary = new File([latin], 'a.txt', { type: 'text/plain; charset=binary' })
  for (const each of [file, binary]) {
    const reply = await sendForm(serving, formOf({ id: 'a', file: each }))
    t.equal(reply.status, 200)
    await end(serving, String(reply.headers['lorekeep-job']))
  }
  const ibm = new File([latin], 'a.txt', { type: 'text/plain; charset=cp437' })
  t.equal((await sendForm(serving, formOf({ id: 'a', file: ibm }))).status, 400)
  t.strictSame(texts, [
    'text/markdown # A',
    'undefined # A',
    'undefined Brücke',
    'undefined Brücke',
    'text/html мост',
    'text/html мост',
    'undefined Brücke',
  ])
})

t.test('whose a file is, and how long it may be', async (t) => {
  const authenticate = () => ({ user: 'alice', collections: ['a'] })
  const serving = await serve(t, { authenticate, maxFileBytes: 10 })
  await defineQuick(serving)
  const load = async (query: string, body = 'text') =>
    (await sendFile(serving, query, Buffer.from(body))).status
  t.equal(await load('?id=x&collection=a'), 200)
  t.equal(await load('?id=x&collection=b'), 403)
  t.equal(await load('?id=x&collection=a&user=bob'), 403)
  t.equal(await load('?collection=a'), 400)
  t.equal(await load('?id=x&collection=a', 'x'.repeat(10)), 200)
  t.equal(await load('?id=x&collection=a', 'x'.repeat(11)), 413)
})
