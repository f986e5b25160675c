// A store with something of everything, and one entry of it that is gone, cut or changed: something
// is found, or it is on the list of what nobody can tell.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { verifyFlows } from '../../src/flow/verify/verify.js'
import { decodeKey } from '../../src/keys.js'
import { verifyKnowledge } from '../../src/knowledge/verify.js'
import { verifyObjects } from '../../src/objects/verify/verify.js'
import type { Backend, PartitionName, Storage } from '../../src/storage.js'
import type { Finding } from '../../src/verify/finding.js'
import { Report } from '../../src/verify/report.js'
import { Random } from '../fixtures/random.js'
import { fill } from './filled.js'
import { salvage } from './salvaged.js'

const names: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']
const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)

t.test('a store with something of everything has no findings', async (t) => {
  const { findings } = await opened()
  for (const deep of [false, true]) t.strictSame(await findings(deep), [])
})

t.test('an entry that is gone is found', async (t) => {
  const { partitions, findings } = await opened()
  for (const [name, storage, key, value] of await entriesOf(partitions)) {
    await storage.write([{ type: 'del', key }])
    const found = await findings(true, name)
    const [kind] = decodeKey(key)
    const what = `${name} ${JSON.stringify(decodeKey(key))}`
    if (!isHarmless(name, String(kind), value)) t.ok(errors(found) > 0, what)
    // Without content what is named is looked for all the same.
    if (!needsContent(name, String(kind), value))
      t.ok(errors(await findings(false, name)) > 0, what)
    await storage.write([{ type: 'put', key, value }])
  }
  t.strictSame(await findings(true), [])
})

t.test(`an entry that was cut, or is something else, is found (seed ${seed})`, async (t) => {
  const { partitions, findings } = await opened()
  const random = new Random(seed)
  for (const [name, storage, key, value] of await entriesOf(partitions)) {
    if (value.length === 0) continue
    // A text may be any other: only an engine's checksum can tell.
    const isText = /page|block|body|output/.test(String(decodeKey(key)[0]))
    const changed = random.chance(0.5)
      ? value.subarray(0, random.below(value.length))
      : Buffer.from(value).fill(random.below(256), isText ? 0 : random.below(value.length))
    if (Buffer.compare(changed, value) === 0) continue
    await storage.write([{ type: 'put', key, value: new Uint8Array(changed) }])
    const found = await findings(true, name)
    t.ok(errors(found) > 0, `${name} ${JSON.stringify(decodeKey(key))}: ${changed.length}`)
    await storage.write([{ type: 'put', key, value }])
  }
})

t.test('a record of another shape ends neither a verification nor a salvage', async (t) => {
  const { partitions, findings } = await opened()
  const empty = await partitionsOf(new MemoryBackend())
  const seen = new Set<string>()
  for (const [name, storage, key, value] of await entriesOf(partitions)) {
    const record = recordOf(value)
    const kind = `${name} ${JSON.stringify(decodeKey(key)[0])}`
    if (record === undefined || seen.has(kind)) continue
    seen.add(kind)
    const fields = Object.keys(record)
    // Each store is salvaged by itself.
    const { [name]: own, cores, slices } = partitions
    const isOfCores = name === 'cores' || name === 'slices'
    const store = { ...empty, ...(isOfCores ? { cores, slices } : { [name]: own }) }
    const others = [
      {},
      ...[null, 'x', -1, []].map((other) => Object.fromEntries(fields.map((f) => [f, other]))),
      ...fields.map((field) => ({ ...record, [field]: null })),
    ]
    for (const other of others) {
      const bytes = Buffer.from(JSON.stringify(other))
      await storage.write([{ type: 'put', key, value: new Uint8Array(bytes) }])
      const what = `${name} ${JSON.stringify(decodeKey(key))}: ${String(bytes).slice(0, 200)}`
      await t.resolves(findings(true, name), `verify ${what}`)
      await t.resolves(salvage(store, new MemoryBackend()), `salvage ${what}`)
    }
    await storage.write([{ type: 'put', key, value }])
  }
})

t.test('a block that names a page of an index is told', async (t) => {
  const { partitions, findings } = await opened()
  const { objects } = partitions
  const all = await entriesOf({ ...partitions })
  const of = (kind: string) =>
    all.filter(([name, , key]) => name === 'objects' && decodeKey(key)[0] === kind)
  const pages = of('run').flatMap(([, , , value]) => {
    const { adds } = recordOf(value) as { adds: { pages: number[] } }
    return adds.pages
  })
  const [, , key, value] = of('blocks')[0]!
  t.ok(pages.length > 0)
  for (const page of pages) {
    const other = Buffer.from(JSON.stringify({ ...recordOf(value), pages: [page] }))
    await objects.write([{ type: 'put', key, value: new Uint8Array(other) }])
    t.ok(errors(await findings(true, 'objects')) > 0)
    const { findings: lost } = await salvage(partitions, new MemoryBackend())
    t.ok(lost.length > 0)
  }
})

t.test('an entry that nothing names is found', async (t) => {
  const { partitions, findings } = await opened()
  for (const [name, storage, key, value] of await entriesOf(partitions)) {
    const copy = Buffer.from(key)
    // Another number, or another letter of a name.
    copy[copy.length - (copy.at(-1) === 0 ? 2 : 1)]! ^= 0x40
    if (copy.length < 3 || (await storage.get(copy)) !== undefined) continue
    // That a generation was given up of which no part has anything is forgotten when parts are merged.
    if (name === 'cores' && decodeKey(key)[0] === 'retired') continue
    await storage.write([{ type: 'put', key: copy, value }])
    const found = await findings(true, name)
    t.ok(found.length > 0, `${name} ${copy.toString('latin1')}`)
    await storage.write([{ type: 'del', key: copy }])
  }
})

function recordOf(value: Uint8Array): Record<string, unknown> | undefined {
  try {
    const record: unknown = JSON.parse(Buffer.from(value).toString())
    if (typeof record === 'object' && record !== null) return record as Record<string, unknown>
  } catch {
    // Content.
  }
  return undefined
}

function errors(findings: readonly Finding[]): number {
  return findings.filter(({ severity }) => severity === 'error').length
}

/** What nobody can tell: nothing else says that it was there. docs/operations.md names these. */
function isHarmless(name: PartitionName, kind: string, value: Uint8Array): boolean {
  const record = () => JSON.parse(Buffer.from(value).toString()) as Record<string, unknown>
  if (name === 'cores' && kind === 'core') return record()['segments'] === 0
  // A flow that never had a job has no counts.
  if (name === 'flows' && kind === 'flow') return record()['id'] === 'default'
  // The removal of a document takes it, and leaves older loads.
  if (name === 'flows' && kind === 'latest') return true
  // So does it with the newest load.
  return name === 'flows' && kind === 'job' && record()['state'] === 'done'
}

function needsContent(name: PartitionName, kind: string, value: Uint8Array): boolean {
  // Whether parts have a segment, or others of its core, only their content tells.
  if (name === 'cores' && kind === 'waiting') return true
  return isHarmless(name, kind, value) || (name === 'flows' && kind === 'left')
}

async function opened() {
  const backend = new MemoryBackend()
  await fill(backend)
  const partitions = await partitionsOf(backend)
  const findings = async (deep: boolean, of?: PartitionName) => {
    const found: Finding[] = []
    const { cores, slices, objects, flows } = partitions
    const report = new Report({ deep })
    const verified = {
      knowledge: () => verifyKnowledge({ cores, slices }, report),
      objects: () => verifyObjects(objects, report),
      flows: () => verifyFlows(flows, report),
    }
    const store = of === 'objects' || of === 'flows' ? of : 'knowledge'
    const asked = of === undefined ? Object.values(verified) : [verified[store]]
    for (const verify of asked) for await (const one of verify()) found.push(one)
    return found
  }
  return { partitions, findings }
}

async function partitionsOf(backend: Backend) {
  return {
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  }
}

/** All entries, but of kinds with many alike only some. */
async function entriesOf(partitions: Readonly<Record<PartitionName, Storage>>) {
  const entries: [PartitionName, Storage, Uint8Array, Uint8Array][] = []
  const seen = new Map<string, number>()
  for (const name of names) {
    for await (const page of partitions[name].scan({})) {
      for (const { key, value } of page) {
        const kind = `${name} ${name === 'slices' ? key.length : String(decodeKey(key)[0])}`
        const times = (seen.get(kind) ?? 0) + 1
        seen.set(kind, times)
        if (times <= 3) entries.push([name, partitions[name], key, value])
      }
    }
  }
  return entries
}
