// A store with something of everything, with entries that are gone, unreadable, moved, or whole by
// their checksum and something else: what a salvage makes of it has no errors, and opens.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { decodeKey } from '../../src/keys.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { Backend, Entry, PartitionName, Range, Storage } from '../../src/storage.js'
import type { Source } from '../../src/verify/finding.js'
import { verifyStores } from '../../src/verify-stores.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { fill } from './filled.js'
import { salvage } from './salvaged.js'

/** RUNS=1000 takes some minutes. */
const runs = Number(process.env['RUNS'] ?? 40)
const seed = pickSeed()
const names = ['cores', 'slices', 'objects', 'flows'] as const

type Entries = Record<PartitionName, Map<string, Uint8Array>>

t.test(`what is salvaged of a damaged store has no errors (seed ${seed})`, async (t) => {
  const original = await entriesIn(await filled())
  for (let run = 0; run < runs; run++) {
    const random = new Random(seed + run)
    const entries = structuredClone(original)
    const unreadable = new Set<string>()
    const what: string[] = []
    for (let n = 1 + random.below(6); n > 0; n--) what.push(damage(random, entries, unreadable))
    const place = `SEED=${seed + run} RUNS=1: ${what.join('; ')}`
    const source = await sourcesOf(entries, unreadable)
    const target = new MemoryBackend()
    await salvage(source, target).catch((error: unknown) => t.fail(`${place}: ${String(error)}`))
    t.strictSame(await errorsIn(target), [], place)
    // Not closed: it would lose all of it.
    await t.resolves(createLorekeep({ backend: target }), place)
    t.strictSame(await errorsIn(target), [], `opened, ${place}`)
  }
})

async function filled(): Promise<Backend> {
  const backend = new MemoryBackend()
  await fill(backend)
  return backend
}

async function entriesIn(backend: Backend): Promise<Entries> {
  const entries = Object.fromEntries(names.map((name) => [name, new Map()])) as unknown as Entries
  for (const name of names) {
    const storage = await backend.open(name)
    for await (const page of storage.scan({})) {
      for (const { key, value } of page) entries[name].set(textOf(key), value)
    }
  }
  return entries
}

async function partitionsOf(backend: Backend): Promise<Record<PartitionName, Storage>> {
  return {
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  }
}

async function errorsIn(backend: Backend): Promise<string[]> {
  const partitions = await partitionsOf(backend)
  const errors: string[] = []
  const open = () => ({ partitions, pass: () => {}, close: async () => {} })
  for await (const { severity, what, message } of verifyStores(open, { deep: true })) {
    if (severity === 'error') errors.push(`${what} ${message}`)
  }
  return errors
}

/** Damages one entry, and says what it did. */
function damage(random: Random, entries: Entries, unreadable: Set<string>): string {
  const name = random.pick(names)
  const partition = entries[name]
  const kinds = new Map<string, string[]>()
  for (const key of partition.keys()) {
    const kind = kindOf(name, key)
    kinds.set(kind, [...(kinds.get(kind) ?? []), key])
  }
  const [kind, keys] = random.pick([...kinds])
  const key = random.pick(keys)
  const other = random.pick(keys)
  const value = partition.get(key) as Uint8Array
  const put = (changed: Uint8Array) => void partition.set(key, changed)
  const told = (how: string) => `${name} ${JSON.stringify(decodeKey(bytesOf(key)))} ${how}`
  switch (random.below(kind === 'slice' ? 5 : 7)) {
    case 0:
      partition.delete(key)
      return told('gone')
    case 1:
      unreadable.add(`${name} ${key}`)
      return told('unreadable')
    case 2:
      put(partition.get(other) as Uint8Array)
      return told(`as ${JSON.stringify(decodeKey(bytesOf(other)))}`)
    case 3: {
      partition.set(other, value)
      partition.delete(key)
      return told(`moved to ${JSON.stringify(decodeKey(bytesOf(other)))}`)
    }
    case 4: {
      const changed = new Uint8Array(value)
      if (changed.length > 0) changed[random.below(changed.length)]! ^= 1 << random.below(8)
      put(changed)
      return told('with a bit flipped')
    }
    default: {
      const record = recordOf(value)
      if (record === undefined) {
        put(value.subarray(0, random.below(value.length + 1)))
        return told('cut')
      }
      const changed = JSON.stringify(altered(random, record, recordOf(partition.get(other)!)))
      put(Buffer.from(changed))
      return told(`= ${changed.slice(0, 300)}`)
    }
  }
}

/** A record with one of its values, however deep, changed to something like it or to anything. */
function altered(random: Random, value: unknown, other: unknown): unknown {
  if (typeof value === 'object' && value !== null && random.chance(0.95)) {
    const names = Object.keys(value)
    if (names.length > 0) {
      const name = random.pick(names)
      const of = (record: unknown) => (record as Record<string, unknown> | undefined)?.[name]
      const changed = altered(random, of(value), of(other))
      if (Array.isArray(value)) return value.map((one, n) => (String(n) === name ? changed : one))
      return { ...value, [name]: changed }
    }
  }
  if (other !== undefined && random.chance(0.4)) return other
  if (typeof value === 'number' && random.chance(0.7)) {
    return value + random.pick([-1, 1, 2, 4096, -4096])
  }
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string' && random.chance(0.5)) return `${value}x`
  return random.pick([null, 0, 1, -1, 0.5, 1e15, '', 'x', [], {}, true])
}

function recordOf(value: Uint8Array): unknown {
  try {
    const record: unknown = JSON.parse(Buffer.from(value).toString())
    return typeof record === 'object' && record !== null ? record : undefined
  } catch {
    return undefined
  }
}

async function sourcesOf(
  entries: Entries,
  unreadable: ReadonlySet<string>,
): Promise<Record<PartitionName, Source>> {
  const backend = new MemoryBackend()
  for (const name of names) {
    const storage = await backend.open(name)
    const operations = [...entries[name]].map(([key, value]) => {
      return { type: 'put' as const, key: bytesOf(key), value }
    })
    await storage.write(operations)
  }
  const partitions = await partitionsOf(backend)
  const sources = names.map((name) => {
    const isDamaged = (key: Uint8Array) => unreadable.has(`${name} ${textOf(key)}`)
    return [name, new DamagedSource(partitions[name], isDamaged)]
  })
  return Object.fromEntries(sources) as Record<PartitionName, Source>
}

/** Some of its values fail their checksum. */
class DamagedSource implements Source {
  readonly #storage: Storage
  readonly #isDamaged: (key: Uint8Array) => boolean

  constructor(storage: Storage, isDamaged: (key: Uint8Array) => boolean) {
    this.#storage = storage
    this.#isDamaged = isDamaged
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#check(key)
    return this.#storage.get(key)
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    for (const key of keys) this.#check(key)
    return this.#storage.getMany(keys)
  }

  async *scan(range: Range): AsyncGenerator<readonly Entry[]> {
    for await (const page of this.#storage.scan(range)) {
      if (range.keysOnly !== true) for (const { key } of page) this.#check(key)
      yield page
    }
  }

  #check(key: Uint8Array): void {
    if (this.#isDamaged(key)) throw new LorekeepError('LK_STORAGE_CORRUPT', 'on purpose')
  }
}

function kindOf(name: PartitionName, key: string): string {
  return name === 'slices' ? 'slice' : String(decodeKey(bytesOf(key))[0])
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1')
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}
