// Writes the pictures of the inspector that its page in the docs shows, as the test that takes them has them.
//
//     node scripts/pictures.js

import { spawnSync } from 'node:child_process'

const { status } = spawnSync(
  process.execPath,
  ['dist/test/run.js', 'test/inspector/pictures.test.ts'],
  {
    env: { ...process.env, PICTURES: 'write' },
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
