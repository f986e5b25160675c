// How the blocks of a table change, against a list of its rows.

import t from 'tap'
import { planBlocks } from '../../../src/objects/engine/block-plan.js'
import { Block, blockRows, placeOfBlock, type Row } from '../../../src/objects/engine/block.js'
import type { Pages } from '../../../src/objects/engine/pages.js'
import { refOf } from '../../../src/objects/engine/ref.js'
import { RowShapes } from '../../../src/objects/engine/row-shapes.js'
import type { BlockPlace, Table } from '../../../src/objects/engine/state.js'
import { compileSchema } from '../../../src/objects/schema/schema.js'
import { parseSchemaDefinition } from '../../../src/objects/schema/definition.js'
import { longest } from '../../../src/turns.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { countTurns } from '../../fixtures/turns.js'

const schema = compileSchema(
  parseSchemaDefinition({
    name: 's',
    fields: { id: { type: 'integer', required: true }, text: { type: 'text' } },
  }),
)

const seed = pickSeed()

t.test(
  `blocks are the rows that there are, and others stay as they lie (seed ${seed})`,
  async (t) => {
    const random = new Random(seed)
    const written = new Map<number, Block>()
    const pages = {
      loadMany: async (numbers: readonly number[]) => numbers.map((number) => written.get(number)),
    } as unknown as Pages<Block>
    let blocks: readonly BlockPlace[] = []
    let rows: Row[] = []
    let next = 1
    for (let change = 0; change < 60; change++) {
      const added = Array.from({ length: random.chance(0.2) ? 0 : random.below(200) }, () =>
        rowOf(next++),
      )
      const removed = random.chance(0.5) ? [] : rows.filter(() => random.chance(0.005))
      const table: Table = { number: 0, schema, blocks, groups: [], rows: rows.length, indexes: [] }
      const plan = await planBlocks(table, added, removed, pages)
      const before = blocks
      const behind = plan.blocks.map((block): BlockPlace => {
        if ('page' in block) return block
        written.set(written.size, new Block(block.bytes, new RowShapes()))
        return placeOfBlock(block, written.size - 1)
      })
      blocks = [...before.slice(0, plan.kept), ...behind]
      rows = [...rows.filter((row) => !removed.includes(row)), ...added]
      const there = blocks.flatMap(({ page }) => [...(written.get(page) as Block).refs])
      const isEach = there.length === rows.length && rows.every(({ ref }, n) => ref === there[n])
      t.ok(isEach, 'each row once, in order')
      const gone = before.filter((place) => !blocks.includes(place))
      const replaced = new Set(plan.replaced)
      t.equal(replaced.size, gone.length)
      t.ok(gone.every((place) => replaced.has(place)))
      if (removed.length === 0 && added.length === 0) t.equal(plan.kept, before.length)
    }
  },
)

t.test('rows that fill a block by their bytes are moved as seldom as others', async (t) => {
  const random = new Random(seed)
  const written = new Map<number, Block>()
  const pages = {
    loadMany: async (numbers: readonly number[]) => numbers.map((number) => written.get(number)),
  } as unknown as Pages<Block>
  for (const [length, count] of [
    [2500, 100],
    [5000, 32],
    [70_000, 3],
  ] as const) {
    let blocks: readonly BlockPlace[] = []
    let next = 1
    let moved = 0
    for (let change = 0; change < 40; change++) {
      const added = Array.from({ length: count }, () => {
        const row = rowOf(next++)
        const text = Array.from({ length: length / 5 }, () => random.below(99_999)).join('-')
        return { ...row, object: { ...row.object, text } }
      })
      const table: Table = { number: 0, schema, blocks, groups: [], rows: next - 1, indexes: [] }
      const plan = await planBlocks(table, added, [], pages)
      moved += plan.replaced.reduce((sum, { rows }) => sum + rows, 0)
      const behind = plan.blocks.map((block): BlockPlace => {
        if ('page' in block) return block
        written.set(written.size, new Block(block.bytes, new RowShapes()))
        return placeOfBlock(block, written.size - 1)
      })
      blocks = [...blocks.slice(0, plan.kept), ...behind]
    }
    t.ok(moved <= 7 * 40 * count, `${moved} of ${40 * count} rows of ${length} characters`)
  }
})

t.test('many rows leave the event loop its turns', async (t) => {
  const before = longest.ms
  longest.ms = -1
  t.teardown(() => (longest.ms = before))
  const none = { loadMany: async () => [] } as unknown as Pages<Block>
  const table: Table = { number: 0, schema, blocks: [], groups: [], rows: 0, indexes: [] }
  const added = Array.from({ length: 10 * blockRows }, (_, n) => rowOf(n + 1))
  const planning = countTurns()
  const { blocks } = await planBlocks(table, added, [], none)
  const turns = planning()
  t.equal(blocks.length, 10)
  t.ok(turns >= 10, `${turns} turns in 10 blocks`)
})

function rowOf(n: number): Row {
  const [created_at, updated_at] = ['then', 'then']
  const object = { id: n }
  return {
    ref: refOf(n, 0),
    id: n,
    object,
    collection: 'c',
    user: 'u',
    created_at,
    updated_at,
    metadata: undefined,
  }
}
