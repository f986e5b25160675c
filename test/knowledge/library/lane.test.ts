import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Lane } from '../../../src/knowledge/library/lane.js'

t.test('so many at once, in their order, whatever becomes of them', async (t) => {
  const lane = new Lane(2)
  let running = 0
  let most = 0
  const begun: number[] = []
  const work = (n: number) => async () => {
    begun.push(n)
    most = Math.max(most, ++running)
    await turn()
    running--
    if (n % 3 === 0) throw new Error(`${n}`)
    return n
  }
  const works = Array.from({ length: 9 }, (_, n) => lane.run(undefined, work(n)))
  const settled = await Promise.allSettled(works)
  t.strictSame(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  t.equal(most, 2)
  for (const [n, result] of settled.entries()) {
    t.match(result, n % 3 === 0 ? { status: 'rejected' } : { status: 'fulfilled', value: n })
  }
  await lane.idle()
  t.equal(running, 0)
})

t.test('who leaves before its turn does not hold up the others', async (t) => {
  const lane = new Lane(1)
  const leaving = new AbortController()
  let end: (() => void) | undefined
  const first = lane.run(undefined, () => new Promise<void>((resolve) => (end = resolve)))
  let isRun = false
  const second = lane.run(leaving.signal, async () => {
    isRun = true
  })
  const third = lane.run(undefined, async () => 'third')
  leaving.abort(new Error('enough'))
  await t.rejects(second, { message: 'enough' })
  await t.rejects(
    lane.run(leaving.signal, async () => undefined),
    { message: 'enough' },
  )
  end?.()
  await first
  t.equal(await third, 'third')
  t.equal(isRun, false)
})
