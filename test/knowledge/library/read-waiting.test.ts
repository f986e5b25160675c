// Segments that wait, read in their order and some of them ahead.

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Waiting } from '../../../src/knowledge/library/library.js'
import { mostAhead, SegmentsAhead } from '../../../src/knowledge/library/read-waiting.js'

const of = (segment: number, bytes: number, content?: Uint8Array): Waiting => ({
  user: 'u',
  core: 'c',
  generation: 'g',
  segment,
  bytes,
  isSoon: true,
  content,
})

/** Counts how many are read at once, each in two steps. */
class Reading {
  most = 0
  readonly begun: number[] = []
  now = 0

  async *read({ segment, content }: Waiting): AsyncGenerator<Uint8Array> {
    if (content !== undefined) {
      yield content
      return
    }
    this.begun.push(segment)
    this.most = Math.max(this.most, ++this.now)
    try {
      await sleep(1)
      if (segment === 30) throw new Error('the thirtieth')
      yield Uint8Array.of(segment)
      await sleep(1)
      yield Uint8Array.of(segment, segment)
    } finally {
      this.now--
    }
  }
}

async function bytesOf(slices: AsyncIterable<Uint8Array>): Promise<number[]> {
  const all: number[] = []
  for await (const slice of slices) all.push(...slice)
  return all
}

t.test('small ones are read some at a time, and come in their order', async (t) => {
  const reading = new Reading()
  const segments = Array.from({ length: 30 }, (_, n) => of(n, 100))
  const ahead = new SegmentsAhead(segments, (waiting) => reading.read(waiting))
  for (const waiting of segments) {
    const { segment } = waiting
    t.strictSame(await bytesOf(ahead.read(waiting)), [segment, segment, segment])
  }
  t.ok(reading.most > 8 && reading.most <= mostAhead.segments + 1, `${reading.most} at once`)
  t.strictSame(
    reading.begun,
    segments.map(({ segment }) => segment),
  )
})

t.test('large ones are read when it is their turn, and what is there is not read', async (t) => {
  const reading = new Reading()
  const segments = [
    of(1, 2 ** 20),
    of(2, 2 ** 20),
    of(3, 100, Uint8Array.of(9)),
    of(4, 100),
    of(5, 2 ** 20),
  ]
  const ahead = new SegmentsAhead(segments, (waiting) => reading.read(waiting))
  t.strictSame(await bytesOf(ahead.read(segments[0] as Waiting)), [1, 1, 1])
  t.strictSame(reading.begun.toSorted(), [1, 4])
  t.strictSame(await bytesOf(ahead.read(segments[1] as Waiting)), [2, 2, 2])
  t.strictSame(await bytesOf(ahead.read(segments[2] as Waiting)), [9])
  t.strictSame(await bytesOf(ahead.read(segments[3] as Waiting)), [4, 4, 4])
  t.strictSame(await bytesOf(ahead.read(segments[4] as Waiting)), [5, 5, 5])
  t.strictSame(reading.begun.toSorted(), [1, 2, 4, 5])
})

t.test('one that cannot be read fails when it is its turn, and nobody else', async (t) => {
  const reading = new Reading()
  const segments = Array.from({ length: 10 }, (_, n) => of(25 + n, 100))
  const ahead = new SegmentsAhead(segments, (waiting) => reading.read(waiting))
  for (const waiting of segments) {
    const bytes = bytesOf(ahead.read(waiting))
    if (waiting.segment === 30) await t.rejects(bytes, { message: 'the thirtieth' })
    else t.equal((await bytes).length, 3)
    await sleep(3)
  }
})

t.test('when it has ended nothing is read any more', async (t) => {
  const reading = new Reading()
  const segments = Array.from({ length: 40 }, (_, n) => of(n, 100))
  const ahead = new SegmentsAhead(segments, (waiting) => reading.read(waiting))
  await bytesOf(ahead.read(segments[0] as Waiting))
  t.ok(reading.now > 0)
  await ahead.end()
  t.equal(reading.now, 0)
  t.ok(reading.begun.length < 20)
})
