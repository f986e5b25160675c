import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Packr } from 'msgpackr'
import t from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { decodeKey } from '../../../src/keys.js'
import type { LibraryRecord } from '../../../src/knowledge/records.js'
import { decodeRecord } from '../../../src/record.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Backend } from '../../../src/storage.js'
import type { CoreMessage } from '../../../src/types.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { coreProblems } from '../../fixtures/problems.js'
import { exported } from '../../fixtures/stores.js'
import { randomStream, realCores } from '../../fixtures/streams.js'
import { entity, messageOf, randomTriples } from '../asked.js'

const seed = pickSeed()
const ref = { user: 'u', id: 'core' }

t.test(`an index is the same bytes whenever it is made (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  // The largest are indexed in the pass of their import.
  const streams = realCores().map(({ file, bytes }): [string, Uint8Array] => [file, bytes])
  for (let n = 0; n < 10; n++) {
    const { bytes } = randomStream(random, { strangeness: random.next(), messages: 8 })
    streams.push([`stream ${n}`, bytes])
  }
  const mixed = Array.from({ length: 6 }, (_, n) =>
    encodeMessage(messageOf(randomTriples(random, 900), `collection ${n % 3}`)),
  )
  streams.push(['several collections', Buffer.concat(mixed)])
  streams.push(['many lengths, metadata last', manyLengths()])
  const directory = t.testdir()
  for (const [n, [name, bytes]] of streams.entries()) {
    const now = new MemoryBackend()
    const first = await createLorekeep({ backend: now, indexThreads: 0 })
    await first.knowledge.import(ref, bytes, { index: true })
    if (bytes.length < 1024 * 1024) await first.knowledge.index(ref)
    const later = new LevelBackend(join(directory, String(n)))
    const second = await createLorekeep({ backend: later, indexThreads: 0 })
    await second.knowledge.import(ref, bytes)
    assert.deepEqual(await indexOf(later), [], name)
    const before = await exported(second.knowledge, ref)
    // From where it is seen in memory, too.
    if (random.chance(0.5)) await second.knowledge.graph({ user: 'u' }).count()
    await second.knowledge.index(ref)
    assert.deepEqual(await indexOf(later), await indexOf(now), name)
    assert.ok(before.equals(await exported(second.knowledge, ref)), name)
    assert.ok(before.equals(await exported(first.knowledge, ref)), name)
    await second.knowledge.index(ref)
    assert.deepEqual(await indexOf(later), await indexOf(now), name)
    for (const backend of [now, later]) assert.deepEqual(await coreProblems(backend), [], name)
    await first.close()
    await second.close()
  }
  t.pass(`${streams.length} streams`)
})

/**
 * A message of several slices whose end says whose it is: none of it can be handed on before. Its
 * vectors are of more lengths than a part takes.
 */
function manyLengths(): Uint8Array {
  const e = Array.from({ length: 700 }, (_, n) => ({
    e: entity(`entity ${n}`),
    v: [Array.from({ length: 1 + (n % 350) }, (_, i) => i + 0.5)],
  }))
  const m = { i: 'i', m: [], u: 'u', c: 'c' }
  const message: CoreMessage = ['ge', { e, m }]
  return new Packr({ useRecords: false, variableMapSize: true }).pack(message)
}

/** The records and values of indexes, without the names that differ from store to store. */
async function indexOf(backend: Backend): Promise<unknown[]> {
  const found: unknown[] = []
  const names = new Map<unknown, number>()
  const generations: Buffer[] = []
  const cores = await backend.open('cores')
  for await (const page of cores.scan({})) {
    for (const { key, value } of page) {
      const [kind, generation] = decodeKey(key)
      if (kind === 'segment') {
        generations.push(Buffer.from(generation as string, 'hex').swap32())
      }
      if (kind !== 'library') continue
      for (const { id, ...part } of decodeRecord<LibraryRecord>(value).parts) {
        names.set(id, names.size)
        found.push(part)
      }
    }
  }
  const slices = await backend.open('slices')
  for await (const page of slices.scan({})) {
    for (const { key, value } of page) {
      const [id, ...place] = decodeKey(key)
      const n = names.get(id)
      if (n === undefined) continue
      const bytes = Buffer.from(value)
      for (const generation of generations) {
        const at = bytes.indexOf(generation)
        if (at >= 0) bytes.fill(0, at, at + generation.length)
      }
      found.push([n, place, bytes.toString('base64')])
    }
  }
  return found
}
