// Two clients change the same things on condition of what they have read, at random moments. No update may
// be lost: what is there in the end has been told of each change that was acknowledged, and of no other.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { hasCode } from '../../src/errors.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { Backend } from '../../src/storage.js'
import { Random } from '../fixtures/random.js'

/** A thing that holds names of changes. */
interface Thing {
  /** What it holds, and in which version; undefined where it is not there. */
  read(client: Lorekeep): Promise<{ names: readonly string[]; version: string } | undefined>
  /** Undefined where it has to be not there. @returns false where it is not there */
  write(client: Lorekeep, names: readonly string[], version: string | undefined): Promise<boolean>
}

const collection = 'c'
const fields = { id: { type: 'string' } }

const kinds: Readonly<Record<string, (id: string) => Thing>> = {
  object: (id) => ({
    read: async ({ objects }) => {
      const found = await objects.get<{ names: string[] }>(collection, id)
      return found && { names: found.names, version: found._version }
    },
    write: async ({ objects }, names, version) => {
      if (version === undefined) {
        const metadata = { id: 'b', user: 'u', collection }
        const values = [{ id, names: [...names] }]
        await objects.import({ metadata, schema_name: 'thing', values })
        return true
      }
      const change = { ifVersion: version }
      // A patch and a replacement are the same here.
      const isOdd = names.length % 2 === 1
      const body = { names: [...names] }
      const stored = isOdd
        ? await objects.patch(collection, id, body, change)
        : await objects.replace(collection, id, body, change)
      return stored !== undefined
    },
  }),
  core: (id) => {
    const ref = { user: 'u', id }
    const messageOf = (name: string) => {
      const term = { v: `urn:${name}`, e: true }
      const m = { i: id, u: 'u', c: 'c', m: [] }
      return ['t', { m, t: [{ s: term, p: term, o: term }] }] as const
    }
    return {
      read: async ({ knowledge }) => {
        const stat = await knowledge.stat(ref)
        if (stat === undefined) return undefined
        const names: string[] = []
        for await (const message of knowledge.messages(ref)) {
          if (message[0] === 't') names.push((message[1].t[0]?.s.v ?? '').slice(4))
        }
        // What was read may be newer than the digest: the change is refused then.
        return { names, version: stat.digest }
      },
      write: async ({ knowledge }, names, version) => {
        const mode = names.length % 2 === 1 ? 'append' : 'replace'
        const added = mode === 'append' ? names.slice(-1) : names
        const messages = added.map((name) => messageOf(name))
        await knowledge.write(ref, messages as never, { mode, ifVersion: version ?? null })
        return true
      },
    }
  },
  schema: (id) => ({
    read: async ({ objects }) => {
      const version = await objects.schemaVersion(id)
      const schema = await objects.schema(id)
      if (schema === undefined || version === undefined) return undefined
      return { names: namesIn(schema.description), version }
    },
    write: async ({ objects }, names, version) => {
      const definition = { name: id, description: names.join(), fields }
      await objects.defineSchema(definition, { ifVersion: version ?? null })
      return true
    },
  }),
  flow: (id) => ({
    read: async ({ flows }) => {
      const version = await flows.version(id)
      const flow = await flows.get(id)
      if (flow === undefined || version === undefined) return undefined
      return { names: namesIn(flow.steps.map(({ name }) => name).join()).slice(1), version }
    },
    write: async ({ flows }, names, version) => {
      const steps = ['chunk', ...names.map((name) => ({ name, run: () => undefined }))]
      await flows.define({ id, steps } as never, { ifVersion: version ?? null })
      return true
    },
  }),
}

const namesIn = (text = '') => text.split(',').filter((name) => name !== '')

interface Histories {
  /** Of two who share what lies behind them. */
  readonly backends: readonly [Backend, Backend]
  readonly histories: number
  readonly seed: number
  readonly of?: readonly string[]
}

/** Gives how many changes were acknowledged, and refused. */
export async function conditionalWrites(options: Histories) {
  const { backends, histories, seed, of = Object.keys(kinds) } = options
  const random = new Random(seed)
  const clients: Lorekeep[] = []
  const count = { acknowledged: 0, refused: 0 }
  try {
    for (const backend of backends) clients.push(await createLorekeep({ backend }))
    await clients[0]!.objects.defineSchema({ name: 'thing', fields })
    for (let n = 0; n < histories; n++) {
      const kind = random.pick(of)
      await history(clients, kinds[kind]!(`${kind}-${n}`), random, count)
    }
  } finally {
    for (const client of clients) await client.close()
  }
  return count
}

async function history(
  clients: readonly Lorekeep[],
  thing: Thing,
  random: Random,
  count: { acknowledged: number; refused: number },
): Promise<void> {
  const acknowledged: string[] = []
  /** Of each version the change that was made on it. */
  const bases = new Map<string | undefined, string>()
  const steps = 2 + random.below(3)
  const pauses = clients.map(() => Array.from({ length: 2 * steps }, () => random.below(4)))
  await Promise.all(
    clients.map(async (client, who) => {
      const pause = async () => {
        for (let n = pauses[who]!.pop() ?? 0; n > 0; n--) await turn()
      }
      for (let step = 0; step < steps; step++) {
        await pause()
        const before = await thing.read(client)
        await pause()
        const name = `${who}${step}`
        try {
          const names = [...(before?.names ?? []), name]
          if (!(await thing.write(client, names, before?.version))) continue
        } catch (error) {
          const isRefused =
            hasCode(error, 'LK_PRECONDITION') || hasCode(error, 'LK_OBJECT_DUPLICATE')
          if (!isRefused) throw error
          count.refused++
          continue
        }
        count.acknowledged++
        assert.equal(bases.get(before?.version), undefined, 'two changes of one version')
        bases.set(before?.version, name)
        acknowledged.push(name)
      }
    }),
  )
  const names = await Promise.all(clients.map(async (client) => (await thing.read(client))?.names))
  for (const found of names) {
    assert.deepEqual([...(found ?? [])].sort(), [...acknowledged].sort(), 'an update was lost')
  }
}
