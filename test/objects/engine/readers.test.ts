import t from 'tap'
import { decodeKey } from '../../../src/keys.js'
import { decodeRecord } from '../../../src/record.js'
import { Readers, type Retirement } from '../../../src/objects/engine/readers.js'
import type { State } from '../../../src/objects/engine/state.js'

/** All that Readers know of a state. */
const stateOf = (version: number, nextPage: number) =>
  ({ heads: { main: { record: { version, nextPage } }, others: new Map() } }) as unknown as State

/** What is written, as `+retired 5: 1,2` or `-page 1`. */
const textOf = ({ operations }: Retirement): string[] =>
  operations.map((operation) => {
    const key = decodeKey(operation.key).join(' ')
    if (operation.type === 'del') return `-${key}`
    return `+${key}: ${decodeRecord<{ pages: number[] }>(operation.value).pages.join()}`
  })

function commit(
  readers: Readers,
  version: number,
  replaced: readonly number[],
  member?: string,
): string[] {
  const retirement = readers.plan(version, replaced, member)
  readers.adopt(retirement)
  return textOf(retirement)
}

t.test('without readers a commit deletes what it replaces', async (t) => {
  t.strictSame(commit(new Readers(), 2, [1, 2]), ['-page 1', '-page 2'])
  t.strictSame(commit(new Readers(), 2, []), [])
})

t.test('what a reader has is kept until it ends, and what came after it is not', async (t) => {
  const readers = new Readers()
  const reading = readers.begin(stateOf(4, 10))
  reading.of(stateOf(4, 10))
  t.strictSame(commit(readers, 5, [3, 9, 10, 11]), ['+retired 5: 3,9', '-page 10', '-page 11'])
  t.strictSame(commit(readers, 6, [12]), ['-page 12'])
  reading.end()
  reading.end()
  t.strictSame(commit(readers, 7, []), ['-retired 5', '-page 3', '-page 9'])
  t.strictSame(commit(readers, 8, []), [])
})

t.test('until it is known what a reader reads, all is kept', async (t) => {
  const readers = new Readers()
  const reading = readers.begin(stateOf(4, 10))
  t.strictSame(commit(readers, 5, [3, 12]), ['+retired 5: 3,12'])
  // It reads what that commit has left.
  reading.of(stateOf(5, 15))
  t.strictSame(commit(readers, 6, [14, 15]), ['+retired 6: 14', '-page 15'])
  reading.end()
  t.strictSame(commit(readers, 7, []), [
    '-retired 5',
    '-retired 6',
    '-page 3',
    '-page 12',
    '-page 14',
  ])
})

t.test('a reader does not need what was replaced before its version', async (t) => {
  const readers = new Readers()
  const older = readers.begin(stateOf(4, 10))
  older.of(stateOf(4, 10))
  commit(readers, 5, [1, 2])
  const newer = readers.begin(stateOf(5, 20))
  newer.of(stateOf(5, 20))
  t.strictSame(commit(readers, 6, [3, 12]), ['+retired 6: 3,12'])
  older.end()
  // 3 is older than both, and the newer one reads it.
  t.strictSame(commit(readers, 7, []), ['-retired 5', '-page 1', '-page 2'])
  newer.end()
  t.strictSame(commit(readers, 8, []), ['-retired 6', '-page 3', '-page 12'])
})

t.test('the end of the newer one leaves what the older one needs', async (t) => {
  const readers = new Readers()
  const older = readers.begin(stateOf(4, 10))
  older.of(stateOf(4, 10))
  const newer = readers.begin(stateOf(5, 20))
  newer.of(stateOf(5, 20))
  commit(readers, 6, [3, 10])
  newer.end()
  t.strictSame(commit(readers, 7, []), ['+retired 6: 3', '-page 10'])
  t.strictSame(commit(readers, 8, []), [])
  older.end()
  t.strictSame(commit(readers, 9, []), ['-retired 6', '-page 3'])
})

t.test('a commit that does not happen changes nothing', async (t) => {
  const readers = new Readers()
  const reading = readers.begin(stateOf(4, 10))
  reading.of(stateOf(4, 10))
  readers.plan(5, [1])
  t.strictSame(commit(readers, 5, [2]), ['+retired 5: 2'])
  reading.end()
  readers.plan(6, [])
  // A reader that ends while a commit is being written: what it needed is left to the next one.
  const other = readers.begin(stateOf(5, 10))
  other.of(stateOf(5, 10))
  const planned = readers.plan(6, [3])
  other.end()
  readers.adopt(planned)
  t.strictSame(textOf(planned), ['-retired 5', '+retired 6: 3', '-page 2'])
  t.strictSame(commit(readers, 7, []), ['-retired 6', '-page 3'])
})

t.test('what was left under another name is left alone', async (t) => {
  const readers = new Readers()
  const [older, newer] = [readers.begin(stateOf(4, 10)), readers.begin(stateOf(4, 10))]
  older.of(stateOf(4, 10))
  newer.of(stateOf(5, 20))
  t.strictSame(commit(readers, 5, [3], 'a'), ['+retired 5: 3'])
  t.strictSame(commit(readers, 6, [4, 12], 'a'), ['+retired 6: 4,12'])
  t.strictSame(commit(readers, 7, [5], 'b'), ['+retired 7: 5'])
  older.end()
  newer.end()
  t.strictSame(commit(readers, 8, [], 'b'), ['-retired 7', '-page 5'])
  t.strictSame(commit(readers, 9, [], 'a'), [])
})

t.test('much that is left goes with several commits, and all of it goes', async (t) => {
  const readers = new Readers()
  const reading = readers.begin(stateOf(1, 20_000))
  reading.of(stateOf(1, 20_000))
  for (let n = 0; n < 10; n++) {
    commit(
      readers,
      n + 2,
      Array.from({ length: 1500 }, (_, page) => n * 1500 + page),
    )
  }
  reading.end()
  const steps: number[] = []
  for (let version = 12; steps.at(-1) !== 0; version++) {
    steps.push(commit(readers, version, []).filter((text) => text.startsWith('-page')).length)
  }
  t.strictSame(steps, [4500, 4500, 4500, 1500, 0])
})
