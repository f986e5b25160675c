import t from 'tap'
import { boundBuffers, checkBuffers } from '../../../src/flow/files/buffers.js'
import { because } from './reading.js'

const mb = 1024 ** 2

// Of this process, in which no other test runs.
t.test('many small buffers take no more than one large one may', async (t) => {
  boundBuffers(128 * mb)
  t.throws(() => new Uint8Array(128 * mb), because('memory'))
  t.throws(checkBuffers, because('memory'))
  boundBuffers(128 * mb)
  for (let n = 0; n < 64 * 1024; n++) new Uint8Array(16 * 1024)
  checkBuffers()
  const held: Uint8Array[] = []
  t.throws(() => {
    while (held.length < 16 * 1024) held.push(new Uint8Array(16 * 1024))
  }, because('memory'))
  t.ok(held.length > 1024, 'what nobody holds is not counted')
})
