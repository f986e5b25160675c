// How long answers are where ids, names and schemas are as long as they may be.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { listing, single } from '../../src/mcp/bounds.js'
import type { JsonObject } from '../../src/types.js'
import { textOf } from './assistant.js'
import { assistantFor } from './connected.js'

const keep = await createLorekeep({ backend: new MemoryBackend() })
t.teardown(() => keep.close())
const alice = await assistantFor(t, keep, 'alice', true)

/** Of 1,024 bytes, which are three times as many percent-encoded, and six times where JSON has to escape them. */
const longId = (n: number, filling = '\u0001') =>
  `${String(n).padStart(3, '0')}${filling}`.padEnd(1024, filling)

t.test('a page of resources has as many as fit, and pages have each once', async (t) => {
  const ids = Array.from({ length: 150 }, (_, n) => longId(n))
  const exported = '\x92\xa1t\x82\xa1m\x84\xa1i\xa1a\xa1m\x90\xa1u\xa1a\xa1c\xa1a\xa1t\x90'
  const core = Buffer.from(exported, 'latin1')
  for (const id of ids) await keep.knowledge.import({ user: 'alice', id }, [core])
  const seen: string[] = []
  let pages = 0
  for (let cursor: string | undefined = 'core:'; cursor !== undefined; pages++) {
    const page = await alice.client.listResources({ cursor })
    t.ok(Buffer.byteLength(JSON.stringify(page.resources)) <= 32_100)
    seen.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor?.startsWith('core:') === true ? page.nextCursor : undefined
  }
  t.strictSame(
    seen,
    ids.map((id) => `lorekeep://core/${encodeURIComponent(id)}`),
  )
  t.ok(pages > 10, `${pages} pages`)
})

t.test('a list behind long ids keeps its bound, and says how to go on', async (t) => {
  const list = (given: object) => alice.call('list', { what: 'cores', ...given })
  const least = await list({ max_tokens: 500 })
  t.match(least.structuredContent, { truncated: true, next: undefined })
  t.match(textOf(least), /a higher max_tokens leads to it/)
  t.ok(Buffer.byteLength(textOf(least)) <= 2000)
  const seen: string[] = []
  for (let after: string | undefined, pages = 0; pages < 50; pages++) {
    const answer = await list({ max_tokens: 20_000, ...(after !== undefined && { after }) })
    const object = answer.structuredContent as { items: { core: string }[]; next?: string }
    t.ok(Buffer.byteLength(JSON.stringify(object)) <= 80_000)
    seen.push(...object.items.map(({ core }) => core))
    after = object.next
    if (after === undefined) break
  }
  t.equal(new Set(seen).size, 150)
})

t.test('answers about jobs keep the least bound', async (t) => {
  for (const filling of ['\u0001', 'ä', '\u2028']) {
    const document = longId(1, filling).slice(0, 300)
    for (const [name, given] of [
      ['load', { document, text: 'a' }],
      ['job', {}],
    ] as const) {
      const job = name === 'job' && (await keep.flows.jobPage({ user: 'alice' })).jobs[0]?.id
      const answer = await alice.call(name, { ...given, ...(job && { job }), max_tokens: 500 })
      t.not(answer.isError, true, textOf(answer))
      t.ok(Buffer.byteLength(textOf(answer)) <= 2000, `${name}, the text`)
      const object = JSON.stringify(answer.structuredContent)
      t.ok(Buffer.byteLength(object) <= 2000, `${name}, the object: ${object.length}`)
    }
  }
})

t.test('a schema is read in pieces', async (t) => {
  const description = 'x'.repeat(70_000)
  await keep.objects.defineSchema({ name: 'long', description, fields: { id: { type: 'string' } } })
  let [read, pieces] = ['', 0]
  for (let next: string | undefined = 'lorekeep://schema/long'; next !== undefined; pieces++) {
    const [contents] = (await alice.client.readResource({ uri: next })).contents
    const text = contents !== undefined && 'text' in contents ? contents.text : ''
    t.ok(text.length < 33_000)
    const found = /\n\n\[it goes on: (.*)\]$/.exec(text)
    read += text.slice(0, found?.index)
    next = found?.[1]
  }
  t.equal(pieces, 3)
  t.match(JSON.parse(read), { name: 'long', description })
})

/** Of members in members, and how often those that have none inside were read. */
function nested(depth: number, width: number, kind: 'lists' | 'objects') {
  let reads = 0
  const leaf = {
    get n() {
      reads++
      return 1
    },
  }
  const at = (depth: number): unknown => {
    if (depth === 0) return leaf
    const members = Array.from({ length: width }, () => at(depth - 1))
    return kind === 'lists' ? members : Object.fromEntries(members.map((m, n) => [`k${n}`, m]))
  }
  const item = { id: 'urn:nested', inside: at(depth) } as JsonObject
  return { item, reads: () => reads, leaves: width ** depth }
}

for (const [kind, depth, width] of [
  ['lists', 8, 4],
  ['objects', 15, 2],
  ['objects', 4, 15],
] as const) {
  t.test(`${kind} ${width} wide and ${depth} deep are not copied again and again`, async (t) => {
    const textOf = (item: object) => JSON.stringify(item)
    for (const tokens of [500, 20_000]) {
      for (const inList of [false, true]) {
        const { item, reads, leaves } = nested(depth, width, kind)
        const list = { name: 'items', items: [item], textOf, heading: '', nothing: '' }
        const bounded = inList ? listing({ ...list, next: () => undefined }) : single(item, textOf)
        const { text, object } = await bounded(tokens)
        // Whole, for the text and the object; what may have room is little beside it.
        t.ok(reads() < 4 * leaves, `${reads()} reads of ${leaves}`)
        t.ok(Buffer.byteLength(text) <= tokens * 4)
        t.ok(Buffer.byteLength(JSON.stringify(object)) <= tokens * 4)
        if (inList) t.match({ text, object }, { text: /was cut/, object: { truncated: true } })
      }
    }
  })
}

t.test('of one that is too long as much is shown as there is room for', async (t) => {
  const textOf = ({ text }: { text: string }) => text
  const item = { text: 'x'.repeat(100_000), names: Array.from({ length: 5000 }, () => 'name') }
  for (const tokens of [500, 2000, 20_000]) {
    const { text, object } = await single(item, textOf as never)(tokens)
    const bytes = Buffer.byteLength(JSON.stringify(object))
    t.ok(bytes <= tokens * 4 && bytes > tokens * 4 * 0.7, `${bytes} of ${tokens * 4}`)
    t.match(text, /^x+…$/)
    t.match(object, { text: /^x+…$/ })
  }
})
