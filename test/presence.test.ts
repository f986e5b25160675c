// Who is there of those that share a backend: each with a clock of its own.

import t from 'tap'
import { LorekeepError } from '../src/errors.js'
import { decodeKey, encodeKey } from '../src/keys.js'
import { Presence, type SeenMember } from '../src/presence.js'
import type { Backend, Operation, Storage, WriteOptions } from '../src/storage.js'
import { SharedMemory } from './fixtures/shared-memory.js'
import { VirtualClock } from './flow/virtual-clock.js'

const leaseMs = 30_000
const places = ['cores', 'objects', 'flows'] as const
type Place = (typeof places)[number]

/** Refuses or holds up writes, and tells of them. */
class Door {
  onWrite: (place: Place, operations: readonly Operation[]) => unknown = () => undefined

  async partitions(backend: Backend): Promise<Record<Place, Storage>> {
    const open = async (place: Place): Promise<Storage> => {
      const real = await backend.open(place)
      return {
        sharing: real.sharing,
        get: (key) => real.get(key),
        getBytes: (key, from, to) => real.getBytes(key, from, to),
        getMany: (keys) => real.getMany(keys),
        scan: (range) => real.scan(range),
        write: async (operations: readonly Operation[], options?: WriteOptions) => {
          await this.onWrite(place, operations)
          return real.write(operations, options)
        },
        close: () => real.close(),
        [Symbol.asyncDispose]: () => real.close(),
      }
    }
    return {
      cores: await open('cores'),
      objects: await open('objects'),
      flows: await open('flows'),
    }
  }
}

class House {
  readonly memory = new SharedMemory()
  /** All clocks go on together; what they say differs. */
  readonly clocks: VirtualClock[] = []
  readonly members: Presence[] = []
  #ids = 0

  async member(id?: string) {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1) + 60_000 * this.clocks.length)
    const door = new Door()
    const errors: unknown[] = []
    const partitions = await door.partitions(this.memory.backend())
    const start = () =>
      Presence.join({
        partitions,
        leaseMs,
        clock,
        onError: (error) => void errors.push(error),
        createId: () =>
          this.#ids++ === 0 || id === undefined ? `m${this.#ids}` : `${id}${this.#ids}`,
      })
    this.clocks.push(clock)
    return { clock, door, errors, partitions, start }
  }

  /** Time passes for all, or for some. */
  async pass(ms: number, clocks: readonly VirtualClock[] = this.clocks): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      for (const clock of clocks) await clock.advance(500)
    }
  }

  async keys(place: Place): Promise<string[]> {
    const storage = await this.memory.backend().open(place)
    const keys: string[] = []
    for await (const page of storage.scan({ keysOnly: true })) {
      for (const { key } of page) keys.push(decodeKey(key).join(' '))
    }
    return keys
  }

  async all(): Promise<string[][]> {
    return Promise.all(places.map((place) => this.keys(place)))
  }
}

const of = (...ids: string[]) => [
  [...ids.map((id) => `beat ${id}`), ...ids.map((id) => `member ${id}`)],
  ids.map((id) => `member ${id}`),
  ids.map((id) => `member ${id}`),
]

/** A write of something, as stores make it. */
const mark = (name: string): Operation => ({
  type: 'put',
  key: encodeKey('mark', name),
  value: new Uint8Array(1),
})

t.test('a member has a record wherever it writes, and takes all of them along', async (t) => {
  const house = new House()
  const [a, b] = [await house.member(), await house.member()]
  const [first, second] = [await a.start(), await b.start()]
  t.same(await house.all(), of('m1', 'm2'))
  for (const place of places) {
    await a.partitions[place].write([mark('x')], { require: [first.condition(place)] })
    await a.partitions[place].write([{ ...mark('x'), type: 'del' }])
  }
  await first.close()
  t.same(await house.all(), of('m2'))
  await second.close()
  t.same(await house.all(), of())
  t.equal(a.clock.pending + b.clock.pending, 0)
  t.same([...a.errors, ...b.errors], [])
})

t.test(
  'whoever beats stays, whatever his clock says; whoever does not is gone after a lease',
  async (t) => {
    const house = new House()
    const [a, b] = [await house.member(), await house.member()]
    const [first, second] = [await a.start(), await b.start()]
    await house.pass(leaseMs * 4)
    b.clock.jump(-1e12)
    await house.pass(leaseMs * 2)
    t.same(await house.all(), of('m1', 'm2'))
    const gone: string[] = []
    first.onGone(async (id) => void gone.push(id))
    await house.pass(leaseMs, [a.clock])
    t.same(
      await house.all(),
      of('m1', 'm2'),
      'it is looked at for a lease, from the look that saw it',
    )
    await house.pass(leaseMs / 2, [a.clock])
    t.same(await house.all(), of('m1'))
    t.same(gone, ['m2'])
    // It wakes, and what it held is refused everywhere.
    for (const place of places) {
      const require = [second.condition(place)]
      const error: unknown = await b.partitions[place]
        .write([mark(place)], { require })
        .catch((e) => e)
      t.match(second.refusal(error, require), { code: 'LK_STORAGE_UNAVAILABLE' })
    }
    await second.ready()
    t.not(second.id, 'm2')
    t.same(await house.all(), of('m1', second.id))
    t.equal(b.errors.length, 1)
    for (const place of places) {
      await b.partitions[place].write([], { require: [second.condition(place)] })
    }
    await Promise.all([first.close(), second.close()])
    t.same(await house.all(), of())
  },
)

t.test('a conflict on something else is none of a member', async (t) => {
  const house = new House()
  const a = await house.member()
  const presence = await a.start()
  const { cores } = a.partitions
  const require = [
    { type: 'equals', key: encodeKey('x'), value: new Uint8Array(1) } as const,
    presence.condition('cores'),
  ]
  const error: unknown = await cores.write([], { require }).catch((e) => e)
  t.equal(presence.refusal(error, require), undefined)
  t.equal(presence.refusal(new LorekeepError('LK_STORAGE_FAILED'), require), undefined)
  await presence.ready()
  t.equal(presence.id, 'm1')
  await presence.close()
})

t.test(
  'one that finds out by its beat ends what it had under way before it joins anew',
  async (t) => {
    const house = new House()
    const [a, b] = [await house.member(), await house.member()]
    const [first, second] = [await a.start(), await b.start()]
    let end = (): void => undefined
    second.onExpelled(() => new Promise<void>((resolve) => (end = resolve)))
    second.onExpelled(async () => {
      throw new Error('of a hook')
    })
    await first.expel('m2')
    await first.expel('m2')
    t.same(await house.all(), of('m1'))
    await house.pass(leaseMs)
    t.same(await house.all(), of('m1'), 'not before that has ended')
    t.equal(b.errors.filter((error) => error instanceof LorekeepError).length, 1)
    t.equal(b.errors.length, 2)
    end()
    await second.ready()
    t.same(await house.all(), of('m1', second.id))
    await house.pass(leaseMs * 2)
    t.same(await house.all(), of('m1', second.id))
    await Promise.all([first.close(), second.close()])
  },
)

t.test('whoever could not look has seen nothing, and takes nobody for dead', async (t) => {
  const house = new House()
  const [a, b] = [await house.member(), await house.member()]
  const [first, second] = [await a.start(), await b.start()]
  await house.pass(leaseMs)
  // The storage refuses both; one is back a little later.
  a.door.onWrite = b.door.onWrite = () => {
    throw new LorekeepError('LK_STORAGE_UNAVAILABLE')
  }
  await house.pass(leaseMs * 3, [b.clock])
  a.door.onWrite = () => undefined
  // As when a process stood still: all of that time passes at once.
  a.clock.after(0, () => undefined)
  await a.clock.advance(0)
  t.same((await house.all())[1], ['member m1', 'member m2'])
  await house.pass(leaseMs / 2, [a.clock])
  b.door.onWrite = () => undefined
  await house.pass(leaseMs * 2)
  t.same(await house.all(), of('m1', 'm2'))
  t.ok(b.errors.length > 3)
  await Promise.all([first.close(), second.close()])
})

t.test('everybody sees the beats of all, with what they read', async (t) => {
  const house = new House()
  const [a, b] = [await house.member(), await house.member()]
  const [first, second] = [await a.start(), await b.start()]
  let seen: readonly SeenMember[] = []
  const stop = first.onLook((members) => (seen = members))
  second.reads = async () => ['g1', 'g2']
  await house.pass(leaseMs / 2)
  const before = new Map(seen.map((member) => [member.id, member]))
  t.same([...before.keys()], ['m1', 'm2'])
  t.same(before.get('m2')?.reads, new Set(['g1', 'g2']))
  t.same(before.get('m1')?.reads, new Set())
  second.reads = async () => {
    throw new LorekeepError('LK_STORAGE_CORRUPT')
  }
  await house.pass(leaseMs / 2)
  const after = seen.find(({ id }) => id === 'm2')
  t.ok((after?.count ?? 0) >= (before.get('m2')?.count ?? 0) + 2)
  t.equal(after?.reads, undefined, 'it does not know')
  stop()
  await first.expel('m2')
  await Promise.all([first.close(), second.close()])
})

t.test(
  'whoever ends anywhere while it joins, or expels, leaves nothing that others do not take',
  async (t) => {
    /** Ends at the n-th write of its own: it writes nothing from there on. */
    const endAt = (door: Door, n: number) => {
      let writes = 0
      door.onWrite = () => {
        if (writes++ >= n) throw new LorekeepError('LK_STORAGE_FAILED')
      }
    }
    for (let n = 0; n < 12; n++) {
      const house = new House()
      const [a, b, c] = [await house.member(), await house.member(), await house.member()]
      const first = await a.start()
      endAt(b.door, n)
      const second = await b.start().catch(() => undefined)
      const third = await c.start()
      await second?.expel(third.id).catch(() => undefined)
      await house.pass(leaseMs * 2, [a.clock, c.clock])
      await third.ready()
      t.same(await house.all(), of('m1', third.id), `ended at write ${n}`)
      // A later one clears what was in other partitions alone.
      await Promise.all([first.close(), third.close()])
      t.same(await house.all(), of(), `ended at write ${n}`)
    }
  },
)

t.test('one that is expelled while it joins begins anew', async (t) => {
  for (const at of ['objects', 'flows', 'cores'] as const) {
    for (const isDone of [true, false]) {
      const house = new House()
      const [a, b] = [await house.member(), await house.member()]
      const first = await a.start()
      let cleaned = (): void => undefined
      if (!isDone) {
        first.onGone(async (id) => {
          if (id === 'm2') await new Promise<void>((resolve) => (cleaned = resolve))
        })
      }
      let writes = 0
      b.door.onWrite = async (place) => {
        if (place === at && writes++ === (at === 'cores' ? 1 : 0)) await first.expel('m2')
      }
      const second = await b.start()
      t.equal(second.id, 'm3')
      cleaned()
      await house.pass(leaseMs * 2)
      t.same(await house.all(), of('m1', 'm3'), `${at}, ${isDone}`)
      await Promise.all([first.close(), second.close()])
    }
  }
})

t.test('what one left is cleaned up until that has worked', async (t) => {
  const house = new House()
  const [a, b, c] = [await house.member(), await house.member(), await house.member()]
  const [first, second, third] = [await a.start(), await b.start(), await c.start()]
  let [isBroken, tries] = [true, 0]
  for (const presence of [first, third]) {
    presence.onGone(async () => {
      tries++
      if (isBroken) throw new LorekeepError('LK_STORAGE_FAILED')
    })
  }
  await Promise.all([first.expel(second.id), third.expel(second.id)])
  await house.pass(leaseMs * 2, [a.clock, c.clock])
  t.ok((await house.keys('cores')).includes('beat m2'))
  t.ok(tries >= 4)
  isBroken = false
  await house.pass(leaseMs, [a.clock, c.clock])
  t.same(await house.all(), of('m1', 'm3'))
  await second.close()
  await Promise.all([first.close(), third.close()])
})
