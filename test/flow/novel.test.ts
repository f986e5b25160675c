// The default flow on a whole book, over HTTP: text in, knowledge core out.

import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createHandler } from '../../src/http/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { CoreMessage, Triple } from '../../src/types.js'

const file = resolve('../shared/data/news-from-nowhere.txt')
const skip = existsSync(file) ? false : 'no novel: ../shared/data is not there'
const user = 'alice'
const id = 'https://www.gutenberg.org/ebooks/3261'

t.test('a novel becomes a core that can be taken elsewhere', { skip }, async (t) => {
  const bytes = readFileSync(file)
  const book = bytes.toString('utf8')
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge, objects, flows } = keep
  const server = createServer(createHandler({ knowledge, objects, flows, authenticate: 'none' }))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => server.close())
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`

  const body = JSON.stringify({ id, user, text: bytes.toString('base64') })
  const answer = await fetch(`${api}/flow/default/service/text-load`, { method: 'POST', body })
  t.equal(answer.status, 200)
  t.equal(await answer.text(), '')
  const job = answer.headers.get('Lorekeep-Job') ?? ''
  flows.run()
  const states: string[] = []
  for await (const { state } of flows.watch({ job })) states.push(state)
  t.equal(states.at(-1), 'done')

  const query = new URLSearchParams({ id, user })
  const exported = Buffer.from(await (await fetch(`${api}/export-core?${query}`)).arrayBuffer())
  const other = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => other.close())
  await other.knowledge.import({ user, id }, exported)
  const again: Uint8Array[] = []
  for await (const chunk of await other.knowledge.export({ user, id })) again.push(chunk)
  t.ok(
    Buffer.concat(again).equals(exported),
    'imported elsewhere, it is exported as the same bytes',
  )

  const { triples, embedded } = await contentOf(other.knowledge.messages({ user, id }))
  const objectsOf = (subject: string, predicate: RegExp) =>
    triples.filter(({ s, p }) => s.v === subject && predicate.test(p.v)).map(({ o }) => o.v)
  const texts = new Map<string, string>()
  let last = 0
  for (const { o: chunk } of triples.filter(({ p }) => p.v.endsWith('/hasPart'))) {
    const [start] = objectsOf(chunk.v, /#beginIndex$/)
    const [end] = objectsOf(chunk.v, /#endIndex$/)
    const { objects: found } = await objects.query({
      schema_name: 'lorekeep_chunk',
      filters: { uri: chunk.v },
    })
    const text = book.slice(Number(start), Number(end))
    t.ok(Number(start) < Number(end) && Number(start) >= last - 100, chunk.v)
    t.equal(found[0]?.['text'], text, 'the object has the text between the offsets')
    t.strictSame(objectsOf(chunk.v, /\/text$/), [text], 'and the core')
    last = Number(end)
    texts.set(chunk.v, text.replace(/\s+/g, ' ').toLowerCase())
  }
  t.ok(texts.size > 200)

  const labels = triples.filter(({ p }) => p.v.endsWith('#label'))
  t.ok(labels.length > 500)
  const lost = labels.filter(({ s, o }) => {
    const names = [o.v, ...objectsOf(s.v, /#altLabel$/)].map((name) => name.toLowerCase())
    const chunks = objectsOf(s.v, /#wasDerivedFrom$/)
    const hasName = (chunk: string) => names.some((name) => texts.get(chunk)?.includes(name))
    return chunks.length === 0 || !chunks.every(hasName)
  })
  t.strictSame(lost, [], 'each chunk that an entity is derived from contains one of its names')
  t.equal(
    embedded,
    texts.size,
    'an embedding for each chunk, and none that no model makes for entities',
  )
})

async function contentOf(messages: AsyncIterable<CoreMessage>) {
  const triples: Triple[] = []
  let embedded = 0
  for await (const [type, data] of messages) {
    if (type === 't') triples.push(...data.t)
    else embedded += data.e.length
  }
  return { triples, embedded }
}
