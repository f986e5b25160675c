// Who waits for his turn follows what others write meanwhile.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { flowProblems } from '../../fixtures/problems.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, drained, openQueue } from './queues.js'

async function queues() {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const [one, two] = [await memory.backend().open('flows'), await memory.backend().open('flows')]
  const [first, second] = [await openQueue(one, { clock }), await openQueue(two, { clock })]
  return { memory, clock, one, first, second }
}

async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn()
}

t.test('what others have written is known before the turn has begun', async (t) => {
  const { memory, clock, one, first, second } = await queues()
  t.teardown(() => memory.close())
  const release = await one.sharing!.turn('head')
  const loading = second.load('f', documentOf('own'))
  await turns()
  // As whoever has the turn.
  const other = await openQueue(withoutTurns(one), { clock })
  for (let n = 0; n < 3; n++) await other.load('f', documentOf(`d${n}`))
  t.equal(second.stats('f')?.queued, 0)
  await clock.advance(50)
  await turns()
  t.equal(second.stats('f')?.queued, 3)
  await other.load('f', documentOf('late'))
  release()
  await loading
  t.equal(second.stats('f')?.queued, 5)
  const documents = (await drained(first, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['d0', 'd1', 'd2', 'late', 'own'])
  t.strictSame(await flowProblems(one), [])
})

t.test('what cannot be followed is read anew when the turn has begun', async (t) => {
  const { memory, clock, one, first, second } = await queues()
  t.teardown(() => memory.close())
  const release = await one.sharing!.turn('head')
  const loading = second.load('f', documentOf('own'))
  await turns()
  const other = await openQueue(withoutTurns(one), { clock })
  await other.setActive('f', false)
  await other.setActive('f', true)
  await other.load('f', documentOf('d'))
  await clock.advance(50)
  await turns()
  release()
  await loading
  t.equal(second.stats('f')?.queued, 2)
  t.equal((await drained(first, 'f')).length, 2)
  t.strictSame(await flowProblems(one), [])
})

/** Of somebody who has the turn. */
function withoutTurns<Shared extends object>(real: Shared): Shared {
  return new Proxy(real, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'sharing') {
        return { ...(member as object), turn: async () => () => undefined }
      }
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
