// What is known of the contents of cores is what a look at all segments finds, and none is read twice.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { Contents } from '../../src/knowledge/contents.js'
import { segmentKey } from '../../src/knowledge/records.js'
import { encodeRecord } from '../../src/record.js'
import type { Storage } from '../../src/storage.js'
import { pickSeed, Random } from '../fixtures/random.js'

const seed = pickSeed()

t.test(`contents are found where they lie, as often as they do (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  const storage = await new MemoryBackend().open('cores')
  const { cores, read } = counting(storage)
  const contents = new Contents(cores)
  const digests = new Map(['one', 'two', 'three'].map((generation) => [generation, [] as string[]]))
  for (let step = 0; step < 600; step++) {
    const generation = random.pick([...digests.keys()])
    const held = digests.get(generation)!
    const digest = `digest ${random.below(40)}`
    if (random.chance(0.4)) {
      const key = segmentKey(generation, held.length)
      await storage.write([{ type: 'put', key, value: encodeRecord({ digest }) }])
      held.push(digest)
      continue
    }
    const core = { generation, segments: held.length }
    const expected = held.filter((one) => one === digest).length
    const first = expected === 0 ? undefined : held.indexOf(digest)
    // Several at once do the same work.
    const asked = [contents.segment(core, digest), contents.segment(core, digest)]
    if (random.chance(0.5)) t.equal(await contents.copies(core, digest), expected)
    t.strictSame(await Promise.all(asked), [first, first])
  }
  const segments = [...digests.values()].reduce((sum, held) => sum + held.length, 0)
  t.ok(read() <= 3 * segments, `${read()} segments were read, of ${segments}`)
})

t.test('one after the other is asked for, and each segment is read once', async (t) => {
  const storage = await new MemoryBackend().open('cores')
  const { cores, read } = counting(storage)
  const contents = new Contents(cores)
  for (let segments = 1; segments <= 2000; segments++) {
    const key = segmentKey('one', segments - 1)
    await storage.write([{ type: 'put', key, value: encodeRecord({ digest: 'same' }) }])
    t.equal(await contents.copies({ generation: 'one', segments }, 'same'), segments)
  }
  t.equal(read(), 2000)
})

/** A storage, and how many entries of it were given out. */
function counting(storage: Storage) {
  let entries = 0
  const cores = Object.create(storage) as Storage
  cores.scan = async function* (range) {
    for await (const page of storage.scan(range)) {
      entries += page.length
      yield page
    }
  }
  return { cores, read: () => entries }
}
