import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Sharing } from '../src/storage.js'
import { TurnTaking } from '../src/turn-taking.js'
import { SharedMemory } from './fixtures/shared-memory.js'

async function sharings(t: Test, count: number): Promise<Sharing[]> {
  const memory = new SharedMemory()
  const backends = Array.from({ length: count }, () => memory.backend())
  t.teardown(() => Promise.all(backends.map((backend) => backend.close())))
  const storages = await Promise.all(backends.map((backend) => backend.open('flows')))
  return storages.map(({ sharing }) => sharing!)
}

t.test('nobody else has it: there is nothing to take', async (t) => {
  const alone = new TurnTaking(undefined, 'name')
  t.ok(alone.isHad)
  t.notOk(await alone.take())
  alone.rest()
  t.ok(alone.isHad)
})

t.test(
  'a turn that nobody waits for is kept, and is given up at once when somebody does',
  async (t) => {
    const [mine, other] = (await sharings(t, 2)) as [Sharing, Sharing]
    let asked = 0
    const counted = {
      ...mine,
      turn: (name: string, signal?: AbortSignal) => {
        asked++
        return mine.turn(name, signal)
      },
    }
    const [one, two] = [new TurnTaking(counted, 'name'), new TurnTaking(other, 'name')]
    t.ok(await one.take())
    one.rest()
    t.ok(one.isHad)
    t.notOk(await one.take(), 'nobody had it meanwhile')
    await wait(120)
    t.notOk(one.isOver, 'nobody waits')
    t.equal(asked, 1)
    let isGiven = false
    const given = two.take().then((isNew) => (isGiven = isNew))
    await wait(20)
    t.notOk(isGiven, 'there is something to do')
    t.ok(one.isOver)
    one.rest()
    await given
    t.ok(isGiven)
    t.notOk(one.isHad)
    const back = one.take()
    two.rest()
    await back
    one.end()
  },
)

t.test('who rests gives it up when somebody asks, and after a moment in any case', async (t) => {
  const [mine, other] = (await sharings(t, 2)) as [Sharing, Sharing]
  const [one, two] = [new TurnTaking(mine, 'name'), new TurnTaking(other, 'name')]
  await one.take()
  one.rest()
  const given = two.take()
  for (let n = 0; n < 5; n++) await turn()
  t.notOk(one.isHad)
  t.ok(two.isHad)
  await given
  two.rest()
  await wait(150)
  t.notOk(two.isHad)
})

t.test('a message that is lost is told again', async (t) => {
  const [mine, other] = (await sharings(t, 2)) as [Sharing, Sharing]
  let isHeard = false
  const publish = (message: Uint8Array) => {
    if (isHeard) other.publish(message)
  }
  const [one, two] = [new TurnTaking(mine, 'name'), new TurnTaking({ ...other, publish }, 'name')]
  await one.take()
  const given = two.take()
  await wait(120)
  t.notOk(one.isOver, 'nobody has told')
  isHeard = true
  while (!one.isOver) await wait(20)
  one.end()
  t.ok(await given)
  two.end()
})

t.test('a turn that takes long to begin lasts longer, and not for ever', async (t) => {
  const [mine, other] = (await sharings(t, 2)) as [Sharing, Sharing]
  const [one, two] = [new TurnTaking(mine, 'name'), new TurnTaking(other, 'name')]
  await one.take()
  const given = two.take()
  for (let n = 0; n < 5; n++) await turn()
  const since = performance.now()
  await wait(120)
  t.ok(one.isOver, 'nothing was written')
  one.begun()
  // A machine that is busy may have let it pass.
  t.ok(!one.isOver || performance.now() - since > 490)
  one.begun()
  await wait(400)
  t.ok(one.isOver)
  one.end()
  await given
  two.end()
})

t.test('the more wait, the shorter is a turn that took long to begin', async (t) => {
  const all = (await sharings(t, 4)).map((sharing) => new TurnTaking(sharing, 'name'))
  const [one, ...others] = all as [TurnTaking, ...TurnTaking[]]
  await one.take()
  const waiting = others.map(async (other) => {
    await other.take()
    other.end()
  })
  const since = performance.now()
  await wait(120)
  one.begun()
  t.ok(!one.isOver || performance.now() - since > 160)
  await wait(60)
  t.ok(one.isOver, 'three wait: each turn is a third of what one would be')
  one.end()
  await Promise.all(waiting)
})
