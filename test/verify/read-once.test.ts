// How much a verification reads: each thing a few times, however large it is.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { CoreMessage } from '../../src/types.js'
import { CountedBackend } from '../fixtures/counted-backend.js'

/** Of texts that take more memory than is kept of an index. */
function* large(triples: number): Generator<CoreMessage> {
  const filling = 'x'.repeat(300)
  for (let n = 0; n < triples; n += 500) {
    const all = Array.from({ length: 500 }, (_, at) => ({
      s: { v: `http://example.org/${n + at}/${filling}`, e: true },
      p: { v: 'http://example.org/p', e: true },
      o: { v: `${filling} ${n + at}`, e: false },
    }))
    yield ['t', { m: { i: 'i', m: [], u: 'u', c: 'default' }, t: all }]
  }
}

t.test('the index of a large core is not read anew for each of its triples', async (t) => {
  const backend = new CountedBackend(new MemoryBackend())
  const keep = await createLorekeep({ backend })
  t.teardown(() => keep.close())
  const ref = { user: 'u', id: 'large' }
  await keep.knowledge.write(ref, large(50_000))
  await keep.knowledge.index(ref)
  const { bytes: indexed = 0 } = await keep.knowledge.indexState(ref)
  t.ok(indexed > 30_000_000, `${indexed} bytes`)
  backend.bytes = 0
  const findings = []
  for await (const finding of keep.verify({ deep: true })) findings.push(finding)
  t.same(findings, [])
  const { bytes = 0 } = (await keep.knowledge.stat(ref)) ?? {}
  const times = backend.bytes / (indexed + bytes)
  t.ok(times > 1 && times < 5, `${backend.bytes} bytes, ${times.toFixed(1)} times what there is`)
})
