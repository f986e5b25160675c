// What is merged when: by property, with a simulation of a library that grows.

import fc from 'fast-check'
import t from 'tap'
import type { PartRecord } from '../../../src/graph/index/layout.js'
import {
  groupsOf,
  merged,
  mostRows,
  rowsOf,
  type Candidate,
} from '../../../src/knowledge/library/policy.js'
import { pickSeed } from '../../fixtures/random.js'

const seed = pickSeed() | 0
const candidate = (rows: number, dead = 0, isUnlinked = false): Candidate => ({
  rows,
  dead,
  isUnlinked,
})
const most = 2 ** 23

/** A library that so many parts of one size came to. */
function grown(size: number, flushes: number, isIdle: boolean) {
  let parts: Candidate[] = []
  let written = 0
  let largest = 0
  const sum = (those: readonly Candidate[]) => those.reduce((rows, part) => rows + part.rows, 0)
  for (let n = 0; n < flushes; n++) {
    parts.push(candidate(size))
    for (let chosen = merged(parts, most, isIdle); chosen; chosen = merged(parts, most, isIdle)) {
      const rows = sum(chosen)
      written += rows
      parts = [...parts.filter((part) => !chosen?.includes(part)), candidate(rows)]
    }
    largest = Math.max(largest, parts.length)
  }
  return { total: sum(parts), written, largest }
}

t.test('parts stay few, and each row is written a few times', async (t) => {
  for (const size of [100, 6400, 50_000]) {
    const flushes = Math.min(5000, Math.floor(20_000_000 / size))
    const { total, written, largest } = grown(size, flushes, false)
    t.equal(total, flushes * size)
    // Seven of each level that is begun, and those that are as large as they may be.
    const levels = Math.max(1, Math.ceil(Math.log(total / 16_384) / Math.log(8)) + 1)
    const full = Math.ceil(total / (most / 2))
    t.ok(largest <= 8 * levels + full, `${size}: ${largest} parts at most`)
    t.ok(written / total <= levels + 2, `${size}: each row ${(written / total).toFixed(1)} times`)
  }
})

t.test('with a pause after each import parts are fewer, and rows written more often', async (t) => {
  for (const [size, imports] of [
    [10, 20_000],
    [100, 5000],
    [4400, 2000],
    [50_000, 160],
  ] as const) {
    const { total, written, largest } = grown(size, imports, true)
    t.ok(largest <= 5, `${size}: ${largest} parts at most`)
    const most = 6 + 4 * (Math.log(imports) / Math.log(8))
    t.ok(written / total <= most, `${size}: each row ${(written / total).toFixed(1)} times`)
  }
})

t.test(`what is chosen fits, and comes to an end (seed ${seed})`, async (t) => {
  const someCandidates = fc.array(
    fc.tuple(fc.integer({ min: 1, max: most }), fc.double({ min: 0, max: 1, noNaN: true })),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(someCandidates, fc.boolean(), (all, isIdle) => {
      let parts = all.map(([rows, dead]) => candidate(rows, dead))
      for (let steps = 0; ; steps++) {
        if (steps > 200) throw new Error('it does not come to an end')
        const chosen = merged(parts, most, isIdle)
        if (chosen === undefined) return
        const rows = chosen.reduce((sum, part) => sum + part.rows, 0)
        if (chosen.length > 1 && rows > most) throw new Error(`${rows} rows`)
        if (chosen.length === 1 && chosen[0]!.dead <= 0.2) throw new Error('for nothing')
        parts = [...parts.filter((part) => !chosen.includes(part)), candidate(rows)]
      }
    }),
    { seed, numRuns: 300 },
  )
  t.pass()
})

t.test('what is idle is merged but for what would be written again for little', async (t) => {
  t.equal(merged([candidate(1000)], most, true), undefined)
  t.equal(merged([candidate(1_000_000), candidate(1000)], most, true), undefined)
  t.equal(merged([candidate(8000), candidate(1000)], most, true)?.length, 2)
  t.equal(merged([candidate(8001), candidate(1000)], most, true), undefined)
  t.equal(merged([candidate(3000), candidate(1000)], most, false), undefined)
  t.strictSame(merged([candidate(1000, 0.5), candidate(5)], most, false), [candidate(1000, 0.5)])
  t.strictSame(merged([candidate(1000, 0, true)], most, false), [candidate(1000, 0, true)])
})

t.test('all is put into as few groups as it fits', async (t) => {
  t.strictSame(groupsOf([candidate(5)], 10), [])
  t.strictSame(groupsOf([candidate(5, 0.1)], 10), [[candidate(5, 0.1)]])
  t.strictSame(
    groupsOf([candidate(5), candidate(6), candidate(4), candidate(5)], 10).map((group) =>
      group.map(({ rows }) => rows),
    ),
    [
      [6, 4],
      [5, 5],
    ],
  )
})

const part = (those: Partial<PartRecord>): PartRecord => ({
  ...{ id: 'id', number: 0, terms: 10, termWords: 40, sources: 1, places: 1, triples: 0, lists: 0 },
  ...{ placeRows: 0, hasGraphs: false },
  ...those,
})

t.test('what many cores say counts for each of them', async (t) => {
  t.equal(rowsOf(part({ triples: 1000 })), 1000, 'one place')
  t.equal(rowsOf(part({ triples: 1000, placeRows: 1500, places: 2 })), 1500)
  // A million triples in five cores: two such parts are more than a merge may hold.
  const said = part({ triples: 1e6, placeRows: 5e6, places: 5 })
  const parts = [said, said].map((record) => candidate(rowsOf(record)))
  t.equal(merged(parts, mostRows(said), true), undefined)
})

t.test(
  'what is long counts by its bytes, which no part has more of than it can tell',
  async (t) => {
    const mib = 2 ** 20
    const lengths = { title: 0, heading: 0, text: 0 }
    const passages = { count: 100, words: 100, wordBytes: 1000, listBytes: 100, lengths }
    for (const kind of [
      { triples: 100 },
      { vectors: { dimensions: 3, count: 100, links: 0 } },
      { passages },
    ]) {
      // Of few rows and 64 MiB of terms each, as who writes long literals has them built.
      const built = part({ ...kind, termWords: (64 * mib) / 4 })
      const most = mostRows(built)
      let parts = Array.from({ length: 80 }, () => ({ ...candidate(rowsOf(built)), record: built }))
      let written = 0
      const join = (those: readonly { record: PartRecord }[]) => {
        const termWords = those.reduce((words, { record }) => words + record.termWords, 0)
        written += 4 * termWords
        t.ok(4 * termWords <= 2048 * mib, `${termWords} words`)
        const record = part({ ...kind, termWords })
        return { ...candidate(rowsOf(record)), record }
      }
      for (let chosen; (chosen = merged(parts, most, true)) !== undefined;) {
        const those = chosen
        parts = [...parts.filter((each) => !those.includes(each)), join(those)]
      }
      t.ok(parts.length <= 10, `${parts.length} parts`)
      t.ok(written <= 2 * 80 * 64 * mib, 'each byte is written twice at most')
      for (const group of groupsOf(parts, most)) join(group)
    }
  },
)
