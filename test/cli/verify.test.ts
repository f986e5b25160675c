import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { markerKey, markerOf } from '../../src/backup/marker.js'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { run, runAlone, script, start, succeed } from './command.js'

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
  const whole = await runAlone(t, ['verify', '--salvage', data, `${target}-of-all`])
  t.equal(whole.code, 0, whole.stderr)
  t.notMatch(whole.stderr, /without a name/)
  rmSync(join(data, 'slices', 'CURRENT'))
  const { code, stdout, stderr } = await runAlone(t, ['verify', '--salvage', data, target])
  t.equal(code, 1)
  t.match(String(stdout), 'CURRENT')
  t.match(stderr, /salvaged 1 core[^]*without a name/)
})

t.test('a salvage writes nothing into what it salvages', async (t) => {
  const { data, target } = await shelf(t)
  symlinkSync(data, target)
  for (const within of [data, join(data, 'sub'), join(target, 'sub'), join(data, 'cores', 'a')]) {
    const { code, stderr } = await run(t, ['verify', '--salvage', data, within])
    t.equal(code, 2, within)
    t.match(stderr, 'lies in')
  }
  t.notOk(existsSync(join(data, 'sub')))
})

t.test('an unfinished restore is neither verified nor salvaged', async (t) => {
  const { data, target } = await shelf(t)
  const backend = new LevelBackend(data)
  const cores = await backend.open('cores')
  await cores.write([{ type: 'put', key: markerKey, value: markerOf(0) }])
  await backend.close()
  for (const args of [[data], ['--deep', data], ['--salvage', data, target]]) {
    const { code, stdout, stderr } = await run(t, ['verify', ...args])
    t.equal(code, 2, stderr)
    t.match(stderr, 'a part of a backup')
    t.equal(String(stdout), '')
  }
  t.notOk(existsSync(target))
})

t.test('a reader that leaves early does not turn an error into none', async (t) => {
  const { data } = await shelf(t)
  rmSync(join(data, 'slices', 'CURRENT'))
  const { child, ended } = start(t, ['verify', data])
  child.stdout?.destroy()
  const { code } = await ended
  t.equal(code, 1)
})

t.test('a value file that is missing or too short is found without reading it', async (t) => {
  const { data } = await shelf(t)
  const big = await succeed(t, ['sample', '--triples', '20000'])
  await succeed(t, ['import', '-', '--id', 'big', '--data', data], { input: big })
  const values = join(data, 'slices', 'values')
  const [file] = readdirSync(values)
  const path = join(values, String(file))
  const size = statSync(path).size
  t.equal((await runAlone(t, ['verify', data])).code, 0)
  truncateSync(path, size - 1)
  const short = await runAlone(t, ['verify', data])
  t.equal(short.code, 1)
  const found = `slices/values/${file}\tit has ${size - 1} bytes, and had ${size} or more`
  t.match(String(short.stdout), found)
  // That of its last value.
  t.equal(short.stdout.toString().trim().split('\n').length, 1)
  rmSync(path)
  const missing = await runAlone(t, ['verify', data])
  t.equal(missing.code, 1)
  t.match(String(missing.stdout), `slices/values/${file}\tit is missing, for the value of ("`)
  t.equal(String(missing.stdout).trim().split('\n').length, 4)
})

t.test('--data names the directory, and what is no store is told from a part of one', async (t) => {
  const { data, target } = await shelf(t)
  const named = await run(t, ['verify', '--data', data])
  t.equal(named.code, 0, named.stderr)
  const salvaged = await run(t, ['verify', '--salvage', '--data', data, target])
  t.equal(salvaged.code, 0, salvaged.stderr)
  t.ok(existsSync(join(target, 'cores')))
  const part = await run(t, ['verify', join(data, 'cores')])
  t.equal(part.code, 2)
  t.match(part.stderr, `name '${data}'`)
  for (const args of [[], [data, target], ['--data', data, target], ['--salvage', data]]) {
    const { code, stderr } = await run(t, ['verify', ...args])
    t.equal(code, 2, stderr)
  }
})

t.test('a salvage goes on where nobody reads of it any more', async (t) => {
  const { data, target } = await shelf(t)
  rmSync(join(data, 'slices', 'CURRENT'))
  const { child, ended } = start(t, ['verify', '--salvage', data, target])
  child.stdout?.destroy()
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /salvaged 1 core/)
  t.equal((await runAlone(t, ['verify', '--deep', target])).code, 0)
})

t.test('a refused store names the directory to salvage', async (t) => {
  const { data } = await shelf(t)
  rmSync(join(data, 'slices', 'CURRENT'))
  const { stderr } = await run(t, ['cores', '--data', data])
  t.match(stderr, `lorekeep verify --salvage ${data} TARGET`)
})

t.test(
  'a salvage goes on where its lines cannot be written',
  { skip: !existsSync('/dev/full') && 'there is no /dev/full' },
  async (t) => {
    const { data, target } = await shelf(t)
    rmSync(join(data, 'slices', 'CURRENT'))
    const command = `"$0" ${script} verify --salvage "$1" "$2" > /dev/full`
    const args = ['-c', command, process.execPath, data, target]
    const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
    t.equal(status, 1, stderr)
    t.match(stderr, /stdout takes no more lines[^]*salvaged 1 core/)
    t.ok(existsSync(join(target, 'cores')))
  },
)

t.test('bytes behind the end of a table are no part of it', async (t) => {
  const { data } = await shelf(t)
  // Opened once more, its log becomes a table.
  await succeed(t, ['cores', '--data', data])
  const tables = readdirSync(join(data, 'cores')).filter((name) => name.endsWith('.ldb'))
  t.ok(tables.length > 0)
  for (const name of tables) appendFileSync(join(data, 'cores', name), 'garbage!')
  const { code, stdout } = await run(t, ['verify', '--deep', data])
  t.strictSame([code, String(stdout)], [0, ''])
  t.match(String(await succeed(t, ['cores', '--data', data])), sampleId)
})

t.test('a store of which a part is gone is not taken for none', async (t) => {
  const { data } = await shelf(t)
  rmSync(join(data, 'cores', 'CURRENT'))
  const { code, stderr } = await run(t, ['cores', '--data', data])
  t.equal(code, 1)
  t.match(stderr, 'CURRENT is damaged')
})

t.test('a directory that cannot be written is verified all the same', async (t) => {
  const { data } = await shelf(t)
  const partitions = readdirSync(data).map((name) => join(data, name))
  const isRoot = process.getuid?.() === 0
  // Whom modes do not keep from writing becomes somebody else.
  const nobody = isRoot ? { uid: 65534, gid: 65534 } : {}
  const verify = () => {
    for (const path of partitions) chmodSync(path, 0o555)
    try {
      return spawnSync(process.execPath, [script, 'verify', data], { encoding: 'utf8', ...nobody })
    } finally {
      for (const path of partitions) chmodSync(path, 0o755)
    }
  }
  const alone = verify()
  if (isRoot && alone.status !== 0 && /EACCES|Cannot find module/.test(alone.stderr)) {
    t.comment('nobody cannot read here')
    return
  }
  t.equal(alone.status, 0, alone.stderr)
  t.match(alone.stderr, 'cannot be written to')
  t.match(alone.stderr, 'nothing is wrong')
  await using backend = new LevelBackend(data)
  await backend.open('objects')
  const held = verify()
  t.equal(held.status, 2, held.stderr)
  t.match(held.stderr, /is in use/)
})

t.test('a salvage is for its owner alone, and goes where a symlink leads', async (t) => {
  const { data, target } = await shelf(t)
  mkdirSync(target)
  symlinkSync(target, `${target}-link`)
  const salvaged = await run(t, ['verify', '--salvage', data, `${target}-link`])
  t.equal(salvaged.code, 0, salvaged.stderr)
  t.ok(existsSync(join(target, 'cores')))
  if (process.platform !== 'win32') t.equal(statSync(target).mode & 0o777, 0o700)
  symlinkSync('nowhere', `${target}-none`)
  const { code, stderr } = await run(t, ['verify', '--salvage', data, `${target}-none`])
  t.equal(code, 2, stderr)
})

t.test('a salvage tells a partition that is gone as a whole', async (t) => {
  const { data, target } = await shelf(t)
  for (const name of ['objects', 'flows']) {
    rmSync(join(data, name), { recursive: true })
    const to = `${target}-${name}`
    const { code, stdout } = await runAlone(t, ['verify', '--salvage', data, to])
    t.equal(code, 1)
    t.match(String(stdout), `error\t${name}\tmissing`)
    t.equal((await runAlone(t, ['verify', '--deep', to])).code, 0)
  }
})
