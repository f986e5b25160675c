// Rows of parts that have more blocks of terms than memory.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { MergedView } from '../../../src/graph/index/merged-view.js'
import { withBlocks } from '../../../src/graph/miss.js'
import { ANY, UNION } from '../../../src/graph/view.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Term, Triple } from '../../../src/types.js'
import { entity, literal, messageOf, textOf } from '../asked.js'
import { partViews } from './part-views.js'

t.setTimeout(120_000)

const user = 'u'
const count = 20_000
/** Less than all blocks of both take. */
const little = 4 * 1024 * 1024
const p = entity('says')

/** Terms as long as URIs are. Rows with one object come in a run: both parts have one of ten of these. */
function triplesOf(part: number): Triple[] {
  return Array.from({ length: count }, (_, n) => ({
    s: entity(`http://example.org/${part}/${n}`.padEnd(95, '/path')),
    p,
    o: literal(`${n % 10 === 0 ? '' : part} ${n % 997}`.padEnd(95, ' text')),
  }))
}

const contents = [triplesOf(0), triplesOf(1)]
const expected = new Set(contents.flat().map(textOf))

/** Each of them once. */
function assertAll(told: readonly string[]): void {
  assert.equal(told.length, expected.size)
  assert.equal(new Set(told.filter((text) => expected.has(text))).size, expected.size)
}

for (const cacheBytes of [little, Infinity]) {
  t.test(`rows come once with a cache of ${cacheBytes}`, async () => {
    const storage = await new MemoryBackend().open('slices')
    const view = new MergedView(await partViews(storage, contents, cacheBytes))
    const rows = await withBlocks(() => view.rows(ANY, view.find(p), ANY, UNION))
    const told: string[] = []
    while (await withBlocks(() => rows.next())) {
      const { s, o } = rows
      told.push(await withBlocks(() => textOf({ s: view.term(s), p, o: view.term(o) })))
    }
    assertAll(told)
  })
}

t.test('a solve over cold parts has all of their rows', async () => {
  const backend = new MemoryBackend()
  await using filled = await createLorekeep({ backend, indexThreads: 0 })
  for (const [n, triples] of contents.entries()) {
    const ref = { user, id: `${n}` }
    await filled.knowledge.import(ref, [encodeMessage(messageOf(triples))], { index: true })
  }
  await using keep = await createLorekeep({ backend, indexThreads: 0, graphCacheBytes: little })
  const told: string[] = []
  const patterns = [{ s: '?s', p, o: '?o' }] as const
  for await (const { s, o } of keep.knowledge.graph({ user }).solve(patterns)) {
    told.push(textOf({ s: s as Term, p, o: o as Term }))
  }
  assertAll(told)
})
