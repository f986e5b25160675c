import { setTimeout as sleep } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import t from 'tap'
import { FileReader } from '../../../src/flow/files/file-reader.js'
import { peer } from '../../../src/flow/files/peer.js'
import { errorOf, faultOf } from '../../../src/flow/files/unreadable.js'
import { column, pdf } from './made-files.js'
import { limits } from './reading.js'

const type = 'application/pdf'
const file = pdf([column(72, 700, ['The river Thames flows through the meadows'])])
const { signal } = new AbortController()

function reader(
  t: { teardown(fn: () => Promise<void>): unknown },
  other: Partial<typeof limits & { maxFileMs: number }> = {},
) {
  const reader = new FileReader({ ...limits, maxFileMs: 60_000, ...other })
  t.teardown(() => reader.close())
  return reader
}

function unreadable(reason: string) {
  return { code: 'LK_DOCUMENT_UNREADABLE', details: { reason } }
}

t.test('files are read in threads, one after the other and beside each other', async (t) => {
  const files = reader(t)
  const one = await files.read(type, file, signal)
  t.match(one, { text: /^The river/, pages: [{ page: 1, start: 0 }] })
  const texts = await Promise.all([1, 2, 3, 4, 5].map(() => files.read(type, file, signal)))
  t.strictSame(texts, [one, one, one, one, one])
  t.equal(file.subarray(0, 5).toString(), '%PDF-', 'the bytes stay where they are')
})

t.test('one that cannot be read leaves the others alone', async (t) => {
  const files = reader(t)
  const results = await Promise.allSettled([
    files.read(type, file.subarray(0, 200), signal),
    files.read(type, file, signal),
    files.read('text/html', Buffer.from('<nav>x'), signal),
    files.read('text/x-unknown', Buffer.from('x'), signal),
  ])
  t.match(results, [
    { reason: unreadable('damaged') },
    { value: { text: String } },
    { reason: unreadable('empty') },
    { reason: unreadable('damaged') },
  ])
})

t.test('it takes no longer than it may', async (t) => {
  await t.rejects(reader(t, { maxFileMs: 1 }).read(type, file, signal), unreadable('time'))
})

t.test('it takes no more memory than it may, in buffers and beside them', async (t) => {
  const files = reader(t, { maxFileMemoryMb: 48 })
  const bomb = pdf([[]], { contents: [deflateSync(Buffer.alloc(100 * 1024 ** 2, ' '))] })
  t.ok(bomb.length < 200_000)
  await t.rejects(files.read(type, bomb, signal), unreadable('memory'))
  const many = Buffer.from('<p>hello</p>'.repeat(500_000))
  await t.rejects(files.read('text/html', many, signal), unreadable('memory'))
  t.ok(await files.read(type, file, signal), 'the next one has as much again')
})

// V8 ends the whole process where one piece of memory is more than a thread has left.
t.test('what becomes one large piece of memory does not end the process', async (t) => {
  const files = reader(t, { maxFileMemoryMb: 32 })
  const commas = Buffer.alloc(8_000_000, ',')
  await t.rejects(files.read('text/csv', commas, signal), unreadable('damaged'))
  const numbers = Buffer.from(`[${'0,'.repeat(4_000_000)}0]`)
  await t.rejects(files.read('application/json', numbers, signal), unreadable('text'))
  const lines = Buffer.from('0\n'.repeat(4_000_000))
  await t.rejects(files.read('application/json', lines, signal), unreadable('text'))
  const wide = Buffer.from(`${'é'.repeat(20_000_000)}中`)
  await t.rejects(files.read('text/html', wide, signal), unreadable('memory'))
})

t.test('whoever gives up waits no longer, and the thread is there for others', async (t) => {
  const files = reader(t)
  const controller = new AbortController()
  const wait = (which: AbortSignal) => files.read(type, file, which)
  const all = [1, 2, 3, 4].map(() => wait(controller.signal))
  const other = wait(signal)
  await sleep(1)
  const reason = new Error('enough')
  controller.abort(reason)
  for (const one of await Promise.allSettled(all))
    t.equal((one as { reason?: unknown }).reason, reason)
  t.ok(await other)
  await t.rejects(wait(controller.signal), reason)
})

t.test('a package that is missing is named', async (t) => {
  const gone = () => Promise.reject(Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' }))
  const asked = peer(gone, { name: 'unpdf', version: 1, files: 'reading PDF' })
  const fault = faultOf(await asked.catch((error: unknown) => error))
  t.match(errorOf(fault), {
    code: 'LK_PEER_MISSING',
    details: { package: 'unpdf' },
    message: /reading PDF needs unpdf: npm install unpdf@1$/,
  })
})

t.test('a package that cannot be loaded is named, and says nothing of the file', async (t) => {
  const cause = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  const asked = peer(() => Promise.reject(cause), { name: 'x', version: 1, files: 'reading X' })
  const broken = await asked.catch((error: unknown) => error)
  t.equal((broken as Error).cause, cause)
  const error = errorOf(faultOf(broken))
  t.equal(error.code, 'LK_INTERNAL', 'which is tried again')
  t.match(error.message, /reading X needs x, which cannot be loaded: Error: too many open files$/)
})
