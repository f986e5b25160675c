import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import type { CoreMessage } from '../../src/types.js'
import type { ImportSummary } from '../../src/knowledge/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import {
  backends,
  bigStream,
  exported,
  keysOf,
  openStore,
  triplesMessage,
} from '../fixtures/stores.js'
import { noRealCores, randomStream, realCores } from '../fixtures/streams.js'
import { pickSeed, Random } from '../fixtures/random.js'

const seed = pickSeed()
const ref = { user: 'alice', id: 'urn:core' }

/** Bytes that name `ref` already, so that they are stored as they are. */
function stream(...names: string[]): Buffer {
  return Buffer.concat(
    names.map((name) => {
      const [type, data] = triplesMessage(name) as Extract<CoreMessage, readonly ['t', unknown]>
      return encodeMessage([type, { ...data, m: { ...data.m, i: ref.id, u: ref.user } }])
    }),
  )
}

for (const [engine, createBackend] of backends) {
  t.test(engine, async (t) => {
    t.test('a real core is exported as the bytes that were imported', async (t) => {
      const cores = realCores()
      if (cores.length === 0) return t.plan(0, noRealCores)
      const { knowledge } = await openStore(t, createBackend(t))
      for (const { id, user, bytes } of cores) {
        const summary = await knowledge.import({ user, id }, bytes)
        t.equal(summary.digest, createHash('sha256').update(bytes).digest('hex'))
        t.equal(summary.bytes, bytes.length)
        t.ok((await exported(knowledge, { user, id })).equals(bytes))
      }
    })

    t.test('objects written are the objects read, and the bytes imported', async (t) => {
      const { knowledge } = await openStore(t, createBackend(t))
      const vectors = [
        [0.1, -1, 1, 1e300],
        [Math.fround(0.1), 0, -0, 5e-324],
      ]
      const entity = { v: 'urn:e', e: true }
      const m = {
        i: ref.id,
        m: [{ s: entity, p: entity, o: { v: 'ü\u{1f600}', e: false } }],
        u: ref.user,
        c: 'c',
      }
      const messages: CoreMessage[] = [
        triplesMessage('a'),
        ['ge', { m, e: [{ e: entity, v: vectors }] }],
      ]
      const summary = await knowledge.write({ user: 'bob', id: 'b' }, messages)
      t.match(summary, { messages: 2, triples: 3, entities: 1, vectors: 2, duplicate: false })
      const read = []
      for await (const message of knowledge.messages({ user: 'bob', id: 'b' })) read.push(message)
      t.strictSame(
        read,
        messages.map(([type, data]) => [type, { ...data, m: { ...data.m, i: 'b', u: 'bob' } }]),
      )
      t.ok(
        Object.is((read[1]?.[1] as unknown as { e: { v: number[][] }[] }).e[0]?.v[1]?.[2], -0),
        'negative zero',
      )
      await t.rejects(knowledge.write(ref, [['t', { ...m, t: 1 }] as never]), {
        code: 'LK_CORE_MESSAGE',
      })
      t.equal(await knowledge.stat(ref), undefined)
    })

    t.test('every kind of source gives the same core', async (t) => {
      const { knowledge } = await openStore(t, createBackend(t))
      const bytes = stream('a', 'b', 'c')
      const chunks = [bytes.subarray(0, 10), new Uint8Array(0), bytes.subarray(10)]
      const sources = [
        bytes,
        new Uint8Array(bytes),
        chunks,
        Readable.from(chunks),
        new Blob([bytes]).stream() as ReadableStream<Uint8Array>,
        (async function* () {
          for (const chunk of chunks) yield await Promise.resolve(chunk)
        })(),
      ]
      for (const [at, source] of sources.entries()) {
        const summary = await knowledge.import({ ...ref, id: `core ${at}` }, source)
        t.match(summary, { messages: 3, triples: 9 })
        t.equal((await knowledge.stat({ ...ref, id: `core ${at}` }))?.triples, 9)
      }
      for (const bad of [undefined, 7, 'text', {}, [1], ['text']]) {
        await t.rejects(knowledge.import(ref, bad as never), TypeError)
      }
      await t.rejects(knowledge.import(ref, bytes, { mode: 'upsert' as never }), TypeError)
      t.equal(await knowledge.stat(ref), undefined)
    })

    t.test('append adds, replace swaps, and the counts follow', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend)
      await knowledge.import(ref, stream('a'))
      await knowledge.import(ref, stream('b', 'c'))
      t.ok((await exported(knowledge, ref)).equals(stream('a', 'b', 'c')))
      t.match(await knowledge.stat(ref), {
        segments: 2,
        messages: 3,
        triples: 9,
        bytes: stream('a', 'b', 'c').length,
      })
      await knowledge.import(ref, stream('d'), { mode: 'replace' })
      t.ok((await exported(knowledge, ref)).equals(stream('d')))
      t.match(await knowledge.stat(ref), { segments: 1, messages: 1, triples: 3 })
      await knowledge.import(ref, stream('e'))
      t.ok((await exported(knowledge, ref)).equals(stream('d', 'e')))
    })

    t.test('content is there as often as was asked for, and no more often', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend)
      const put = async (name: string, copies?: number) => {
        const options = copies === undefined ? {} : { copies }
        return (await knowledge.import(ref, stream(name), options)).duplicate
      }
      t.strictSame([await put('a'), await put('b'), await put('a')], [false, false, true])
      t.strictSame([await put('a', 2), await put('a', 2), await put('a')], [false, true, true])
      t.equal(await put('c', 9), false)
      t.ok((await exported(knowledge, ref)).equals(stream('a', 'b', 'a', 'c')))
      const twice = knowledge.import(ref, stream('a'), { mode: 'replace', copies: 2 })
      await t.rejects(twice, TypeError)
      await Promise.all(Array.from({ length: 4 }, () => put('a', 3)))
      t.ok((await exported(knowledge, ref)).equals(stream('a', 'b', 'a', 'c', 'a')))
      t.strictSame(await coreProblems(backend), [])
    })

    t.test('content that the core holds is not stored twice', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
      const big = Buffer.concat([...bigStream('big', 3, encodeMessage)])
      for (const content of [stream('a'), big]) {
        t.equal((await knowledge.import(ref, content)).duplicate, false)
        const before = await keysOf(backend)
        const again = await knowledge.import(ref, content)
        t.equal(again.duplicate, true)
        t.ok(again.triples)
        t.strictSame(await keysOf(backend), before)
      }
      t.equal((await knowledge.import(ref, big, { mode: 'replace' })).duplicate, false)
      t.equal((await knowledge.import(ref, big, { mode: 'replace' })).duplicate, true)
      const racers = Array.from({ length: 8 }, () => knowledge.import({ ...ref, id: 'race' }, big))
      const stored = (await Promise.all(racers)).filter(({ duplicate }) => !duplicate)
      t.equal(stored.length, 1)
      t.equal((await knowledge.stat({ ...ref, id: 'race' }))?.segments, 1)
      t.strictSame(await coreProblems(backend), [])
    })

    t.test(
      'an empty stream makes an empty core, and leaves one with content as it is',
      async (t) => {
        const { knowledge } = await openStore(t, createBackend(t))
        t.match(await knowledge.import(ref, []), { messages: 0, duplicate: false })
        t.match(await knowledge.stat(ref), { segments: 0, bytes: 0 })
        t.equal((await exported(knowledge, ref)).length, 0)
        t.match(await knowledge.import(ref, new Uint8Array(0)), { duplicate: true })
        await knowledge.import(ref, stream('a'))
        t.match(await knowledge.import(ref, []), { duplicate: true })
        t.ok((await exported(knowledge, ref)).equals(stream('a')))
        await knowledge.import(ref, [], { mode: 'replace' })
        t.equal((await exported(knowledge, ref)).length, 0)
      },
    )

    t.test('an import of exactly maxCoreBytes is accepted, however it is cut', async (t) => {
      const bytes = Buffer.concat([stream('a'), stream('b')])
      for (const [over, cuts] of [
        [0, [bytes.length, 7, 1]],
        [1, [bytes.length, 7, 1]],
      ] as const) {
        const limits = { maxCoreBytes: bytes.length - over }
        const { knowledge } = await openStore(t, new MemoryBackend(), { limits })
        for (const cut of cuts) {
          const chunks: Uint8Array[] = []
          for (let at = 0; at < bytes.length; at += cut) chunks.push(bytes.subarray(at, at + cut))
          const importing = knowledge.import({ ...ref, id: String(cut) }, chunks)
          if (over === 0) t.match(await importing, { duplicate: false }, `pieces of ${cut}`)
          else await t.rejects(importing, { code: 'LK_CORE_TOO_LARGE' }, `pieces of ${cut}`)
        }
      }
    })

    t.test('a failed import leaves the core as it was and nothing on disk', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend, {
        limits: { maxCoreBytes: 30 * 1024 * 1024 },
        indexThreads: 0,
      })
      await knowledge.import(ref, stream('a'))
      const before = await keysOf(backend)
      const big = [...bigStream('big', 12, encodeMessage)]
      const failures: [string, () => Iterable<Uint8Array>, object][] = [
        ['a bad byte at the end', () => [...big, Buffer.of(0xc1)], { code: 'LK_CORE_FORMAT' }],
        ['an end inside a message', () => [...big, Buffer.of(0x92)], { code: 'LK_CORE_FORMAT' }],
        [
          'an unknown type',
          () => [...big, Buffer.of(0x92, 0xa1, 0x78, 0x80)],
          { code: 'LK_CORE_TYPE' },
        ],
        ['too many bytes', () => [...big, ...big, ...big], { code: 'LK_CORE_TOO_LARGE' }],
        ['a source that fails', () => failing(big), { message: 'the source broke' }],
      ]
      for (const [what, source, error] of failures) {
        for (const mode of ['append', 'replace'] as const) {
          await t.rejects(knowledge.import(ref, source(), { mode }), error as Error, what)
          t.strictSame(await keysOf(backend), before, what)
        }
      }
      t.ok((await exported(knowledge, ref)).equals(stream('a')))
    })

    t.test('an abort ends an import at once, also while its source is silent', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend)
      const big = [...bigStream('big', 3, encodeMessage)]
      const silent = async function* () {
        yield* big
        await new Promise(() => undefined)
      }
      const abort = new AbortController()
      const reason = new Error('enough')
      const importing = knowledge.import(ref, silent(), { signal: abort.signal })
      await turn()
      abort.abort(reason)
      await t.rejects(importing, reason)
      t.equal(await knowledge.stat(ref), undefined)
      t.strictSame(await coreProblems(backend), [])
      await t.rejects(knowledge.import(ref, big, { signal: AbortSignal.abort(reason) }), reason)
      await t.rejects(knowledge.export(ref, { signal: AbortSignal.abort(reason) }), reason)
    })

    t.test('an abort is seen between the steps of one large chunk', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend)
      const big = Buffer.concat([...bigStream('big', 6, encodeMessage)])
      const abort = new AbortController()
      let read = 0
      const onProgress = ({ bytes }: { bytes: number }) => {
        read = bytes
        abort.abort()
      }
      const importing = knowledge.import(ref, big, { signal: abort.signal, onProgress })
      await t.rejects(importing, { name: 'AbortError' })
      t.ok(read < big.length / 2, `${read} of ${big.length} bytes`)
      t.strictSame(await coreProblems(backend), [])
    })

    t.test('an export of damaged slices fails and never ends as if it were whole', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend)
      await knowledge.import(ref, bigStream('big', 2.5, encodeMessage))
      const slices = await backend.open('slices')
      const keys: Uint8Array[] = []
      for await (const page of slices.scan({})) keys.push(...page.map(({ key }) => key))
      const last = keys.at(-1) as Uint8Array
      await slices.write([{ type: 'put', key: last, value: Buffer.alloc(10) }])
      await t.rejects(exported(knowledge, ref), { code: 'LK_STORAGE_CORRUPT' }, 'a short slice')
      await slices.write([{ type: 'del', key: last }])
      await t.rejects(exported(knowledge, ref), { code: 'LK_STORAGE_CORRUPT' }, 'a missing slice')
    })

    t.test('sixteen imports at once, good and bad, into four cores', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend)
      const imports = Array.from({ length: 16 }, (_, n) => {
        const id = `core ${n % 4}`
        const good = Buffer.concat([...bigStream(`import ${n}`, 1.5, encodeMessage)])
        const bad = n % 3 === 0 ? Buffer.concat([good, Buffer.of(0xc1)]) : good
        return { id, n, good, importing: knowledge.import({ user: 'alice', id }, bad) }
      })
      const results = await Promise.allSettled(imports.map(({ importing }) => importing))
      for (const [at, result] of results.entries()) {
        t.equal(result.status, at % 3 === 0 ? 'rejected' : 'fulfilled')
      }
      for (const id of ['core 0', 'core 1', 'core 2', 'core 3']) {
        const acknowledged = imports.filter((one) => one.id === id && one.n % 3 !== 0)
        const seen = new Set<string>()
        for await (const [, data] of knowledge.messages({ user: 'alice', id })) {
          const subject = (data as unknown as { t: { s: { v: string } }[] }).t[0]?.s.v ?? ''
          seen.add(subject.split('/')[3] as string)
        }
        t.strictSame([...seen].sort(), acknowledged.map(({ n }) => `import ${n}`).sort())
        const stat = await knowledge.stat({ user: 'alice', id })
        t.equal(stat?.segments, acknowledged.length)
        t.equal((await exported(knowledge, { user: 'alice', id })).length, stat?.bytes)
      }
      t.strictSame(await coreProblems(backend), [])
    })

    t.test('an export is one version while others replace and delete the core', async (t) => {
      const backend = createBackend(t)
      const keep = await openStore(t, backend, { indexThreads: 0 })
      const { knowledge } = keep
      const first = Buffer.concat([...bigStream('first', 6, encodeMessage)])
      await knowledge.write(ref, [triplesMessage('zero')])
      await knowledge.import(ref, first)
      const whole = await exported(knowledge, ref)
      const unread = await knowledge.export(ref)
      const reading = (await knowledge.export(ref))[Symbol.asyncIterator]()
      const chunks = [(await reading.next()).value as Uint8Array]
      await knowledge.import(ref, stream('second'), { mode: 'replace' })
      await knowledge.import(ref, stream('third'))
      await knowledge.delete(ref)
      for (let next = await reading.next(); !next.done; next = await reading.next())
        chunks.push(next.value)
      t.ok(Buffer.concat(chunks).equals(whole))
      t.equal((await keysOf(backend)).slices.length > 0, true, 'another export still holds them')
      const rest = []
      for await (const chunk of unread) rest.push(chunk)
      t.ok(Buffer.concat(rest).equals(whole))
      t.throws(() => unread[Symbol.asyncIterator](), TypeError)
      await t.rejects(knowledge.export(ref), { code: 'LK_CORE_NOT_FOUND' })
      await knowledge.import({ ...ref, id: 'closed' }, first)
      const closed = await knowledge.export({ ...ref, id: 'closed' })
      await knowledge.delete({ ...ref, id: 'closed' })
      closed.close()
      await settled(async () => (await keysOf(backend)).slices.length === 0)
      await settled(async () => (await coreProblems(backend)).length === 0)
    })

    t.test('a core that is replaced while an export opens is exported as it is then', async (t) => {
      const backend = new FaultyBackend(createBackend(t))
      const { knowledge } = await openStore(t, backend)
      await knowledge.import(ref, bigStream('first', 2, encodeMessage))
      backend.afterGet = async () => {
        await knowledge.import(ref, stream('second'), { mode: 'replace' })
        await settled(async () => (await coreProblems(backend.real)).length === 0)
      }
      t.ok((await exported(knowledge, ref)).equals(stream('second')))
      backend.afterGet = () => knowledge.delete(ref)
      await t.rejects(knowledge.export(ref), { code: 'LK_CORE_NOT_FOUND' })
    })

    t.test('an export that is left in the middle lets go of its version', async (t) => {
      const backend = createBackend(t)
      const { knowledge } = await openStore(t, backend, { indexThreads: 0 })
      await knowledge.import(ref, bigStream('first', 6, encodeMessage))
      for await (const chunk of await knowledge.export(ref)) {
        t.ok(chunk.length)
        break
      }
      await knowledge.delete(ref)
      await settled(async () => (await keysOf(backend)).slices.length === 0)
      t.pass()
    })

    t.test('cores are listed per user in the byte order of their ids, by pages', async (t) => {
      const { knowledge } = await openStore(t, createBackend(t))
      const ids = ['a', 'b', '\u{1f600}', '\ufffd', 'a\u0000b', 'https://schema.org/30.0']
      for (const id of ids) await knowledge.import({ user: 'alice', id }, stream('a'))
      await knowledge.import({ user: 'alice2', id: 'other' }, stream('a'))
      await knowledge.import({ user: 'alic', id: 'other' }, stream('a'))
      const sorted = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      const list = async (query: { after?: string; limit?: number } = {}) => {
        const found = []
        for await (const core of knowledge.list({ user: 'alice', ...query })) found.push(core.id)
        return found
      }
      t.strictSame(await list(), sorted)
      t.strictSame(await list({ limit: 2 }), sorted.slice(0, 2))
      const page = await knowledge.corePage({ user: 'alice', limit: 2 })
      t.strictSame(
        page.cores.map(({ id }) => id),
        sorted.slice(0, 2),
      )
      const after = page.next ?? ''
      t.strictSame(await list({ after, limit: 2 }), sorted.slice(2, 4))
      const last = await knowledge.corePage({ user: 'alice', limit: 4, after })
      t.equal(last.cores.length, 4)
      t.equal(last.next, undefined)
      await t.rejects(list({ after: sorted[1] as string }), { code: 'LK_CURSOR' })
    })

    t.test('limits that cannot be are refused', async (t) => {
      for (const limits of [{ maxCoreBytes: NaN }, { maxDepth: 5 }, { maxMessageBytes: 0.5 }]) {
        await t.rejects(openStore(t, createBackend(t), { limits }), TypeError)
      }
    })

    t.test('names that cannot be are refused', async (t) => {
      const { knowledge } = await openStore(t, createBackend(t))
      const code = { code: 'LK_CORE_REF' }
      for (const bad of ['', '\ud800', 'x'.repeat(1025), 'é'.repeat(513), 7, undefined]) {
        await t.rejects(knowledge.import({ user: bad as never, id: 'a' }, []), code)
        await t.rejects(knowledge.stat({ user: 'a', id: bad as never }), code)
        await t.rejects(knowledge.delete({ user: 'a', id: bad as never }), code)
        await t.rejects(knowledge.export({ user: 'a', id: bad as never }), code)
      }
      await knowledge.import({ user: 'x'.repeat(1024), id: 'é'.repeat(512) }, stream('a'))
      t.equal((await knowledge.stat({ user: 'x'.repeat(1024), id: 'é'.repeat(512) }))?.triples, 3)
    })

    t.test('close refuses new work, waits for what runs, and then aborts it', async (t) => {
      const backend = createBackend(t)
      const keep = await openStore(t, backend, { closeTimeoutMs: 50 })
      const { knowledge } = keep
      await knowledge.import(ref, bigStream('first', 3, encodeMessage))
      let go: (() => void) | undefined
      const slow = knowledge.import({ ...ref, id: 'slow' }, [stream('a')])
      const gate = new Promise<void>((resolve) => (go = resolve))
      const gated = knowledge.import({ ...ref, id: 'gated' }, gatedSource(gate))
      const stuck = knowledge.import(
        { ...ref, id: 'stuck' },
        gatedSource(new Promise(() => undefined)),
      )
      const stuckRejects = t.rejects(stuck, { code: 'LK_CLOSED' })
      const closing = keep.close()
      t.equal(keep.close(), closing)
      await t.rejects(knowledge.import(ref, []), { code: 'LK_CLOSED' })
      await t.rejects(knowledge.stat(ref), { code: 'LK_CLOSED' })
      await t.rejects(knowledge.delete(ref), { code: 'LK_CLOSED' })
      await t.rejects(knowledge.export(ref), { code: 'LK_CLOSED' })
      await t.rejects(knowledge.list({ user: 'a' })[Symbol.asyncIterator]().next(), {
        code: 'LK_CLOSED',
      })
      go?.()
      t.match(await gated, { messages: 1 })
      t.match(await slow, { messages: 1 })
      await stuckRejects
      await closing
    })

    t.test(`messages pass through unchanged but for id and user (seed ${seed})`, async (t) => {
      const { knowledge } = await openStore(t, createBackend(t))
      const random = new Random(seed)
      for (let round = 0; round < 20; round++) {
        const { bytes, ends } = randomStream(random, { strangeness: 0.3, messages: 10 })
        const core = { user: 'carol', id: `round ${round}` }
        const summary = await knowledge.import(core, bytes)
        t.equal(summary.messages, ends.length)
        const again = { user: 'dave', id: `copy ${round}` }
        await knowledge.import(again, await knowledge.export(core))
        const back: ImportSummary = await knowledge.import(core, await exported(knowledge, again))
        t.equal(back.duplicate, true, 'there and back is the same content')
      }
    })
  })
}

function* failing(chunks: Iterable<Uint8Array>) {
  yield* chunks
  throw new Error('the source broke')
}

async function* gatedSource(gate: Promise<void>) {
  await gate
  yield stream('gated')
}

/** Waits for something that happens in the background; the test's own timeout is the limit. */
async function settled(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await turn()
}
