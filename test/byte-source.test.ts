import assert from 'node:assert/strict'
import t from 'tap'
import { readSteps } from '../src/byte-source.js'
import { countTurns } from './fixtures/turns.js'

const MiB = 1024 * 1024

t.test('a source that never waits leaves others a turn after each MiB', async (t) => {
  const chunk = new Uint8Array(MiB / 16)
  const turns = await turnsDuring(Array.from({ length: 64 }, () => chunk))
  t.ok(turns >= 3 && turns < 16, `${turns} turns`)
})

t.test('and after some hundred chunks, however short', async (t) => {
  const turns = await turnsDuring(Array.from({ length: 1024 }, () => Uint8Array.of(1)))
  t.ok(turns >= 3 && turns < 16, `${turns} turns`)
})

/** Turns of the event loop while a source is read. */
async function turnsDuring(source: readonly Uint8Array[]): Promise<number> {
  const turnsSince = countTurns()
  let bytes = 0
  for await (const step of readSteps(source, MiB, [])) bytes += step.length
  const turns = turnsSince()
  assert.equal(
    bytes,
    source.reduce((sum, { length }) => sum + length, 0),
  )
  return turns
}
