// Thousands of small cores of one user, changed, asked, merged and opened again, beside a map of what they say.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { pace } from '../../src/knowledge/library/policy.js'
import { Random } from '../fixtures/random.js'
import { modelRun } from '../knowledge/library/model.js'

interface LibraryOptions {
  readonly directory: string
  /** Changes in memory; a tenth as many on a disk. */
  readonly steps: number
  readonly seed: number
}

const cores = 3000

export async function libraryRuns({ directory, steps, seed }: LibraryOptions) {
  const random = new Random(seed)
  const onError = (error: unknown) => {
    throw new Error('in the background', { cause: error })
  }
  const run = async (backend: MemoryBackend | LevelBackend, steps: number) =>
    modelRun({ backend, random, steps, cores, every: 100, onError })
  // As it is used, and in a hurry.
  const memory = await run(new MemoryBackend(), steps)
  Object.assign(pace, { manySegments: 8, quietMs: 1, idleMs: 5, fanOut: 3 })
  const hurried = await run(new MemoryBackend(), steps)
  const store = join(directory, 'level')
  const level = await run(new LevelBackend(store), Math.ceil(steps / 10))
  await rm(store, { recursive: true })
  return { memory, hurried, level }
}
