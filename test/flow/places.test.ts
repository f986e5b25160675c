import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Places } from '../../src/flow/places.js'

t.test('who comes when all are taken waits, first come, first served', async (t) => {
  const places = new Places()
  const served: string[] = []
  const come = (name: string) => {
    const waiting = places.take(2)
    if (waiting === undefined) served.push(name)
    else void waiting.had.then(() => served.push(name))
    return waiting
  }
  const [, , , fourth] = ['a', 'b', 'c', 'd', 'e'].map(come)
  await turn()
  t.strictSame(served, ['a', 'b'])
  places.leave()
  await turn()
  t.strictSame(served, ['a', 'b', 'c'])
  fourth?.go()
  fourth?.go()
  await turn()
  t.strictSame(served, ['a', 'b', 'c', 'd'], 'without a place')
  places.leave()
  await turn()
  t.strictSame(served, ['a', 'b', 'c', 'd'], 'there are two yet')
  places.leave()
  await turn()
  t.strictSame(served, ['a', 'b', 'c', 'd', 'e'])
})

t.test('where there are fewer than there were, nobody takes the place of who leaves', async (t) => {
  const places = new Places()
  t.equal(places.take(2), undefined)
  t.equal(places.take(2), undefined)
  let isServed = false
  void places.take(1)?.had.then(() => (isServed = true))
  places.leave()
  await turn()
  t.notOk(isServed)
  places.leave()
  await turn()
  t.ok(isServed)
})
