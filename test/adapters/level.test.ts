import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { suite } from '../suite/index.js'

// As it is; and with nearly every value in a file, which `objects` has none of by default.
for (const profiles of [{}, { objects: { separateBytes: 5 } }]) {
  suite({
    test: (name, run) => t.test('objects' in profiles ? `value files: ${name}` : name, run),
    factory: {
      persistent: true,
      create: async () => {
        const directory = await mkdtemp(join(tmpdir(), 'lorekeep-level-'))
        return {
          backend: () => new LevelBackend(directory, { profiles }),
          remove: () => rm(directory, { recursive: true, force: true }),
        }
      },
    },
  })
}
