// keep.verify() while others write: what it sees is one moment, so nothing is amiss.

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { pace } from '../../src/knowledge/library/policy.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { CoreMessage } from '../../src/types.js'
import { backends, openStore, triplesMessage } from '../fixtures/stores.js'
import type { Finding } from '../../src/verify/finding.js'

function vectorMessage(n: number): CoreMessage {
  const e = { v: `http://example.org/${n}`, e: true }
  const m = { i: 'i', m: [], u: 'u', c: 'default' }
  return ['ge', { m, e: [{ e, v: [[n + 1, 1]] }] }]
}

/** Makes parts of each segment, and merges whatever can be; the returned function undoes that. */
function restlessly(): () => void {
  const usual = { ...pace }
  Object.assign(pace, { manySegments: 1, quietMs: 0, idleMs: 5, fanOut: 2 })
  return () => Object.assign(pace, usual)
}

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: a store that is written to has no errors`, async (t) => {
    t.teardown(restlessly())
    const keep = await openStore(t, createBackend(t), { indexThreads: 1 })
    await keep.objects.defineSchema({
      name: 'thing',
      fields: { id: { type: 'integer', required: true }, n: { type: 'number' } },
      indexes: ['n'],
    })
    let isDone = false
    let writes = 0
    const work = (async () => {
      for (let n = 0; !isDone; n++) {
        const ref = { user: 'u', id: `core ${n % 3}` }
        await keep.knowledge.write(ref, [triplesMessage(`m${n}`), vectorMessage(n)], {
          mode: n % 4 === 0 ? 'replace' : 'append',
          index: n % 8 === 0,
        })
        if (n % 7 === 0) await keep.knowledge.delete(ref)
        if (n % 11 === 0) await keep.knowledge.index({ user: 'u' })
        await keep.objects.import({
          schema_name: 'thing',
          metadata: { id: `b${n}`, user: 'u', collection: 'c' },
          values: [
            { id: 2 * n, n },
            { id: 2 * n + 1, n: n / 2 },
          ],
        })
        if (n % 5 === 0) await keep.objects.delete('c', n)
        await keep.flows.load('default', { id: `d${n}`, user: 'u', content: 'a text' })
        writes++
        await turn()
      }
    })()
    work.catch(() => (isDone = true))
    const errors: Finding[] = []
    for (let round = 0; round < 8; round++) {
      const before = writes
      while (writes < before + 2 && !isDone) await turn()
      for await (const finding of keep.verify({ deep: round % 2 === 0 })) {
        if (finding.severity === 'error') errors.push(finding)
      }
    }
    isDone = true
    await work
    t.strictSame(errors, [])
    t.ok(writes > 8, `${writes} rounds of writes`)
    // Once nothing is left to be done, nothing is on its way either.
    await keep.knowledge.index({ user: 'u' })
    let left: string[] = ['not looked at yet']
    for (let looks = 0; looks < 100 && left.length > 0; looks++) {
      // A verification holds deletions up.
      await sleep(20)
      left = []
      for await (const { partition, what } of keep.verify()) {
        if (partition === 'cores' || partition === 'slices') left.push(what)
      }
    }
    t.strictSame(left, [])
  })
}

t.test(
  'verify() ends with its signal, tells its progress, and refuses what is no option',
  async (t) => {
    const [[, createBackend]] = backends as [(typeof backends)[0]]
    const keep = await openStore(t, createBackend(t))
    await keep.knowledge.write({ user: 'u', id: 'c' }, [triplesMessage('m')])
    const reason = new Error('enough')
    const controller = new AbortController()
    controller.abort(reason)
    const { signal } = controller
    await t.rejects(drained(keep.verify({ signal })), reason)
    const seen: number[] = []
    await drained(keep.verify({ deep: true, onProgress: ({ entries }) => seen.push(entries) }))
    t.ok((seen.at(-1) ?? 0) > 0)
    t.throws(() => keep.verify({ deap: true } as never), TypeError)
    t.throws(() => keep.verify({ deep: 1 } as never), TypeError)
    await keep.close()
    await t.rejects(drained(keep.verify()), { code: 'LK_CLOSED' })
  },
)

/** A backend in which a verification finds something early, and goes on. */
async function damaged(): Promise<MemoryBackend> {
  const backend = new MemoryBackend()
  // Not closed: it would lose all of it.
  await createLorekeep({ backend })
  for (const name of ['cores', 'flows'] as const) {
    const storage = await backend.open(name)
    await storage.write([{ type: 'put', key: Buffer.from('zzz'), value: Buffer.from('1') }])
  }
  return backend
}

t.test('close() ends a verification that is paused, left, or calls it', async (t) => {
  const closeTimeoutMs = 20
  const paused = await createLorekeep({ backend: await damaged(), closeTimeoutMs })
  const findings = paused.verify()[Symbol.asyncIterator]()
  t.equal((await findings.next()).done, false)
  await paused.close()
  await t.rejects(findings.next(), { code: 'LK_CLOSED' })
  const within = await createLorekeep({ backend: await damaged(), closeTimeoutMs })
  await t.rejects(
    async () => {
      for await (const _ of within.verify()) await within.close()
    },
    { code: 'LK_CLOSED' },
  )
})

t.test('a verification that is forgotten holds up neither close() nor deletions', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const keep = await openStore(t, await damaged(), { closeTimeoutMs: Infinity })
  await (async () => {
    await keep.verify()[Symbol.asyncIterator]().next()
  })()
  let isClosed = false
  const closing = keep.close().then(() => (isClosed = true))
  while (!isClosed) {
    collectGarbage()
    await turn()
  }
  await closing
  t.pass()
})

t.test('a backend that others write to is not verified from here, and closes', async (t) => {
  const memory = new MemoryBackend()
  const keep = await createLorekeep({
    backend: {
      shared: true,
      open: (name) => memory.open(name),
      close: () => memory.close(),
      [Symbol.asyncDispose]: () => memory.close(),
    },
    closeTimeoutMs: Infinity,
  })
  await t.rejects(drained(keep.verify()), { code: 'LK_STORAGE_FAILED' })
  await keep.close()
})

async function drained(findings: AsyncIterable<Finding>): Promise<void> {
  for await (const _ of findings);
}
