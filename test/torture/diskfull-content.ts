// What is written to the disk that fills, by the process that is killed, and read after it.

import type { LevelOptions } from '../../adapters/level/index.js'

export const user = 'alice'
export const coreNames = ['one', 'two', 'three'] as const
export const groups = ['red', 'green', 'blue'] as const
/** Objects of a group are replaced together, so they are all of one version. */
export const groupSize = 20
export const schema = {
  name: 'thing',
  fields: { version: { type: 'integer', required: true } },
  indexes: ['version'],
}
export const flow = { id: 'f', keepDone: 1_000_000, maxQueued: 1_000_000 }

const writeBufferBytes = 256 * 1024
/** Small enough for a small disk, and for logs to be rotated while it is full. */
export const profiles: NonNullable<LevelOptions['profiles']> = {
  cores: { writeBufferBytes },
  slices: { writeBufferBytes },
  objects: { writeBufferBytes },
  flows: { writeBufferBytes },
}
