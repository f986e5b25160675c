// Owners who cannot be asked: on another machine, in another container, from before a restart.
// They are watched for seven seconds, so all of this happens at the same time.

import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { startChild } from './level-process.js'

const locked = { code: 'LK_STORAGE_LOCKED' }
const token = '0123456789ab0123456789ab'
const line = 'process 1 on elsewhere, started at noon, thread 0, file 1:1\n'

/** A directory with the file of an owner in it. */
function owned(t: Test, name: string, content = `${line}open at noon\n`): string {
  return t.testdir({ objects: { [name]: content } })
}

async function open(t: Test, directory: string): Promise<LevelBackend> {
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  await backend.open('objects')
  return backend
}

const ownersIn = async (directory: string) =>
  (await readdir(join(directory, 'objects'))).filter((name) => name.startsWith('OWNER-'))

function mayUnshare(): boolean {
  try {
    execFileSync('unshare', ['-n', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs a command where the directory is of a file system that is not known to be local. */
const foreign = (directory: string, script = 'true') => [
  ...['unshare', '-m', 'sh', '-c'],
  `mount -t ramfs none ${directory} && ${script} && exec "$0" "$@"`,
]

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'sh', '-c', 'mount -t ramfs none /mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const needsMounts = mayMount() ? {} : { skip: 'needs a Linux where this user may mount' }
const linux = process.platform === 'linux' ? {} : { skip: 'boots and namespaces of Linux' }
const needsNetworks = mayUnshare() ? {} : { skip: 'needs a Linux where this user may unshare' }

t.jobs = 8
// A copy for each test: tap writes into it.
const aside = { buffered: true }

void t.test(
  'from before a restart: gone, whatever is in the file',
  { ...linux, ...aside },
  async (t) => {
    for (const content of [
      `${line}open at noon\n`,
      line,
      '',
      'process 1',
      line.slice(0, -2),
      '\0'.repeat(200),
    ]) {
      const name = `OWNER-${token}-ffffffffffff-ffffffffffff`
      const directory = owned(t, name, content)
      const started = performance.now()
      const backend = await open(t, directory)
      t.ok(performance.now() - started < 6000, 'not watched')
      t.notOk((await ownersIn(directory)).includes(name))
      await backend.close()
    }
  },
)

void t.test('no sign of life: gone, all of them at once', { ...aside }, async (t) => {
  const names = [`OWNER-${token}-none-any`, `OWNER-${token}-ffffffffffff-any`]
  const directory = t.testdir({
    objects: { [names[0]!]: '', [names[1]!]: `${line}open at noon\n` },
  })
  const started = performance.now()
  await open(t, directory)
  const seconds = (performance.now() - started) / 1000
  t.ok(seconds > 6 && seconds < 14, `watched for ${seconds} s`)
  const left = await ownersIn(directory)
  t.equal(left.length, 1)
  t.notOk(names.includes(left[0]!))
})

void t.test('signs of life: refused', { ...aside }, async (t) => {
  const name = `OWNER-${token}-ffffffffffff-any`
  const directory = owned(t, name)
  const touch = () => utimes(join(directory, 'objects', name), new Date(), new Date())
  const timer = setInterval(() => void touch(), 500)
  t.teardown(() => clearInterval(timer))
  await t.rejects(open(t, directory), locked)
  t.strictSame(await ownersIn(directory), [name])
})

void t.test(
  'from another boot, where more than one machine may write: watched',
  { ...needsMounts, ...aside },
  async (t) => {
    const directory = t.testdir()
    const path = join(directory, 'objects', `OWNER-${token}-ffffffffffff-ffffffffffff`)
    const text = `${line}open at noon`.replace('\n', '\\n')
    const beat = `while kill -0 $$; do touch ${path}; sleep 0.5; done`
    const script = `mkdir ${directory}/objects && printf '${text}\\n' > ${path} && { (${beat}) > /dev/null 2>&1 & }`
    const child = startChild(directory, 'objects', foreign(directory, script))
    t.teardown(() => child.kill())
    t.equal(await child.ask({ do: 'open' }), locked.code)
  },
)

void t.test(
  'in a container with a boot of its own: watched',
  { ...needsMounts, ...aside },
  async (t) => {
    const directory = t.testdir({ boot: 'b2a5d1e0-0000-4000-8000-000000000000' })
    const mount = `mount --bind ${directory}/boot /proc/sys/kernel/random/boot_id`
    const through = ['unshare', '-m', 'sh', '-c', `${mount} && exec "$0" "$@"`]
    const owner = startChild(directory, 'objects', through)
    t.teardown(() => owner.kill())
    t.equal(await owner.ask({ do: 'open' }), 'ok')
    await t.rejects(open(t, directory), locked)
    t.strictSame(await owner.ask({ do: 'write', from: 0, to: 1, bytes: 10 }), ['ok'])
  },
)

void t.test(
  'an owner who answers is no copy, whatever number its file has here',
  { ...needsMounts, ...aside },
  async (t) => {
    const directory = t.testdir()
    const owner = startChild(directory, 'objects', foreign(directory))
    t.teardown(() => owner.kill())
    t.equal(await owner.ask({ do: 'open' }), 'ok')
    // As through another mount of a network file system.
    const place = join(`/proc/${owner.pid}/root`, directory, 'objects')
    const name = (await readdir(place)).find((name) => name.startsWith('OWNER-'))!
    const said = await readFile(join(place, name), 'utf8')
    await writeFile(join(place, name), said.replace(/file \d+:\d+/, 'file 1:1'))
    const through = ['nsenter', '-t', String(owner.pid), '-m']
    const other = startChild(directory, 'objects', through)
    t.teardown(() => other.kill())
    t.equal(await other.ask({ do: 'open' }), locked.code)
    t.strictSame(await owner.ask({ do: 'write', from: 0, to: 1, bytes: 10 }), ['ok'])
  },
)

void t.test('an owner in another network', { ...needsNetworks, ...aside }, async (t) => {
  const directory = t.testdir()
  const far = startChild(directory, 'objects', ['unshare', '-n'])
  t.teardown(() => far.kill())
  t.equal(await far.ask({ do: 'open' }), 'ok')
  await t.rejects(open(t, directory), locked, 'answers by touching its file')
  t.strictSame(await far.ask({ do: 'write', from: 0, to: 1, bytes: 10 }), ['ok'])
  await far.kill()
  await open(t, directory)
  t.equal((await ownersIn(directory)).length, 1)
  const other = startChild(directory, 'objects', ['unshare', '-n'])
  t.teardown(() => other.kill())
  t.equal(await other.ask({ do: 'open' }), locked.code, 'and the other way round')
})

void t.test('files that look like it are left alone', { ...aside }, async (t) => {
  const directory = t.testdir()
  const place = join(directory, 'objects')
  await mkdir(place)
  const names = ['OWNER-', `OWNER-${token}-none-any.bak`, 'OWNER-1-2-3']
  for (const name of names) await writeFile(join(place, name), '')
  const backend = await open(t, directory)
  await backend.close()
  t.strictSame((await ownersIn(directory)).sort(), names)
})
