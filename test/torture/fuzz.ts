import assert from 'node:assert/strict'
import { decodeMulti } from '@msgpack/msgpack'
import { Unpackr } from 'msgpackr'
import { cut, scan } from '../codec/scan.js'
import { Random } from '../fixtures/random.js'
import { mutate, randomChunks, randomStream } from '../fixtures/streams.js'

export interface FuzzReport {
  readonly streams: number
  readonly accepted: number
}

/**
 * Damaged streams by the thousand: nothing but our own errors (scan() throws others), one result
 * however a stream is cut, and what is accepted has as many messages for two other decoders.
 */
export function fuzz({
  seed,
  streams,
}: {
  readonly seed: number
  readonly streams: number
}): FuzzReport {
  const random = new Random(seed)
  const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: 'number' })
  let accepted = 0
  for (let n = 0; n < streams; n++) {
    const shape = { strangeness: random.next(), messages: 1 + random.below(4) }
    const damaged = mutate(random, randomStream(random, shape).bytes)
    const place = `seed ${seed}, stream ${n}: ${damaged.toString('hex')}`
    const whole = scan([damaged], { id: 'core', user: 'alice' })
    assert.deepEqual(scan(cut(damaged, 1), { id: 'core', user: 'alice' }), whole, place)
    assert.deepEqual(
      scan(randomChunks(random, damaged, 50), { id: 'core', user: 'alice' }),
      whole,
      place,
    )
    if (whole.error || damaged.length === 0) continue
    accepted++
    assert.equal(unpackr.unpackMultiple(damaged)?.length, whole.counts?.[0], place)
    // It refuses this one key, wherever it stands.
    if (damaged.includes('__proto__')) continue
    assert.equal([...decodeMulti(damaged)].length, whole.counts?.[0], place)
  }
  return { streams, accepted }
}
