// What a watcher has not read, against the rule as it is written in the docs, over an array.

import fc from 'fast-check'
import t from 'tap'
import { EventHub } from '../../src/flow/events.js'
import type { JobEvent } from '../../src/flow/types.js'
import { Unread } from '../../src/flow/unread.js'
import { pickSeed } from '../fixtures/random.js'
import { settled } from './virtual-clock.js'

type Kind = 'queued' | 'progress' | 'step'

let number = 0

function eventOf(type: Kind, job: string): JobEvent {
  return {
    ...{ type, job, flow: 'f', user: 'u', document: 'd', collection: 'c', at: '' },
    ...{ state: 'active', attempts: 1, step: 'a', done: ++number, total: 100 },
  } as JobEvent
}

/** The rule, step by step. */
class Plain {
  unread: JobEvent[] = []
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  push(event: JobEvent): void {
    if (event.type === 'progress') {
      // The newest progress of a job stands for those before it.
      const last = this.unread.findLastIndex(({ job }) => job === event.job)
      if (last >= 0 && this.unread[last]?.type === 'progress') this.unread.splice(last, 1)
    }
    this.unread.push(event)
    if (this.unread.length > this.#most) {
      const progress = this.unread.findIndex(({ type }) => type === 'progress')
      this.unread.splice(Math.max(progress, 0), 1)
    }
  }
}

type Act =
  | { readonly is: 'push'; readonly type: Kind; readonly job: string }
  | { readonly is: 'shift'; readonly times: number }
  | { readonly is: 'clear' }

const push = fc.record({
  is: fc.constant('push' as const),
  type: fc.constantFrom<Kind>('queued', 'progress', 'progress', 'step'),
  job: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
})
const shift = fc.record({
  is: fc.constant('shift' as const),
  times: fc.constantFrom(1, 2, 9, 200),
})
const clear = fc.constant({ is: 'clear' as const })
const acts = fc.array<Act>(
  fc.oneof(
    { arbitrary: push, weight: 60 },
    { arbitrary: shift, weight: 6 },
    { arbitrary: clear, weight: 1 },
  ),
  { maxLength: 400, size: 'max' },
)

const seed = pickSeed()

t.test(`what is left, and its order, is what the rule says (seed ${seed})`, async () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 3, 7, 16, 90), acts, (most, acts) => {
      const plain = new Plain(most)
      const unread = new Unread(most)
      for (const act of acts) {
        if (act.is === 'push') {
          const event = eventOf(act.type, act.job)
          plain.push(event)
          unread.push(event)
        } else if (act.is === 'shift') {
          for (let n = 0; n < act.times; n++) {
            if (unread.shift() !== plain.unread.shift()) return false
          }
        } else {
          plain.unread = []
          unread.clear()
        }
        if (unread.length !== plain.unread.length) return false
      }
      while (plain.unread.length > 0) if (unread.shift() !== plain.unread.shift()) return false
      return unread.shift() === undefined && unread.length === 0
    }),
    { seed, numRuns: 1000 },
  )
})

t.test('as many as may be unread are, and one more is the first that is lost', async (t) => {
  for (const type of ['queued', 'progress'] as const) {
    const most = 10_000
    const unread = new Unread(most)
    const events = Array.from({ length: most + 1 }, (_, n) => eventOf(type, `j${n}`))
    for (const event of events.slice(0, most)) unread.push(event)
    t.equal(unread.length, most)
    unread.push(events[most] as JobEvent)
    t.equal(unread.length, most)
    const isWhole = events.slice(1).every((event) => unread.shift() === event)
    t.ok(isWhole)
    t.equal(unread.shift(), undefined)
  }
})

t.test('an event takes as much work whatever was not read', async (t) => {
  let looks = 0
  const counted = (type: Kind, job: string) => {
    const event = eventOf(type, job)
    const of = (name: 'type' | 'job') => {
      const value = event[name]
      Object.defineProperty(event, name, { get: () => (looks++, value) })
    }
    of('type')
    of('job')
    return event
  }
  const hub = new EventHub()
  const watchers = Array.from({ length: 3 }, () => hub.watch({}, async () => []))
  await settled()
  const costOf = (type: Kind, jobOf: (n: number) => string) => {
    const events = Array.from({ length: 100 }, (_, n) => counted(type, jobOf(n)))
    looks = 0
    for (const event of events) hub.emit(event)
    return looks / events.length / watchers.length
  }
  const few = 12
  t.ok(costOf('queued', (n) => `a${n}`) < few)
  for (let n = 0; n < 10_000; n++) hub.emit(counted('queued', `b${n}`))
  t.ok(costOf('queued', (n) => `c${n}`) < few, 'the oldest is lost')
  t.ok(costOf('progress', (n) => `d${n}`) < few, 'progress is lost')
  t.ok(costOf('progress', () => 'e') < few, 'progress that stands for progress')
  t.ok(costOf('progress', (n) => `b${9000 + n}`) < few, 'progress behind what is there of its job')
  hub.close()
})
