import { gzipSync } from 'node:zlib'
import t from 'tap'
import { hasCode } from '../../src/errors.js'
import { gunzipped } from '../../src/tgx/gunzip.js'
import { Random } from '../fixtures/random.js'

const limits = { maxUnpackedBytes: 1024 ** 3, maxRatio: 500 }
const text = Buffer.from(new Random(1).bytes(200_000).toString('hex'))
const packed = gzipSync(text)

async function unpack(bytes: Uint8Array, given = limits, size = 10_000): Promise<Buffer> {
  const source = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
  }
  return collect(gunzipped(source(), given))
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const collected: Uint8Array[] = []
  for await (const chunk of chunks) collected.push(chunk)
  return Buffer.concat(collected)
}

t.test('bytes come out as they went in, also from two files in one', async (t) => {
  t.ok((await unpack(packed)).equals(text))
  t.ok((await unpack(packed, limits, 97)).equals(text))
  t.equal((await unpack(Buffer.concat([packed, packed]))).length, 2 * text.length)
  t.equal((await unpack(gzipSync(''))).length, 0)
})

t.test('what is cut is damaged, wherever', async (t) => {
  for (let end = 1; end < packed.length; end += end < 30 ? 1 : 4999) {
    await t.rejects(unpack(packed.subarray(0, end)), { code: 'LK_WORKSPACE_DAMAGED' }, String(end))
  }
  await t.rejects(unpack(packed.subarray(0, -1)), {
    code: 'LK_WORKSPACE_DAMAGED',
    details: { byteOffset: text.length },
  })
})

t.test('what is changed is told', async (t) => {
  for (let at = 10; at < packed.length; at += 4999) {
    const changed = Buffer.from(packed)
    changed[at] = (changed[at] ?? 0) ^ 0x40
    await t.rejects(unpack(changed), { code: 'LK_WORKSPACE_DAMAGED' }, String(at))
  }
  await t.rejects(unpack(Buffer.alloc(0)), { code: 'LK_WORKSPACE_FORMAT', message: /empty/ })
  await t.rejects(unpack(Buffer.from('PK\x03\x04 is a zip')), { code: 'LK_WORKSPACE_FORMAT' })
  await t.rejects(unpack(Buffer.concat([packed, Buffer.from('and more')])), {
    code: 'LK_WORKSPACE_DAMAGED',
  })
})

t.test('the bytes that come out are bounded', async (t) => {
  const maxUnpackedBytes = text.length
  t.equal((await unpack(packed, { ...limits, maxUnpackedBytes })).length, text.length)
  await t.rejects(unpack(packed, { ...limits, maxUnpackedBytes: maxUnpackedBytes - 1 }), {
    code: 'LK_WORKSPACE_TOO_LARGE',
    details: { maxUnpackedBytes: maxUnpackedBytes - 1 },
  })
})

t.test('what stands behind the end of an archive is told', async (t) => {
  const read = () => collect(gunzipped(once(Buffer.concat([packed, Buffer.from('more')])), limits))
  await t.rejects(read(), { code: 'LK_WORKSPACE_DAMAGED', message: /stands behind the end/ })
  const none = () => collect(gunzipped(once(Buffer.from('more')), limits))
  await t.rejects(none(), { code: 'LK_WORKSPACE_FORMAT', message: /not packed by gzip/ })
})

t.test('a bomb is refused before it was unpacked', async (t) => {
  const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024))
  let bytes = 0
  const read = async () => {
    for await (const chunk of gunzipped(once(bomb), limits)) bytes += chunk.length
  }
  await t.rejects(read(), { code: 'LK_WORKSPACE_TOO_LARGE', details: { maxRatio: 500 } })
  t.ok(bytes <= 64 * 1024 * 1024)
  t.equal(
    (await collect(gunzipped(once(bomb), { ...limits, maxRatio: 1100 }))).length,
    80 * 2 ** 20,
  )
})

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

t.test('a source that fails fails with its own error', async (t) => {
  const error = new Error('the disk is gone')
  const source = async function* () {
    yield packed.subarray(0, 1000)
    throw error
  }
  const found = await collect(gunzipped(source(), limits)).catch((error: unknown) => error)
  t.equal(found, error)
  t.notOk(hasCode(found, 'LK_WORKSPACE_DAMAGED'))
})

t.test('a reader that leaves ends the source', async () => {
  let ended: () => void = () => {}
  const end = new Promise<void>((resolve) => (ended = resolve))
  const source = async function* () {
    try {
      for (;;) yield packed
    } finally {
      ended()
    }
  }
  for await (const _chunk of gunzipped(source(), limits)) break
  await end
})
