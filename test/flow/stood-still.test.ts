// What a process was asked for before it stood still, and others took it for dead, does not happen when it wakes; and
// what others change while it reads is seen as a whole. Each has its own time.

import t, { type Test } from 'tap'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import type { Lorekeep } from '../../src/lorekeep.js'
import type { Backend } from '../../src/storage.js'
import { Notes } from './running.js'
import { anywhere, becomesAnother, hold, openTwo, pass } from './standing-still.js'
import { settled } from './virtual-clock.js'

interface Coded {
  readonly code: string
}

const ref = { user: 'alice', document: 'x' }
const core = { user: 'alice', id: 'x' }
const document = { id: 'x', user: 'alice', content: 'text' }

/** Both with a flow whose step writes the core. */
async function twoOver(t: Test, wrap: (backend: Backend) => Backend) {
  const { one, two } = await openTwo(t, wrap)
  for (const place of [one, two]) {
    const write = () => place.keep.knowledge.write(core, [], { mode: 'replace' })
    await place.flows.define({ id: 'f', steps: new Notes().on('a', write).steps('a') })
  }
  return { one, two }
}

t.test('a job that others claim while it is asked for is told all the same', async (t) => {
  for (let at = 1; at < 12; at++) {
    let faulty!: FaultyBackend
    const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
    for (const ask of [
      async (job: string) => (await one.flows.job(job))?.id,
      async (job: string) =>
        (await one.flows.document(ref))?.jobs.map(({ id }) => id).find((id) => id === job),
    ]) {
      const { job } = await two.flows.load('f', document)
      const last = faulty.calls + at
      let isClaimed: Promise<void> | undefined
      faulty.beforeCall = async (call) => {
        if (call !== last) return
        const runner = two.flows.run()
        isClaimed = settled().then(() => runner.stop())
        await isClaimed
      }
      t.equal(await ask(job), job, `before call ${at}`)
      faulty.beforeCall = undefined
      await isClaimed
      await two.flows.removeDocument(ref)
    }
  }
})

anywhere('a removal that is held up, and goes on, leaves what came since', async (t, when) => {
  for (let at = 1; ; at++) {
    let faulty!: FaultyBackend
    const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
    const runner = two.flows.run()
    await two.flows.load('f', document)
    await pass(two, 1000)
    const goOn = hold(faulty, at, when)
    const removing = one.flows.removeDocument(ref).catch(({ code }: { code: string }) => code)
    for (let n = 0; n < 20; n++) await settled()
    await becomesAnother(one, two)
    const isOver = (await two.flows.document(ref)) === undefined
    await two.flows.removeDocument(ref)
    const { job } = await two.flows.load('f', document)
    await pass(two, 1000)
    t.match(await two.flows.job(job), { state: 'done' })
    goOn()
    await pass(one, 1000)
    const told = await removing
    t.match(await two.flows.document(ref), { completed: { job } }, `held up at call ${at}`)
    t.ok(await two.keep.knowledge.stat(core), `held up at call ${at}`)
    await runner.stop()
    if (isOver) break
    t.equal(told, 'LK_STORAGE_UNAVAILABLE')
    if (at > 100) throw new Error('it does not end')
  }
})

t.test(
  'a removal that is asked for while its process joins anew leaves what came since',
  async (t) => {
    let faulty!: FaultyBackend
    const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
    const runner = two.flows.run()
    await two.flows.load('f', document)
    await pass(two, 100_000)
    // It learns by a write that others took it for dead, and stands still again before it is somebody else.
    await t.rejects(one.flows.load('f', document), { code: 'LK_STORAGE_UNAVAILABLE' })
    const goOn = hold(faulty, 1)
    const removing = one.flows.removeDocument(ref).catch(({ code }: { code: string }) => code)
    await settled()
    await two.flows.removeDocument(ref)
    const { job } = await two.flows.load('f', document)
    await pass(two, 1000)
    t.match(await two.flows.job(job), { state: 'done' })
    goOn()
    await pass(one, 1000)
    t.equal(await removing, 'LK_STORAGE_UNAVAILABLE')
    t.match(await two.flows.document(ref), { completed: { job } })
    t.ok(await two.keep.knowledge.stat(core))
    t.equal(await one.flows.removeDocument(ref), true)
    await runner.stop()
  },
)

anywhere('a load of a scope that is held up leaves what came since', async (t, when) => {
  const scope = { user: 'alice', collections: ['default'] }
  for (let at = 1, isOver = false; !isOver; at++) {
    let faulty!: FaultyBackend
    const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
    const goOn = hold(faulty, at, when)
    const loading = one.flows.load('f', document, { scope }).catch((error: Coded) => error)
    for (let n = 0; n < 20; n++) await settled()
    await becomesAnother(one, two)
    isOver = (await two.flows.document(ref)) !== undefined
    const { job } = await two.flows.load('f', document)
    const runner = two.flows.run()
    await pass(two, 1000)
    goOn()
    await pass(one, 1000)
    if (!isOver) t.match(await loading, { code: 'LK_STORAGE_UNAVAILABLE' }, `held up at call ${at}`)
    await pass(two, 1000)
    t.match(await two.flows.document(ref), { completed: { job } }, `held up at call ${at}`)
    await runner.stop()
  }
})

const changes = {
  retry: (flows: Lorekeep['flows'], job: string) => flows.retry(job, { scope: { user: 'alice' } }),
  cancel: (flows: Lorekeep['flows'], job: string) =>
    flows.cancel(job, { scope: { user: 'alice' } }),
} as const

for (const [name, change] of Object.entries(changes)) {
  anywhere(`a ${name} of a scope that is held up changes nothing later`, async (t, when) => {
    for (let at = 1, isOver = false; !isOver; at++) {
      let faulty!: FaultyBackend
      const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
      const failing = new Notes().on('a', () => Promise.reject(new Error('on purpose')))
      await two.flows.define({ id: 'f', steps: failing.steps('a'), maxAttempts: 1 })
      const { job } = await two.flows.load('f', document)
      const runner = two.flows.run()
      await pass(two, 1000)
      await runner.stop()
      t.match(await two.flows.job(job), { state: 'dead' })
      const goOn = hold(faulty, at, when)
      const changing = change(one.flows, job).catch((error: Coded) => error)
      for (let n = 0; n < 20; n++) await settled()
      await becomesAnother(one, two)
      isOver = (await two.flows.job(job))?.state !== 'dead'
      goOn()
      await pass(one, 1000)
      if (isOver) break
      t.match(await changing, { code: 'LK_STORAGE_UNAVAILABLE' }, `held up at call ${at}`)
      t.match(await two.flows.job(job), { state: 'dead' }, `held up at call ${at}`)
    }
  })
}

anywhere('many that are cancelled are not cancelled on under another name', async (t, when) => {
  for (let at = 1, isOver = false; !isOver; at++) {
    let faulty!: FaultyBackend
    const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
    const ids = Array.from({ length: 300 }, (_, n) => `d${n}`)
    await Promise.all(ids.map((id) => two.flows.load('f', { ...document, id })))
    const goOn = hold(faulty, at, when)
    const cancelling = one.flows.cancelAll({ flow: 'f' }).catch((error: Coded) => error)
    for (let n = 0; n < 20; n++) await settled()
    await becomesAnother(one, two)
    const { queued } = await two.flows.stats('f')
    isOver = queued === 0
    goOn()
    await pass(one, 1000)
    t.match(await two.flows.stats('f'), { queued }, `held up at call ${at}`)
    if (!isOver) t.match(await cancelling, { code: 'LK_STORAGE_UNAVAILABLE' })
  }
})

anywhere('a removal of a flow that is held up leaves one that was made since', async (t, when) => {
  for (let at = 1, isOver = false; !isOver; at++) {
    let faulty!: FaultyBackend
    const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
    await two.flows.define({ id: 'g', steps: new Notes().steps('a') })
    const goOn = hold(faulty, at, when)
    const removing = one.flows.remove('g').catch((error: Coded) => error)
    for (let n = 0; n < 20; n++) await settled()
    await becomesAnother(one, two)
    isOver = !(await two.flows.remove('g'))
    await two.flows.define({ id: 'g', steps: new Notes().steps('b') })
    goOn()
    await pass(one, 1000)
    t.match(await two.flows.get('g'), { steps: [{ name: 'b' }] }, `held up at call ${at}`)
    if (!isOver)
      t.match(await removing, { code: 'LK_STORAGE_UNAVAILABLE' }, `held up at call ${at}`)
  }
})

t.test('a load that waits while its process is taken for dead is not stored later', async (t) => {
  let faulty!: FaultyBackend
  const { one, two } = await twoOver(t, (backend) => (faulty = new FaultyBackend(backend)))
  const goOn = hold(faulty, 1)
  const asking = one.flows.job('none')
  const loading = one.flows.load('f', document).catch(({ code }: { code: string }) => code)
  await becomesAnother(one, two)
  goOn()
  t.equal(await loading, 'LK_STORAGE_UNAVAILABLE')
  t.equal(await asking, undefined)
  t.equal(await two.flows.document(ref), undefined)
  const again = await one.flows.load('f', document)
  t.match(await two.flows.job(again.job), { state: 'queued' })
})
