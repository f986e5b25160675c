// A store with something of every kind, and all the questions that can be asked of it.

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LevelOptions } from '../../adapters/level/index.js'
import type { FlowDefinition, StepContext } from '../../src/flow/types.js'
import type { Lorekeep } from '../../src/lorekeep.js'
import type { CoreMessage } from '../../src/types.js'
import type { Random } from '../fixtures/random.js'
import { triplesMessage } from '../fixtures/stores.js'

/** Where the content lies: all in logs, or mostly in tables. */
export const layouts: Readonly<Record<'logs' | 'tables', LevelOptions>> = {
  logs: {},
  tables: {
    profiles: {
      cores: { writeBufferBytes: 64 * 1024 },
      slices: { writeBufferBytes: 64 * 1024 },
      objects: { writeBufferBytes: 64 * 1024 },
      flows: { writeBufferBytes: 64 * 1024 },
    },
  },
}
export type Layout = keyof typeof layouts

const users = ['alice', 'bob'] as const
const collections = ['red', 'green'] as const
const schema = {
  name: 'thing',
  fields: {
    version: { type: 'integer', required: true },
    group: { type: 'integer' },
    text: { type: 'text' },
  },
  indexes: ['version', 'group'],
}
const objectsEach = 40
const versions = 4

export async function fill(keep: Lorekeep, random: Random): Promise<void> {
  await fillKnowledge(keep, random)
  await fillObjects(keep, random)
  await fillFlows(keep, random)
}

/** A little more, for logs beside the tables that an opening makes of what was there. */
export async function fillUp({ knowledge, objects, flows }: Lorekeep): Promise<void> {
  await knowledge.write({ user: 'alice', id: 'short' }, [triplesMessage('late', 10)])
  await objects.patch('red', 'i1', { group: 50 })
  await flows.load('works', { user: 'bob', id: 'late', content: 'late' })
}

async function fillKnowledge({ knowledge }: Lorekeep, random: Random): Promise<void> {
  for (const user of users) {
    await knowledge.write({ user, id: 'short' }, [triplesMessage(`short ${user}`, 50)])
    await knowledge.write({ user, id: 'short' }, [triplesMessage('more', 20)], { index: true })
    const long = Array.from({ length: 20 }, (_, n) => triplesMessage(`long ${n}`, 500))
    await knowledge.write({ user, id: 'long' }, long)
    await knowledge.write({ user, id: 'long' }, long.slice(3), { mode: 'replace' })
    await knowledge.write({ user, id: 'vectors' }, [vectorsMessage(random, 200)], { index: true })
    await knowledge.write({ user, id: 'gone' }, [triplesMessage('gone')])
    await knowledge.delete({ user, id: 'gone' })
  }
}

function vectorsMessage(random: Random, count: number): CoreMessage {
  const m = { i: 'i', m: [], u: 'u', c: 'default' }
  const e = Array.from({ length: count }, (_, n) => ({
    e: { v: `http://example.org/entity/${n}`, e: true },
    v: [Array.from({ length: 16 }, () => random.next() - 0.5)],
  }))
  return ['ge', { m, e }]
}

async function fillObjects({ objects }: Lorekeep, random: Random): Promise<void> {
  await objects.defineSchema(schema)
  for (let version = 0; version < versions; version++) {
    for (const collection of collections) {
      const values = Array.from({ length: objectsEach }, (_, id) => ({
        id: `i${id}`,
        version,
        group: id % 7,
        text: random.bytes(random.below(120)).toString('hex'),
      }))
      const metadata = { id: `batch ${version}`, user: 'alice', collection }
      await objects.import({ metadata, schema_name: 'thing', values }, { onDuplicate: 'replace' })
    }
  }
  for (let id = 0; id < objectsEach; id += 9) await objects.patch('red', `i${id}`, { group: 100 })
  for (let id = 1; id < objectsEach; id += 9) await objects.delete('green', `i${id}`)
}

const flowIds = ['works', 'fails', 'waits'] as const
const documents = ['a', 'b', 'large', 'c'] as const

/** `seen` gets what the only step of the flows is given; it does what their names say, at first. */
function flowsOf(seen: string[], well: boolean): FlowDefinition[] {
  return flowIds.map((id) => ({
    id,
    maxAttempts: id === 'waits' ? 5 : 1,
    minDelayMs: 3_600_000,
    maxDelayMs: 3_600_000,
    steps: [
      {
        name: 'see',
        run: (_: unknown, { document: { user, id: document, text } }: StepContext) => {
          seen.push([id, user, document, digestOf([text])].join(' '))
          if (!well && id !== 'works') throw new Error('on purpose')
        },
      },
    ],
  }))
}

async function fillFlows({ flows }: Lorekeep, random: Random): Promise<void> {
  for (const flow of flowsOf([], false)) await flows.define(flow)
  const load = async (flow: string, prefix: string) => {
    for (const user of users) {
      for (const id of documents) {
        const bytes = id === 'large' ? 50_000 : 20 + random.below(200)
        const content = random.bytes(bytes).toString('hex')
        await flows.load(flow, { user, id: `${prefix} ${id}`, content })
      }
    }
  }
  for (const id of flowIds) await load(id, id)
  const runner = flows.run()
  const count = users.length * documents.length
  for (;;) {
    const [works, fails, waits] = await Promise.all(flowIds.map((id) => flows.stats(id)))
    if (works!.done === count && fails!.dead === count && waits!.delayed === count) break
    await delay(5)
  }
  await runner.stop()
  await load('works', 'queued')
}

export interface Question {
  readonly name: string
  readonly ask: (keep: Lorekeep) => Promise<unknown>
}

/** What can be read without a change, one question a read. */
export function questions(): Question[] {
  const asked: Question[] = []
  const add = (name: string, ask: Question['ask']) => asked.push({ name, ask })
  for (const user of users) {
    add(`cores of ${user}`, ({ knowledge }) => all(knowledge.list({ user })))
    for (const id of ['short', 'long', 'vectors', 'gone']) {
      add(
        `stat ${user} ${id}`,
        async ({ knowledge }) => (await knowledge.stat({ user, id })) ?? null,
      )
      add(`export ${user} ${id}`, async ({ knowledge }) => {
        if ((await knowledge.stat({ user, id })) === undefined) return null
        return digestOf(await all(await knowledge.export({ user, id })))
      })
      if (id === 'gone') continue
      add(`match ${user} ${id}`, async ({ knowledge }) => {
        const triples = await all(knowledge.graph({ user, cores: [id] }).match())
        return digestOf(
          triples.map((triple) => Buffer.from(JSON.stringify(triple))).sort(Buffer.compare),
        )
      })
    }
    add(`nearest ${user}`, ({ knowledge }) => {
      const vector = Array.from({ length: 16 }, (_, n) => Math.sin(n))
      return knowledge.graph({ user, cores: ['vectors'] }).nearest(vector, { k: 5 })
    })
  }
  add('schemas', ({ objects }) => objects.schemas())
  add('collections', ({ objects }) => objects.collections())
  add('find', ({ objects }) => all(objects.find({ schema_name: 'thing' })))
  for (const filters of [
    {},
    { group: 3 },
    { version: 3 },
    { group: 100 },
    { version: { $lt: 3 } },
  ]) {
    const query = { schema_name: 'thing', filters, sort: { _id: 'asc' } as const, limit: 1000 }
    add(`query ${JSON.stringify(filters)}`, ({ objects }) => objects.query(query))
  }
  for (const collection of collections) {
    for (let id = 0; id <= objectsEach; id++) {
      add(
        `object ${collection} ${id}`,
        async ({ objects }) => (await objects.get(collection, `i${id}`)) ?? null,
      )
    }
  }
  add('flows', async ({ flows }) => (await flows.list()).map(({ id }) => id))
  for (const flow of flowIds) {
    add(`stats ${flow}`, ({ flows }) => flows.stats(flow))
    for (const state of ['queued', 'delayed', 'dead', 'done'] as const) {
      add(`jobs ${flow} ${state}`, ({ flows }) => all(flows.jobs({ flow, state })))
    }
    add(`dead letters ${flow}`, ({ flows }) => all(flows.deadLetters(flow)))
  }
  for (const prefix of [...flowIds, 'queued']) {
    for (const user of users) {
      for (const id of documents) {
        const document = `${prefix} ${id}`
        add(`document ${user} ${document}`, async ({ flows }) => {
          return (await flows.document({ user, document })) ?? null
        })
      }
    }
  }
  return asked
}

/** Jobs that were there, by their ids: a question for each. */
export async function jobQuestions({ flows }: Lorekeep): Promise<Question[]> {
  const ids: string[] = []
  for (const flow of flowIds) for await (const { id } of flows.jobs({ flow })) ids.push(id)
  return ids.map((id) => ({
    name: `job ${id}`,
    ask: async ({ flows }) => (await flows.job(id)) ?? null,
  }))
}

export interface Ending {
  /** What the steps were given, sorted. */
  readonly seen: readonly string[]
  /** Dead letters whose document could not be read. */
  readonly unreadable: number
  /** Nothing is queued, delayed or under way. */
  readonly ended: boolean
}

/** Brings every job to its end, those that had failed as well. */
export async function runToEnd({ flows }: Lorekeep, failed: readonly unknown[]): Promise<Ending> {
  const seen: string[] = []
  for (const flow of flowsOf(seen, true)) await flows.define(flow)
  for (const [flow, state] of [
    ['fails', 'dead'],
    ['waits', 'delayed'],
  ] as const) {
    for (const { id } of await all(flows.jobs({ flow, state }))) await flows.retry(id)
  }
  const runner = flows.run()
  let ended = false
  for (let left = 2000; left > 0 && !ended; left--) {
    // Told in the background: the queue cannot go on.
    if (failed.length > 0) left = Math.min(left, 100)
    await delay(5)
    const stats = await Promise.all(flowIds.map((id) => flows.stats(id)))
    ended = stats.every(({ queued, active, delayed }) => queued + active + delayed === 0)
  }
  await runner.stop()
  let unreadable = 0
  for (const flow of flowIds) {
    for await (const { failures } of flows.deadLetters(flow)) {
      if (failures.at(-1)?.code === 'LK_STORAGE_CORRUPT') unreadable++
    }
  }
  return { seen: seen.sort(), unreadable, ended }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

function digestOf(chunks: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
