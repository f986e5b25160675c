// Small segments that wait, as questions see them while more come, go and are joined.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { LorekeepError } from '../../../src/errors.js'
import { nameOfWaiting, type Waiting } from '../../../src/knowledge/library/library.js'
import { MemoryParts, mostHeld } from '../../../src/knowledge/library/memory-parts.js'
import { createId } from '../../../src/knowledge/records.js'
import { entity, messageOf } from '../../graph/asked.js'

/** Segments of a core each, and parts in memory of those that wait. */
class Waitings {
  readonly waiting = new Map<string, Waiting>()
  readonly memory = new MemoryParts(
    (waiting) => this.#read(waiting),
    () => () => undefined,
    Date.now,
  )
  /** Called before a segment is read. */
  beforeRead: (waiting: Waiting) => Promise<void> = () => Promise.resolve()

  come(core: string): Waiting {
    const own = { user: 'u', generation: createId(Date.now()), segment: 0, core }
    const waiting = { ...own, bytes: contentOf(core).length, isSoon: true }
    this.waiting.set(nameOfWaiting(waiting), waiting)
    return waiting
  }

  go(waiting: Waiting): void {
    this.waiting.delete(nameOfWaiting(waiting))
    this.memory.prune(this.waiting)
  }

  take(...those: Waiting[]): Promise<boolean> {
    return this.memory.take(() => those, this.waiting)
  }

  async *#read(waiting: Waiting): AsyncGenerator<Uint8Array> {
    await this.beforeRead(waiting)
    yield contentOf(waiting.core)
  }
}

function contentOf(core: string): Uint8Array {
  const name = entity(core)
  return encodeMessage(messageOf([{ s: name, p: entity('p'), o: name }]))
}

/** Something that is waited for until it is let through. */
function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, opened }
}

async function turns(): Promise<void> {
  for (let n = 0; n < 50; n++) await turn()
}

t.test('what goes while others are taken in does not come back', async (t) => {
  const all = new Waitings()
  const [old, next] = [all.come('old'), all.come('next')]
  await all.take(old)
  const { open, opened } = gate()
  all.beforeRead = () => opened
  const taking = all.take(next)
  await turns()
  all.go(old)
  t.equal(all.memory.parts.length, 0)
  open()
  await taking
  t.same(
    [old, next].map((waiting) => all.memory.has(waiting)),
    [false, true],
  )
  t.equal(all.memory.parts.length, 1)
})

t.test('what goes while it is taken in leaves nothing', async (t) => {
  const all = new Waitings()
  const [gone, left] = [all.come('gone'), all.come('left')]
  const { open, opened } = gate()
  all.beforeRead = () => opened
  const taking = [all.take(gone), all.take(left)]
  await turns()
  all.go(gone)
  open()
  await Promise.all(taking)
  t.same(
    [gone, left].map((waiting) => all.memory.has(waiting)),
    [false, true],
  )
  t.equal(all.memory.parts.length, 1)
})

t.test('what became one while more was taken in stays one', async (t) => {
  const all = new Waitings()
  const [joins, takes] = [gate(), gate()]
  const early = Array.from({ length: 7 }, (_, n) => all.come(`early ${n}`))
  const last = all.come('last')
  for (const each of early.slice(0, 6)) await all.take(each)
  // The seventh is one too many: all are read again, to become one.
  let reads = 0
  all.beforeRead = async (waiting) => {
    if (waiting === last) await takes.opened
    else if (reads++ > 0) await joins.opened
  }
  await all.take(early[6] as Waiting)
  const taking = all.take(last)
  await turns()
  t.equal(all.memory.parts.length, 7)
  joins.open()
  await turns()
  t.equal(all.memory.parts.length, 1)
  takes.open()
  await taking
  t.equal(all.memory.parts.length, 2)
})

t.test('a segment that cannot be read any more keeps others from nothing', async (t) => {
  const all = new Waitings()
  const damaged = [all.come('damaged'), all.come('damaged, too')]
  for (const each of damaged) await all.take(each)
  all.beforeRead = async (waiting) => {
    if (damaged.includes(waiting)) throw new LorekeepError('LK_STORAGE_CORRUPT')
  }
  for (let n = 0; n < 30; n++) {
    await all.take(all.come(`${n}`))
    await turns()
  }
  t.ok(all.memory.parts.length <= 2 + 6, `${all.memory.parts.length} parts`)
  t.same(
    damaged.map((waiting) => all.memory.has(waiting)),
    [true, true],
  )
  const unread = all.come('unread')
  damaged.push(unread)
  await t.rejects(all.take(unread), { code: 'LK_STORAGE_CORRUPT' })
})

t.test('no more is held than may be, also where many ask at once', async (t) => {
  const usual = { ...mostHeld }
  t.teardown(() => Object.assign(mostHeld, usual))
  for (const most of ['bytes', 'segments'] as const) {
    const all = new Waitings()
    const those = ['a', 'b', 'c'].map((core) => all.come(core))
    const [a, b, c] = those as [Waiting, Waiting, Waiting]
    Object.assign(mostHeld, usual, { [most]: most === 'bytes' ? a.bytes + b.bytes : 2 })
    t.same(await Promise.all([all.take(a), all.take(b), all.take(c)]), [true, true, false])
    t.same(await all.take(a, b), true, 'what is there already takes nothing')
    t.same(
      those.map((waiting) => all.memory.has(waiting)),
      [true, true, false],
    )
    all.go(a)
    t.same(await all.take(c), true)
  }
})
