import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Spool } from '../../src/backup/spool.js'

const block = (n: number) => Buffer.alloc(1024 * 1024, n)

t.test('what must not wait goes to a file, and comes out in its order', async (t) => {
  const spool = new Spool(() => false)
  for (let n = 0; n < 20; n++) await spool.push(block(n))
  spool.end()
  let n = 0
  for await (const bytes of spool.take()) t.ok(block(n++).equals(bytes))
  t.equal(n, 20)
  await spool.close()
})

t.test('what may wait does, until it is taken or may no longer', async (t) => {
  let mayWait = true
  const spool = new Spool(() => mayWait)
  let pushed = 0
  const pushing = (async () => {
    for (let n = 0; n < 12; n++) {
      await spool.push(block(n))
      pushed++
    }
    spool.end()
  })()
  for (let turns = 0; turns < 50; turns++) await turn()
  t.equal(pushed, 4)
  const taking = spool.take()
  await taking.next()
  await taking.next()
  for (let turns = 0; turns < 50; turns++) await turn()
  t.equal(pushed, 6)
  mayWait = false
  // It looks again by itself.
  await pushing
  let left = 0
  for await (const _ of taking) left++
  t.equal(left, 10)
  await spool.close()
})

t.test('a taker that stops ends the maker, and a maker that fails the taker', async (t) => {
  const spool = new Spool(() => true)
  const pushing = (async () => {
    for (let n = 0; ; n++) await spool.push(block(n))
  })()
  await turn()
  spool.stop(new Error('enough'))
  await t.rejects(pushing, { message: 'enough' })
  await spool.close()
  const other = new Spool(() => true)
  const next = other.take().next()
  await turn()
  other.end(new Error('broken'))
  await t.rejects(next, { message: 'broken' })
  await other.close()
})
