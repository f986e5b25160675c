import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Requests } from '../../src/sparql/requests.js'

function busy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

t.test('others get their turn between requests that came at once', async (t) => {
  const requests = new Requests()
  let done = 0
  let turns = 0
  for (let n = 0; n < 200; n++) {
    requests.add(async () => {
      await undefined
      busy(2)
      done++
    })
  }
  for (; done < 200; turns++) await turn()
  // 400 ms of work. Without, there is one.
  t.ok(turns > 5, `${turns} turns`)
})

t.test('some are worked on at once, and all in their order', async (t) => {
  const requests = new Requests()
  const begun: number[] = []
  let atOnce = 0
  let most = 0
  for (let n = 0; n < 50; n++) {
    requests.add(async () => {
      begun.push(n)
      most = Math.max(most, ++atOnce)
      await turn()
      atOnce--
    })
  }
  while (begun.length < 50 || atOnce > 0) await turn()
  t.strictSame(
    begun,
    Array.from({ length: 50 }, (_, n) => n),
  )
  t.ok(most > 1 && most < 50, `${most} at once`)
})

t.test('those that take long hold up others for a while, and not for good', async (t) => {
  const requests = new Requests()
  for (let n = 0; n < 20; n++) requests.add(() => new Promise(() => undefined))
  const alive = setInterval(() => undefined, 1000)
  await new Promise<void>((resolve) => requests.add(async () => resolve()))
  clearInterval(alive)
  t.pass()
})
