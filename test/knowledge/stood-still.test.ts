// What a process was asked to change before it stood still, and others took it for dead, does not happen when it wakes
// under another name. It is held up at each call of its storage.

import type { Test } from 'tap'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { Notes, type Running } from '../flow/running.js'
import { anywhere, becomesAnother, hold, openTwo, pass } from '../flow/standing-still.js'
import { settled } from '../flow/virtual-clock.js'
import { coreKey } from '../../src/knowledge/records.js'
import type { KnowledgeStore } from '../../src/knowledge/types.js'
import type { CoreMessage, Term } from '../../src/types.js'
import { sameThingsCore, vocabulary } from '../../src/vocabulary.js'

interface Coded {
  readonly code: string
}

const user = 'alice'
const core = { user, id: 'x' }
const refusal = { code: 'LK_STORAGE_UNAVAILABLE' }

const entity = (name: string): Term => ({ v: `urn:${name}`, e: true })
const [a, b] = [entity('a'), entity('b')]

/** Something about each of these. */
function about(...names: readonly string[]): CoreMessage {
  const t = names.map((name) => ({ s: entity(name), p: entity('p'), o: entity('o') }))
  return ['t', { m: { i: core.id, u: user, m: [], c: 'default' }, t }]
}

/** Nothing is done that nobody asks for. */
async function twoOf(t: Test) {
  let faulty!: FaultyBackend
  const wrap = (backend: FaultyBackend['real']) => (faulty = new FaultyBackend(backend))
  const places = await openTwo(t, wrap, { indexThreads: 0 })
  return { ...places, faulty }
}

type Change = (knowledge: KnowledgeStore) => Promise<unknown>

const merge: Change = (knowledge) => knowledge.graph({ user }).merge(a, b)
const split: Change = (knowledge) => knowledge.graph({ user }).split(a, b)
const sayings = [
  { name: 'merge', say: merge, says: vocabulary.sameAs, opposite: split },
  { name: 'split', say: split, says: vocabulary.differentFrom, opposite: merge },
]

/** By what properties something was merged and split. */
async function said({ keep }: Running): Promise<string[]> {
  const found: string[] = []
  for await (const [kind, message] of keep.knowledge.messages({ user, id: sameThingsCore })) {
    if (kind === 't') found.push(...message.t.map(({ p }) => p.v))
  }
  return found
}

for (const { name, say, says, opposite } of sayings) {
  anywhere(`a ${name} that is held up leaves what others say since`, async (t, when) => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { one, two, faulty } = await twoOf(t)
      await two.keep.knowledge.write(core, [about('a', 'b')])
      await opposite(two.keep.knowledge)
      const goOn = hold(faulty, at, when)
      const asked = say(one.keep.knowledge).catch((error: Coded) => error)
      for (let n = 0; n < 20; n++) await settled()
      await becomesAnother(one, two)
      isOver = (await said(two)).includes(says)
      await say(two.keep.knowledge)
      await opposite(two.keep.knowledge)
      const before = await said(two)
      goOn()
      await pass(one, 1000)
      const told = await asked
      if (!isOver) t.match(told, refusal, `held up at call ${at}`)
      t.same(await said(two), before, `held up at call ${at}`)
    }
  })

  anywhere(`a ${name} of a step that is held up leaves what others say`, async (t, when) => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { one, two, faulty } = await twoOf(t)
      await two.keep.knowledge.write(core, [about('a', 'b')])
      await opposite(two.keep.knowledge)
      let goOn!: () => void
      let asked: Promise<unknown> | undefined
      const first = new Notes().on('a', async (_, { knowledge }) => {
        goOn = hold(faulty, at, when)
        asked = say(knowledge).catch((error: Coded) => error)
        await asked
      })
      const second = new Notes().on('a', (_, { knowledge }) => say(knowledge))
      await one.flows.define({ id: 'f', steps: first.steps('a') })
      await two.flows.define({ id: 'f', steps: second.steps('a') })
      const { job } = await two.flows.load('f', { id: 'd', user, content: 'text' })
      const runners = [one.flows.run()]
      await pass(one, 1000)
      isOver = (await said(two)).includes(says)
      runners.push(two.flows.run())
      await becomesAnother(one, two)
      t.match(await two.flows.job(job), { state: 'done' }, `held up at call ${at}`)
      await opposite(two.keep.knowledge)
      const before = await said(two)
      goOn()
      await pass(one, 1000)
      const told = await asked
      if (!isOver) t.match(told, refusal, `held up at call ${at}`)
      t.same(await said(two), before, `held up at call ${at}`)
      for (const runner of runners) await runner.stop()
    }
  })
}

const indexings: Readonly<Record<string, Change>> = {
  'an index of a core': (knowledge) => knowledge.index(core),
  'an index of all cores': (knowledge) => knowledge.index({ user }),
  'an index of what is written again': (knowledge) =>
    knowledge.write(core, [about('b')], { index: true }),
}

for (const [name, index] of Object.entries(indexings)) {
  anywhere(`${name} that is held up is not made later`, async (t, when) => {
    for (let at = 1, isOver = false; !isOver; at++) {
      const { one, two, faulty } = await twoOf(t)
      await two.keep.knowledge.write(core, [about('a')])
      await two.keep.knowledge.write(core, [about('b')])
      const goOn = hold(faulty, at, when)
      const asked = index(one.keep.knowledge).catch((error: Coded) => error)
      for (let n = 0; n < 20; n++) await settled()
      await becomesAnother(one, two)
      const before = await two.keep.knowledge.indexState(core)
      isOver = before.state === 'complete'
      goOn()
      await pass(one, 1000)
      const told = await asked
      if (!isOver) t.match(told, refusal, `held up at call ${at}`)
      t.same(await two.keep.knowledge.indexState(core), before, `held up at call ${at}`)
    }
  })
}

anywhere('a damaged record is not made anew later', async (t, when) => {
  for (let at = 1, isOver = false; !isOver; at++) {
    const { one, two, faulty, memory } = await twoOf(t)
    await two.keep.knowledge.write(core, [about('a')])
    const cores = await memory.backend().open('cores')
    const key = coreKey(core)
    await cores.write([{ type: 'put', key, value: Buffer.from('{"id":') }])
    const goOn = hold(faulty, at, when)
    const asked = one.keep.knowledge.delete(core).catch((error: Coded) => error)
    for (let n = 0; n < 20; n++) await settled()
    await becomesAnother(one, two)
    const before = await cores.get(key)
    isOver = before === undefined
    goOn()
    await pass(one, 1000)
    const told = await asked
    if (!isOver) t.match(told, refusal, `held up at call ${at}`)
    t.same(await cores.get(key), before, `held up at call ${at}`)
  }
})
