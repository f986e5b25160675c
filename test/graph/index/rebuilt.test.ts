import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Packr } from 'msgpackr'
import t from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { decodeKey } from '../../../src/keys.js'
import type { IndexRecord } from '../../../src/knowledge/records.js'
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
  const streams: [string, Uint8Array][] = realCores()
    .filter(({ bytes }) => bytes.length < 1_000_000)
    .map(({ file, bytes }) => [file, bytes])
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
    const first = await createLorekeep({ backend: now })
    await first.knowledge.import(ref, bytes, { index: true })
    const later = new LevelBackend(join(directory, String(n)))
    const second = await createLorekeep({ backend: later })
    await second.knowledge.import(ref, bytes)
    assert.deepEqual(await indexOf(later), [], name)
    const before = await exported(second.knowledge, ref)
    if (random.chance(0.5)) await second.knowledge.index(ref)
    else await second.knowledge.graph({ user: 'u' }).count()
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
  const cores = await backend.open('cores')
  for await (const page of cores.scan({})) {
    for (const { key, value } of page) {
      const [kind, , from] = decodeKey(key)
      if (kind !== 'index') continue
      const { id, ...record } = JSON.parse(Buffer.from(value).toString()) as IndexRecord
      names.set(id, names.size)
      found.push([from, record])
    }
  }
  const slices = await backend.open('slices')
  for await (const page of slices.scan({})) {
    for (const { key, value } of page) {
      const [id, ...place] = decodeKey(key)
      const n = names.get(id)
      if (n !== undefined) found.push([n, place, Buffer.from(value).toString('base64')])
    }
  }
  return found
}
