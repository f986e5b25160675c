import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { suite } from '../suite/index.js'

suite({
  test: (name, run) => t.test(name, run),
  factory: {
    persistent: true,
    create: async () => {
      const directory = await mkdtemp(join(tmpdir(), 'lorekeep-level-'))
      return {
        backend: () => new LevelBackend(directory),
        remove: () => rm(directory, { recursive: true, force: true }),
      }
    },
  },
})
