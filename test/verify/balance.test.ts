import t from 'tap'
import { Balance } from '../../src/verify/balance.js'
import { NameSet } from '../../src/verify/name-set.js'
import { Numbers, placeOf } from '../../src/verify/numbers.js'

type Entries = readonly (readonly [text: string, weight: number])[]

/** What differs, and in how many rounds that was found. */
function differing(entries: Entries) {
  const balance = new Balance()
  const add = () => {
    for (const [text, weight] of entries) balance.add(text, weight)
  }
  add()
  const found: string[] = []
  let rounds = 0
  for (; balance.isOpen; rounds++) {
    balance.list()
    add()
    for (const { text, weight } of balance.differences()) found.push(`${text} ${weight}`)
  }
  return { found: found.sort(), rounds }
}

t.test('two sides that are equal have no difference', async (t) => {
  const names = Array.from({ length: 3000 }, (_, n) => `name ${n} ü`)
  const sides = [
    ...names.map((name) => [name, 2] as const),
    ...names.map((name) => [name, -2] as const),
  ]
  t.strictSame(differing([]), { found: [], rounds: 0 })
  t.strictSame(differing(sides), { found: [], rounds: 0 })
})

t.test('what differs is named, with its weight', async (t) => {
  const entries: Entries = [
    ['both', 1],
    ['more', 3],
    ['both', -1],
    ['less', -1],
    ['more', -1],
    ['twice', 2],
    ['x'.repeat(400), 1],
  ]
  const { found, rounds } = differing(entries)
  t.strictSame(found, ['less -1', 'more 2', 'twice 2', `${'x'.repeat(300)} 1`])
  t.equal(rounds, 1)
})

t.test('where much differs, some of it is held at a time, and all of it found', async (t) => {
  const count = 250_000
  const { found, rounds } = differing(Array.from({ length: count }, (_, n) => [`${n}`, 1]))
  t.equal(new Set(found).size, count)
  t.equal(found.length, count)
  t.ok(rounds >= 3, `${rounds} rounds`)
})

t.test('a name is in one of the shares, and known there', async (t) => {
  const shares = [0, 1, 2].map((share) => new NameSet(share, 3))
  const names = Array.from({ length: 3000 }, (_, n) => `name ${n}`)
  for (const set of shares) for (const name of names) set.add(name)
  for (const name of names) {
    const covering = shares.filter((set) => set.covers(name))
    t.equal(covering.length, 1)
    if (!covering[0]!.has(name) || covering[0]!.isTwice(name)) t.fail(name)
  }
  t.ok(shares.every((set) => !set.hasTwice && !set.has('another') && !set.isTwice('another')))
  const one = new NameSet()
  for (const name of ['a', 'b', 'c', 'b']) one.add(name)
  t.ok(one.hasTwice)
  t.strictSame(
    ['a', 'b', 'c', 'd'].map((name) => one.isTwice(name)),
    [false, true, false, false],
  )
  one.add('d')
  t.ok(one.has('d'))
})

t.test('numbers come in order, however many', async (t) => {
  const numbers = new Numbers()
  for (let n = 0; n < 3000; n++) numbers.add((n * 7) % 3000)
  t.strictSame(
    [...numbers.sorted()],
    Array.from({ length: 3000 }, (_, n) => n),
  )
  const sorted = Float64Array.of(1, 3, 3, 5)
  t.strictSame(
    [0, 1, 2, 3, 4, 5, 6].map((n) => placeOf(n, sorted)),
    [0, 0, 1, 1, 3, 3, 4],
  )
})
