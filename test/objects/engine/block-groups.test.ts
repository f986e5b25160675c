// Groups of blocks, against the list of blocks that they stand for.

import t from 'tap'
import { decodeRecord, encodeRecord } from '../../../src/record.js'
import {
  groupsIn,
  placesOf,
  recordOfBlocks,
  regroup,
  withGroups,
  type GroupedBlocks,
} from '../../../src/objects/engine/block-groups.js'
import { firstRow } from '../../../src/objects/engine/lanes.js'
import type { Owner } from '../../../src/objects/engine/owners.js'
import type { BlocksRecord } from '../../../src/objects/engine/records.js'
import { refOf } from '../../../src/objects/engine/ref.js'
import type { BlockPlace } from '../../../src/objects/engine/state.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const seed = pickSeed()
const table = 7

function randomPlace(random: Random, row: number): BlockPlace {
  const owner = (): Owner => [`c${random.below(3)}`, `u${random.below(3)}`]
  const owners = Array.from({ length: 1 + random.below(3) }, owner)
  return {
    first: refOf(row, table),
    page: random.below(1e6) + random.below(3) * 2 ** 48,
    rows: 1 + random.below(128),
    bytes: random.below(131072),
    ...(random.chance(0.8) && { owners: random.chance(0.7) ? [owners[0]!] : owners }),
  }
}

/** What a reader of all records has. */
function stored(records: ReadonlyMap<number, Uint8Array>): GroupedBlocks {
  const places = [...records].map(([first, bytes]) => {
    return [first, placesOf(first, decodeRecord<BlocksRecord>(bytes))!] as const
  })
  return withGroups({ blocks: [], groups: [] }, new Map(places))
}

t.test(`records of groups are the blocks, seed ${seed}`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 20; round++) {
    const records = new Map<number, Uint8Array>()
    let known: GroupedBlocks = { blocks: [], groups: [] }
    let next = firstRow(random.below(3))
    for (let step = 0; step < 40; step++) {
      const { blocks, kept } = changed(known.blocks)
      const { groups, changes } = regroup(known, blocks, kept)
      for (const [first, places] of changes) {
        if (places === null) t.ok(records.delete(first), 'one that was there')
        else records.set(first, encodeRecord(recordOfBlocks(places)))
      }
      const read = stored(records)
      t.strictSame(read.blocks, blocks, `round ${round}, step ${step}`)
      t.strictSame(read.groups, groups)
      t.strictSame(withGroups(known, new Map(changes)), { blocks, groups }, 'as others follow')
      known = { blocks, groups }
    }

    function changed(before: readonly BlockPlace[]) {
      const added = random.chance(0.3) ? 0 : random.below(random.chance(0.2) ? 200 : 4)
      const share = random.chance(0.5) ? 0 : random.chance(0.5) ? 0.005 : 0.3
      let kept = -1
      const blocks = before.flatMap((place, n) => {
        if (!random.chance(share)) return [place]
        if (kept < 0) kept = n
        if (random.chance(0.5)) return []
        // Rows are gone from it: its first one perhaps.
        const { owners: _, ...rest } = place
        const end = before[n + 1]?.first ?? refOf(next, table)
        const first = random.chance(0.5) ? place.first : place.first + refOf(1, 0)
        return [{ ...rest, page: random.below(1e6), first: first < end ? first : place.first }]
      })
      if (kept < 0) kept = before.length
      for (let n = 0; n < added; n++) {
        blocks.push(randomPlace(random, next))
        next += 1 + random.below(200)
      }
      return { blocks, kept }
    }
  }
})

t.test('of a long table only the groups are written in which something changed', async (t) => {
  const random = new Random(seed)
  const places = Array.from({ length: 6400 }, (_, n) => randomPlace(random, 1 + 100 * n))
  const none = { blocks: [], groups: [] }
  const { groups, changes } = regroup(none, places, 0)
  t.equal(changes.length, 100)
  t.ok(changes.every(([, some]) => some?.length === 64))
  const known = { blocks: places, groups }
  const last = randomPlace(random, 640_100)

  const appended = regroup(known, [...places, last], places.length)
  t.strictSame(appended.changes, [[last.first, [last]]])
  const longer = { blocks: [...places, last], groups: appended.groups }
  const another = randomPlace(random, 640_200)
  const twice = regroup(longer, [...longer.blocks, another], longer.blocks.length)
  t.strictSame(twice.changes, [[last.first, [last, another]]])

  const other = { ...places[64 * 30 + 5]!, page: 5 }
  const replaced = regroup(known, places.with(64 * 30 + 5, other), 64 * 30 + 5)
  t.strictSame(
    replaced.changes.map(([first, some]) => [first, some?.length]),
    [[groups[30], 64]],
  )
  const without = places.filter((_, n) => n !== 0)
  const gone = regroup(known, without, 0)
  t.strictSame(
    gone.changes.map(([first, some]) => [first, some?.length]),
    [
      [places[1]!.first, 63],
      [groups[0], undefined],
    ],
  )
  t.equal(gone.groups.length, 100)
})

t.test('groups that have become small join the one in front', async (t) => {
  const random = new Random(seed)
  let known: GroupedBlocks = { blocks: [], groups: [] }
  const all = Array.from({ length: 640 }, (_, n) => randomPlace(random, 1 + 100 * n))
  known = { blocks: all, groups: regroup(known, all, 0).groups }
  while (known.blocks.length > 32) {
    const n = random.below(known.blocks.length)
    const blocks = known.blocks.toSpliced(n, 1)
    known = { blocks, groups: regroup(known, blocks, n).groups }
  }
  t.ok(known.groups.length <= 6, `${known.groups.length} groups of 32 blocks`)
})

t.test('lanes have groups of their own', async (t) => {
  const groups = [0, 1, 1, 3].map((lane, n) => refOf(firstRow(lane) + n, table))
  t.strictSame(
    [0, 1, 2, 3, 4].map((lane) => groupsIn({ groups }, lane)),
    [
      [0, 1],
      [1, 3],
      [3, 3],
      [3, 4],
      [4, 4],
    ],
  )
})
