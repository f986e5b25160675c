import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { markerKey, markerOf } from '../../src/backup/marker.js'
import { sampleId } from '../../src/cli/sample.js'
import { run, start, succeed } from './command.js'

const sample = await succeed(t, ['sample'])

/** A data directory with the sample, and one beside it that is not there. */
async function shelf(t: Test): Promise<{ data: string; target: string }> {
  const dir = t.testdir()
  const data = join(dir, 'data')
  await succeed(t, ['import', '-', '--id', sampleId, '--data', data], { input: sample })
  return { data, target: join(dir, 'target') }
}

t.test('a salvage names damaged files, and ends with 1', async (t) => {
  const { data, target } = await shelf(t)
  const whole = await run(t, ['verify', '--salvage', data, `${target}-of-all`])
  t.equal(whole.code, 0, whole.stderr)
  t.notMatch(whole.stderr, /without a name/)
  rmSync(join(data, 'slices', 'CURRENT'))
  const { code, stdout, stderr } = await run(t, ['verify', '--salvage', data, target])
  t.equal(code, 1)
  t.match(String(stdout), 'CURRENT')
  t.match(stderr, /salvaged 1 core[^]*without a name/)
})
