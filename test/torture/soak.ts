import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { coreProblems } from '../fixtures/problems.js'
import { contentOf, digestOf, user, type Step } from './crash-content.js'

/**
 * Imports, replaces, deletes, aborts and exports, many at once, for long: every export is one
 * version that some import made, and neither the disk nor the memory grows with the number of
 * rounds.
 */
export async function soak(options: {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
}): Promise<{ rounds: number; exports: number; diskMiB: number; rssMiB: number }> {
  const { directory, rounds, seed } = options
  const random = new Random(seed)
  await using keep = await createLorekeep({ backend: new LevelBackend(directory) })
  const { knowledge } = keep
  const versions = new Set<string>()
  let exports = 0
  for (let round = 0; round < rounds; round++) {
    const core = `core ${random.below(3)}`
    await Promise.all(
      Array.from({ length: 4 }, async (_, n) => {
        const size = 1 + random.below(150)
        const step: Step = { type: 'replace', core, name: `round ${round} ${n}`, size }
        const action = random.below(10)
        if (action < 5) {
          versions.add(digestOf([step]))
          await knowledge.import({ user, id: core }, contentOf(step), { mode: 'replace' })
        } else if (action < 6) {
          await knowledge.delete({ user, id: core })
        } else if (action < 7) {
          const source = [...contentOf(step), Buffer.of(0xc1)]
          await assert.rejects(knowledge.import({ user, id: core }, source))
        } else {
          const found = await knowledge.export({ user, id: core }).catch(() => undefined)
          if (!found) return
          const hash = createHash('sha256')
          for await (const chunk of found) hash.update(chunk)
          assert.ok(versions.has(hash.digest('hex')), `seed ${seed}, round ${round}`)
          exports++
        }
      }),
    )
  }
  let liveBytes = 0
  for await (const { bytes } of knowledge.list({ user })) liveBytes += bytes
  await keep.close()
  const backend = new LevelBackend(directory)
  assert.deepEqual(await coreProblems(backend), [])
  await backend.close()
  const diskBytes = await sizeOf(directory)
  assert.ok(diskBytes < liveBytes + 32 * 1024 * 1024, `seed ${seed}: ${diskBytes} bytes on disk`)
  const toMiB = (bytes: number) => Math.round(bytes / 1024 / 1024)
  return {
    rounds,
    exports,
    diskMiB: toMiB(diskBytes),
    rssMiB: toMiB(process.memoryUsage.rss()),
  }
}

async function sizeOf(directory: string): Promise<number> {
  const files = await readdir(directory, { recursive: true })
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(join(directory, file))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
