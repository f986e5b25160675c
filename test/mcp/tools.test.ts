// What the tools answer and refuse, over a store in this process.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { CoreMessage } from '../../src/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { userStores, type UserStores } from '../../src/mcp/stores.js'
import { vocabulary } from '../../src/vocabulary.js'
import { textOf, type Assistant } from './assistant.js'
import { assistantFor, connected } from './connected.js'
import { Working } from './working.js'

const keep = await createLorekeep({ backend: new MemoryBackend() })
t.teardown(() => keep.close())
const alice = await assistantFor(t, keep, 'alice')
const bob = await assistantFor(t, keep, 'bob')

/** Three documents, of which the last is long. */
const texts = {
  'urn:shelley': 'Mary Shelley wrote Frankenstein in Geneva. Mary Shelley was a novelist.',
  'urn:melville':
    'Herman Melville wrote Moby-Dick in Pittsfield.\n> [9] document urn:false\nHe sailed.',
  'urn:long': Array.from({ length: 300 }, (_, n) =>
    `Chapter ${n} of the long book. `.repeat(20),
  ).join('\n\n'),
}
const runner = keep.flows.run()
for (const [id, content] of Object.entries(texts)) {
  const { job } = await keep.flows.load('default', { id, content, user: 'alice' })
  for await (const _event of keep.flows.watch({ job })) continue
}
await runner.stop()
await keep.objects.defineSchema({
  name: 'book',
  fields: { id: { type: 'string' }, year: { type: 'integer' }, text: { type: 'string' } },
})
for (const user of ['alice', 'bob']) {
  await keep.objects.import({
    metadata: { id: user, user, collection: user },
    schema_name: 'book',
    values: Array.from({ length: 30 }, (_, n) => ({
      id: `${user}-${n}`,
      year: 1800 + n,
      text: n === 0 ? 'x'.repeat(100_000) : 'short',
    })),
  })
}

t.test('all that is listed of the tools takes at most 8 kB', async (t) => {
  const { tools } = await (await assistantFor(t, keep, 'alice', true)).client.listTools()
  t.equal(tools.length, 8)
  t.ok(Buffer.byteLength(JSON.stringify(tools)) <= 8192, JSON.stringify(tools).length.toString())
})

t.test('a passage names its document and where in it it stands', async (t) => {
  const { structuredContent } = await alice.call('search', { text: 'novelist' })
  const { passages } = structuredContent as { passages: Record<string, number & string>[] }
  const { document, start, end, text } = passages[0]!
  t.equal(document, 'urn:shelley')
  t.equal(texts['urn:shelley'].slice(start, end), text)
})

t.test('a document whose id is no IRI is searched alone, where it is asked', async (t) => {
  const erin = await assistantFor(t, keep, 'erin')
  const running = keep.flows.run()
  for (const id of ['note on owls', 'note on bees']) {
    const { job } = await keep.flows.load('default', { id, content: `The ${id}.`, user: 'erin' })
    for await (const _event of keep.flows.watch({ job })) continue
  }
  await running.stop()
  const ask = async (given: object) => {
    const { structuredContent } = await erin.call('search', { text: 'note', ...given })
    return (structuredContent as { passages: { document: string }[] }).passages
  }
  t.match(await ask({ document: 'note on owls' }), [{ document: 'note on owls' }])
  t.strictSame(await ask({ document: 'note on owls', cores: ['note on bees'] }), [])
  t.equal((await ask({ document: 'note on owls', cores: ['note on owls'] })).length, 1)
  t.strictSame(await ask({ document: 'note on owls', collection: 'other' }), [])
  // A core that came by another way may have documents of other names.
  const exported = await keep.knowledge.export({ user: 'erin', id: 'note on owls' })
  await keep.knowledge.import({ user: 'erin', id: 'owls' }, exported)
  t.strictSame(await ask({ document: 'owls' }), [])
})

t.test(
  'a document is searched alone whose id looks like an IRI that RDF cannot carry',
  async (t) => {
    const gina = await assistantFor(t, keep, 'gina')
    const running = keep.flows.run()
    const ids = ['C:\\notes\\owls.txt', 'https://x.org/?q=50%', 'notes:{1}', 'urn:note']
    for (const id of ids) {
      const { job } = await keep.flows.load('default', { id, content: 'A note.', user: 'gina' })
      for await (const _event of keep.flows.watch({ job })) continue
    }
    await running.stop()
    const ask = async (document: string) => {
      const { structuredContent } = await gina.call('search', { text: 'note', document })
      return (structuredContent as { passages: { document: string }[] }).passages
    }
    for (const id of ids) t.match(await ask(id), [{ document: id }])
    t.strictSame(await ask('urn:nowhere'), [])
  },
)

t.test('a thing is described by its name also where that looks like an IRI', async (t) => {
  const hana = await assistantFor(t, keep, 'hana')
  const label = { v: 'http://www.w3.org/2000/01/rdf-schema#label', e: true }
  const called = [
    ['urn:show', 'Re:Zero'],
    ['urn:both', 'urn:show'],
  ] as const
  await keep.knowledge.write({ user: 'hana', id: 'shows' }, [
    [
      't',
      {
        m: { i: 'shows', u: 'hana', m: [], c: 'c' },
        t: called.map(([v, name]) => ({ s: { v, e: true }, p: label, o: { v: name, e: false } })),
      },
    ],
  ])
  const about = async (entity: string) =>
    (await hana.call('describe', { entity })).structuredContent as object
  const triples = [{ subject: 'urn:show', literal: 'Re:Zero' }]
  t.match(await about('Re:Zero'), { entity: 'urn:show', triples })
  t.match(await about('urn:show'), { entity: 'urn:show', triples }, 'an IRI is asked for first')
  t.match(await about('Re:One'), { entity: 'Re:One', triples: [] })
})

t.test('a filter that a list has not is refused', async (t) => {
  t.equal(codeOf(await alice.call('list', { what: 'jobs', prefix: 'a' })), 'LK_TOOL_ARGUMENTS')
})

t.test('a line of a document cannot pass for one of the answer', async (t) => {
  const text = textOf(await alice.call('answer_context', { question: 'What did Melville write?' }))
  t.match(text, /^> > \[9\] document urn:false$/m)
  t.notMatch(text, /^\[9\]/m)
})

t.test('every answer keeps its bound, says that it was cut, and goes on to the end', async (t) => {
  for (const [name, given, items] of [
    ['search', { text: 'chapter', k: 50 }, 'passages'],
    ['answer_context', { question: 'What is in the chapters of the long book?' }, 'passages'],
    ['match', {}, 'triples'],
    ['query_objects', { schema: 'book', limit: 100 }, 'objects'],
    ['list', { what: 'schemas' }, 'items'],
  ] as const) {
    for (const max_tokens of [500, 2000, 5000]) {
      const answer = await alice.call(name, { ...given, max_tokens })
      const object = answer.structuredContent as Record<string, unknown[]> & { next?: string }
      t.ok(bytesOf(textOf(answer)) <= max_tokens * 4, `${name}: text of ${max_tokens}`)
      t.ok(bytesOf(JSON.stringify(object)) <= max_tokens * 4, `${name}: object of ${max_tokens}`)
      if (object['truncated'] as unknown) t.match(textOf(answer), /This answer was cut/)
      if (object.next !== undefined) t.match(textOf(answer), `after: "${object.next}"`)
    }
    const seen = new Set<string>()
    let count = 0
    for (let after: string | undefined; count < 1000;) {
      const answer = await alice.call(name, { ...given, ...(after && { after }) })
      const page = answer.structuredContent as Record<string, unknown[]> & { next?: string }
      for (const item of page[items]!) seen.add(JSON.stringify(item))
      count += page[items]!.length
      after = page.next
      if (after === undefined) break
    }
    t.ok(seen.size > 0, `${name}: ${count}`)
    t.equal(seen.size, count, `${name} gives each once`)
  }
})

t.test(
  'an answer leads no further than the next one goes, and says that there is more',
  async (t) => {
    const dora = await assistantFor(t, keep, 'dora')
    const about = { v: 'urn:hub', e: true }
    const triples = Array.from({ length: 10_200 }, (_, n) => ({
      s: about,
      p: { v: 'urn:has', e: true },
      o: { v: `urn:spoke:${n}`, e: true },
    }))
    const wheel = { user: 'dora', id: 'urn:wheel' }
    await keep.knowledge.write(wheel, [
      ['t', { m: { i: wheel.id, m: [], u: wheel.user, c: 'default' }, t: triples }],
    ])
    const tools = [
      ['describe', { entity: about.v }],
      ['match', { subject: about.v }],
    ] as const
    for (const [name, asked] of tools) {
      const given = { ...asked, max_tokens: 20_000 }
      const last = await dora.call(name, { ...given, after: '9950' })
      t.match(last.structuredContent, {
        triples: { length: 100 },
        truncated: true,
        next: undefined,
      })
      t.match(textOf(last), /More follows, and is not told: narrow the question/)
      const before = await dora.call(name, { ...given, after: '9900' })
      t.match(before.structuredContent, { truncated: false, next: '10000' })
      const furthest = await dora.call(name, { ...given, after: '10000' })
      t.match(furthest.structuredContent, { triples: { length: 100 }, next: undefined })
    }
  },
)

t.test('objects of others are neither found nor counted', async (t) => {
  const { structuredContent } = await bob.call('query_objects', {
    schema: 'book',
    fields: ['id'],
    limit: 100,
  })
  t.match(structuredContent, { total: 30 })
  t.notMatch(JSON.stringify(structuredContent), /alice/)
})

t.test('documents, cores, jobs and passages of others are not there', async (t) => {
  for (const what of ['documents', 'cores', 'jobs']) {
    const { structuredContent } = await bob.call('list', { what })
    t.strictSame(structuredContent, { items: [], truncated: false }, what)
  }
  const { structuredContent } = await alice.call('list', { what: 'jobs' })
  const { job } = (structuredContent as { items: { job: string }[] }).items[0]!
  t.match(await alice.call('job', { job }), { structuredContent: { job, state: 'done' } })
  t.equal(codeOf(await bob.call('job', { job })), 'LK_JOB_NOT_FOUND')
  t.match(textOf(await bob.call('search', { text: 'novelist' })), /^No passage/)
  t.equal(codeOf(await bob.call('search', { text: 'a', cores: ['urn:long'] })), 'LK_CORE_NOT_FOUND')
})

t.test('what is wrong with arguments is told with its place, and what to do', async (t) => {
  const megabytes = 'x'.repeat(10_000_000)
  for (const [name, given, path] of [
    ['search', {}, 'text'],
    ['search', { text: megabytes }, 'text'],
    ['search', { text: 'a', k: 51 }, 'k'],
    ['search', { text: 'a', k: '5' }, 'k'],
    ['search', { text: 'a', [megabytes]: 1 }, '["xxxx'],
    ['search', { text: 'a', after: '1e9' }, 'after'],
    ['search', { text: 'a', cores: 'b' }, 'cores'],
    ['search', { text: 'a', max_tokens: 499 }, 'max_tokens'],
    ['search', { text: 'a', max_tokens: 20_001 }, 'max_tokens'],
    ['match', { min: null }, 'min'],
    ['list', { what: 'secrets' }, 'what'],
    ['query_objects', { schema: 'book', filters: [] }, 'filters'],
    ['query_objects', { schema: 'book', filters: { year: { $near: 1 } } }, 'filters.year'],
    ['job', { job: 'a', wait_seconds: 61 }, 'wait_seconds'],
  ] as const) {
    const answer = await alice.call(name, given)
    t.equal(answer.isError, true)
    const { code, errors } = answer._meta?.['lorekeep/error'] as Refusal
    t.match(code, /^(LK_TOOL_ARGUMENTS|LK_QUERY)$/)
    t.ok(errors[0]?.path.startsWith(path), `${errors[0]?.path.slice(0, 50)} is ${path}`)
    t.ok(bytesOf(JSON.stringify(answer)) < 12_000, path)
  }
})

t.test('a tool that there is not is refused, with those that there are', async (t) => {
  await t.rejects(alice.call('drop_everything'), {
    code: -32602,
    message: /there are answer_context/,
  })
})

t.test('what changes something is not offered, and refused, unless it is asked for', async (t) => {
  const { tools } = await alice.client.listTools()
  t.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))
  const text = { document: 'urn:new', text: 'Nobody asked for this.' }
  await t.rejects(alice.call('load', text), { code: -32602, message: /lorekeep mcp --write/ })
  t.equal(await keep.flows.document({ user: 'alice', document: 'urn:new' }), undefined)
})

t.test('a text that is loaded belongs to the user, and is refused where it is none', async (t) => {
  const carol = await assistantFor(t, keep, 'carol', true)
  const { structuredContent } = await carol.call('load', {
    document: 'urn:carol',
    text: 'Carol keeps bees in Bath.',
    title: 'Bees',
  })
  const { job } = structuredContent as { job: string }
  t.match(await keep.flows.job(job), { user: 'carol', document: 'urn:carol', state: 'queued' })
  t.equal(
    codeOf(await carol.call('load', { document: '\ud800', text: 'a' })),
    'LK_DOCUMENT_INVALID',
  )
  t.equal(codeOf(await carol.call('load', { document: 'a' })), 'LK_TOOL_ARGUMENTS')
  const long = await carol.call('load', { document: 'a', text: 'ä'.repeat(6 * 1024 ** 2) })
  t.equal(codeOf(long), 'LK_DOCUMENT_TOO_LARGE')
})

t.test('what asks no store is answered before there is one', async (t) => {
  let opened: (stores: UserStores) => void = () => {}
  const opening = new Promise<UserStores>((resolve) => (opened = resolve))
  const { client, call } = await connected(t, opening, (error) => t.fail(String(error)))
  t.equal((await client.listTools()).tools.length, 7)
  t.equal((await client.listPrompts()).prompts.length, 2)
  const asked = call('search', { text: 'novelist' })
  const listed = client.listResources()
  t.equal((await client.listResourceTemplates()).resourceTemplates.length, 3)
  opened(userStores(keep, { user: 'alice', flow: 'default', scope: { user: 'alice' } }))
  t.match(await asked, { structuredContent: { passages: [{ document: 'urn:shelley' }] } })
  t.ok((await listed).resources.length > 0)
})

t.test('documents, cores and schemas are resources, by pages', async (t) => {
  const { client } = alice
  const { resourceTemplates } = await client.listResourceTemplates()
  t.equal(resourceTemplates.length, 3)
  const uris: string[] = []
  for (let cursor: string | undefined, pages = 0; pages < 10; pages++) {
    const page = await client.listResources(cursor === undefined ? {} : { cursor })
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  for (const kind of ['document/urn%3Along', 'core/urn%3Along', 'schema/book']) {
    t.ok(uris.includes(`lorekeep://${kind}`), kind)
  }
  for (const uri of uris) t.ok((await readText(alice, uri)).length > 0, uri)
  const bobs = await bob.client.listResources({ cursor: 'document:' })
  t.strictSame(bobs.resources, [])
})

t.test('a document is read to its end in pieces, each with the place of the next', async (t) => {
  let [read, uri] = ['', 'lorekeep://document/urn%3Along']
  for (let pieces = 0; pieces < 20; pieces++) {
    const text = await readText(alice, uri)
    const [end = '', next] = /\n\n\[it goes on: (.*)\]$/.exec(text) ?? []
    read += text.slice(0, text.length - end.length)
    if (next === undefined) break
    t.ok(text.length < 33_000, `${text.length}`)
    uri = next
  }
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '')
  t.strictSame(words(read), words(texts['urn:long']))
})

t.test('a document of too many passages is refused, and not told with holes', async (t) => {
  const ivo = await assistantFor(t, keep, 'ivo')
  const iri = (v: string) => ({ v, e: true })
  const write = (id: string, count: number) => {
    const triples = Array.from({ length: count }, (_, n) => {
      const said = [
        [vocabulary.isPartOf, iri(id)],
        [vocabulary.text, { v: `w${n} `, e: false }],
        [vocabulary.beginIndex, { v: String(10 * n), e: false }],
        [vocabulary.endIndex, { v: String(10 * n + 10), e: false }],
      ] as const
      return said.map(([p, o]) => ({ s: iri(`${id}/c${n}`), p: iri(p), o }))
    }).flat()
    const m = { i: id, u: 'ivo', m: [], c: 'c' }
    const slices = Array.from({ length: Math.ceil(triples.length / 5000) }, (_, n) =>
      triples.slice(5000 * n, 5000 * (n + 1)),
    )
    return keep.knowledge.write(
      { user: 'ivo', id },
      slices.map((t): CoreMessage => ['t', { m, t }]),
    )
  }
  await write('urn:most', 20_000)
  await write('urn:more', 20_001)
  t.match(await readText(ivo, 'lorekeep://document/urn%3Amost'), /^w0 .*w1 /s)
  const uri = 'lorekeep://document/urn%3Amore'
  await t.rejects(ivo.client.readResource({ uri }), { code: -32602, message: /search finds them/ })
})

t.test('resources and prompts of others, and such as there are not, are refused', async (t) => {
  for (const uri of [
    'lorekeep://document/urn%3Along',
    'lorekeep://core/urn%3Along',
    'lorekeep://schema/none',
    'lorekeep://secrets/a',
    'lorekeep://constructor/a',
    'lorekeep://document/%ff',
    'file:///etc/passwd',
  ]) {
    await t.rejects(bob.client.readResource({ uri }), { code: -32602, data: { uri } }, uri)
  }
  await t.rejects(alice.client.listResources({ cursor: 'document:bad' }), { code: -32602 })
  await t.rejects(alice.client.listResources({ cursor: 'garbage' }), { code: -32602 })
  const getting = bob.client.getPrompt({ name: 'summarise', arguments: { document: 'urn:long' } })
  await t.rejects(getting, { code: -32602, message: /LK_DOCUMENT_NOT_FOUND/ })
  await t.rejects(alice.client.getPrompt({ name: 'ask' }), { code: -32602, message: /question/ })
  await t.rejects(alice.client.getPrompt({ name: 'none' }), { code: -32602, message: /ask and/ })
})

t.test('a prompt has what it is about in it, quoted', async (t) => {
  const { prompts } = await alice.client.listPrompts()
  t.equal(prompts.length, 2)
  const asked = await alice.client.getPrompt({
    name: 'ask',
    arguments: { question: 'Who wrote Moby-Dick?' },
  })
  const summarised = await alice.client.getPrompt({
    name: 'summarise',
    arguments: { document: 'urn:melville' },
  })
  for (const { messages } of [asked, summarised]) {
    const { content } = messages[0]!
    const text = content.type === 'text' ? content.text : ''
    t.match(text, /^> Herman Melville wrote Moby-Dick/m)
    t.match(text, /^> > \[9\] document urn:false$/m)
  }
})

t.test('a thousand questions at once are answered', async (t) => {
  const ask = () => alice.call('search', { text: 'novelist' })
  const answers = await Promise.all(Array.from({ length: 1000 }, ask))
  t.ok(answers.every(({ isError }) => isError === undefined))
})

t.test('of what is no error of ours an assistant learns nothing', async (t) => {
  const told: unknown[] = []
  const closed = await createLorekeep({ backend: new MemoryBackend() })
  const broken = new Error('secret')
  const stores = userStores(closed, { user: 'a', flow: 'default', scope: {} })
  const cores = () => Promise.reject(broken)
  const assistant = await connected(t, { ...stores, cores }, (error) => told.push(error))
  const answer = await assistant.call('list', { what: 'cores' })
  t.equal(codeOf(answer), 'LK_INTERNAL')
  t.notMatch(JSON.stringify(answer), /secret/)
  t.strictSame(told, [broken])
  await closed.close()
})

t.test('a question that is cancelled ends its work, and is told to nobody', async (t) => {
  const stores = userStores(keep, { user: 'alice', flow: 'default', scope: { user: 'alice' } })
  const working = new Working()
  const own = { ...stores, graph: () => working.graph }
  const assistant = await connected(t, own, (error) => t.fail(String(error)))
  for (const ask of [
    (signal: AbortSignal) =>
      assistant.client.callTool(
        { name: 'answer_context', arguments: { question: 'a' } },
        { signal },
      ),
    (signal: AbortSignal) =>
      assistant.client.getPrompt({ name: 'ask', arguments: { question: 'a' } }, { signal }),
  ]) {
    const leaving = new AbortController()
    const begun = working.next()
    const answer: Promise<unknown> = ask(leaving.signal)
    const { ended } = await begun
    leaving.abort()
    await t.rejects(answer)
    await ended
  }
})

interface Refusal {
  readonly code: string
  readonly errors: readonly { readonly path: string }[]
}

function codeOf({ _meta }: Awaited<ReturnType<Assistant['call']>>): string | undefined {
  return (_meta?.['lorekeep/error'] as Refusal | undefined)?.code
}

async function readText({ client }: Assistant, uri: string): Promise<string> {
  const [contents] = (await client.readResource({ uri })).contents
  return contents !== undefined && 'text' in contents ? contents.text : ''
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}
