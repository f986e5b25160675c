// Exports that nobody imports, files that nothing reaches, packages that are missing or left over:
// knip.jsonc says where the roots are.

import { spawnSync } from 'node:child_process'
import t from 'tap'

t.test('nothing is exported, kept or installed that nobody uses', (t) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/knip/bin/knip.js', '--no-progress'],
    { encoding: 'utf8' },
  )
  t.equal(`${stdout}${stderr}`, '')
  t.equal(status, 0)
  t.end()
})
