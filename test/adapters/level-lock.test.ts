// One directory, one owner: whatever the path looks like, whichever process asks.

import { execFile, execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { Engine } from '../../adapters/level/engine.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { claimDirectory } from '../../adapters/level/open-directories.js'
import { ask } from '../../adapters/level/owner-socket.js'
import { profiles } from '../../adapters/level/profiles.js'
import { put, text } from '../suite/bytes.js'
import { startChild, startThread } from './level-process.js'

const locked = { code: 'LK_STORAGE_LOCKED' }

void t.test('no alias opens a directory twice in one process', async (t) => {
  const directory = t.testdir({ data: {}, other: {} })
  const data = join(directory, 'data')
  const first = new LevelBackend(data)
  t.teardown(() => first.close())
  await first.open('objects')

  await symlink(data, join(directory, 'link'))
  await symlink(directory, join(directory, 'parent-link'))
  await symlink(join(data, 'objects'), join(directory, 'other', 'objects'))
  const aliases = [
    data,
    `${data}/`,
    `${data}/.`,
    `${directory}/./other/../data//`,
    relative(process.cwd(), data),
    join(directory, 'link'),
    `${join(directory, 'link')}/`,
    join(directory, 'parent-link', 'data'),
    join(directory, 'other'),
  ]
  for (const alias of aliases) {
    const second = new LevelBackend(alias)
    await t.rejects(second.open('objects'), locked, alias)
    await second.close()
  }

  await first.close()
  for (const alias of aliases) {
    const next = new LevelBackend(alias)
    await put(await next.open('objects'), text('a'), text('1'))
    await next.close()
  }
})

void t.test('of two opens that race one wins', async (t) => {
  const directory = t.testdir()
  for (let round = 0; round < 10; round++) {
    const backends = [new LevelBackend(directory), new LevelBackend(`${directory}/`)]
    const outcomes = await Promise.allSettled(backends.map((backend) => backend.open('objects')))
    t.strictSame(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    await Promise.all(backends.map((backend) => backend.close()))
  }
})

void t.test('of two processes that open a store at once one has all of it', async (t) => {
  const directory = t.testdir()
  const children = [startChild(directory), startChild(directory)]
  t.teardown(() => Promise.all(children.map((child) => child.kill())))
  await Promise.all(children.map((child) => child.ask({ do: 'close' })))
  for (let round = 0; round < 10; round++) {
    const outcomes = await Promise.all(children.map((child) => child.ask({ do: 'open all' })))
    t.strictSame(outcomes.map(String).sort(), [
      String(new Array(4).fill(locked.code)),
      String(new Array(4).fill('ok')),
    ])
    await Promise.all(children.map((child) => child.ask({ do: 'close all' })))
  }
})

void t.test('cores that cannot be opened do not keep others from it', async (t) => {
  const directory = t.testdir({ cores: 'a file' })
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  const outcomes = await Promise.allSettled([backend.open('cores'), backend.open('objects')])
  t.strictSame(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await put(await backend.open('objects'), text('a'), text('1'))
})

void t.test(
  'a directory open in another process is refused, and free when that ends',
  async (t) => {
    const directory = t.testdir()
    const child = startChild(directory)
    t.teardown(() => child.kill())
    t.equal(await child.ask({ do: 'open' }), 'ok')

    const backend = new LevelBackend(directory)
    t.teardown(() => backend.close())
    const error = await backend.open('objects').catch((reason: unknown) => reason)
    t.match(error, locked)
    t.notOk((error as Error).cause, 'LevelDB was not asked')
    t.match((error as Error).message, directory, 'the message names the directory')
    t.notMatch((error as Error).message, '\n')

    await child.kill()
    await put(await backend.open('objects'), text('a'), text('1'))
  },
)

void t.test('a failed open lets go of the directory', async (t) => {
  const objects = { CURRENT: 'MANIFEST-000009\n', '000005.log': 'the rest is gone' }
  const directory = t.testdir({ objects })
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  for (let attempt = 0; attempt < 2; attempt++) {
    await t.rejects(backend.open('objects'), { code: 'LK_STORAGE_CORRUPT' })
  }
})

void t.test('a location that is a file is LK_STORAGE_FAILED', async (t) => {
  const directory = t.testdir({ file: 'text' })
  const backend = new LevelBackend(join(directory, 'file'))
  await t.rejects(backend.open('objects'), {
    code: 'LK_STORAGE_FAILED',
    cause: { code: 'ENOTDIR' },
  })
  await backend.close()
})

void t.test('wrong arguments are TypeErrors', async (t) => {
  t.throws(() => new LevelBackend(''), TypeError)
  const backend = new LevelBackend(t.testdir())
  await t.rejects(backend.open('../elsewhere' as 'objects'), TypeError)
  await backend.close()
})

// Behind it stands LevelDB's lock on the real path, so it is tested by itself: a bind mount has
// two real paths.
void t.test('the registry knows a directory by what it is, not by its path', async (t) => {
  const directory = t.testdir({ data: {} })
  await symlink(join(directory, 'data'), join(directory, 'link'))
  const claim = await claimDirectory(join(directory, 'data'))
  await t.rejects(claimDirectory(join(directory, 'link')), locked)
  await t.rejects(claimDirectory(join(directory, 'data')), locked)
  await claim.release()
  const next = await claimDirectory(join(directory, 'link'))
  t.equal(next.path, claim.path)
  await next.release()
})

/** Whether this process may make mounts of its own. */
function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const needsMounts = mayMount() ? {} : { skip: 'needs a Linux where this user may mount' }

/** Runs a command with these mounts, which nobody else sees. */
const mounted = (script: string) => ['unshare', '-m', 'sh', '-c', `${script} && exec "$0" "$@"`]

const ownerFiles = async (directory: string) =>
  (await readdir(directory)).filter((name) => name.startsWith('OWNER-'))

void t.test('the lock outlives what the owner does with the files', async (t) => {
  const [directory, copy] = [t.testdir(), `${t.testdirName}-copy`]
  t.teardown(() => rm(copy, { recursive: true, force: true }))
  const first = new LevelBackend(directory)
  t.teardown(() => first.close())
  const storage = await first.open('objects')
  const refused = async (what: string) => {
    const child = startChild(directory)
    t.equal(await child.ask({ do: 'open' }), locked.code, what)
    await child.kill()
  }

  await refused('nothing was done yet')
  readFileSync(join(directory, 'objects', 'LOCK'))
  await refused('LOCK was read')
  const thread = startThread(directory)
  t.equal(await thread.outcome, locked.code, 'a thread is refused')
  await refused('a thread was refused')
  await thread.close()
  await refused('the thread ended')
  cpSync(directory, copy, { recursive: true })
  await refused('all was copied')

  // The copy is another directory, with the owner's file of this one in it.
  t.equal((await ownerFiles(join(copy, 'objects'))).length, 1)
  const child = startChild(copy)
  // Where nobody can say that a file system is local, the copy might be the same directory.
  const isTold = process.platform === 'linux'
  t.equal(await child.ask({ do: 'open' }), isTold ? 'ok' : locked.code, 'the copy')
  await refused('the copy was opened')
  await child.ask({ do: 'close' })
  await child.kill()
  if (isTold) t.strictSame(await ownerFiles(join(copy, 'objects')), [])

  await put(storage, text('a'), text('1'))
  await first.close()
  t.strictSame(await ownerFiles(join(directory, 'objects')), [])
  const next = new LevelBackend(directory)
  t.teardown(() => next.close())
  t.same(await (await next.open('objects')).get(text('a')), text('1'))
})

void t.test('a directory open here is refused to a thread, through a link too', async (t) => {
  const directory = t.testdir({ data: {} })
  const data = join(directory, 'data')
  await symlink(data, join(directory, 'link'))
  const first = new LevelBackend(data)
  t.teardown(() => first.close())
  const storage = await first.open('objects')
  for (const path of [data, join(directory, 'link')]) {
    const thread = startThread(path)
    t.equal(await thread.outcome, locked.code)
    await thread.close()
  }
  await put(storage, text('a'), text('1'))
  await first.close()
  const thread = startThread(join(directory, 'link'))
  t.equal(await thread.outcome, 'ok')
  const second = new LevelBackend(data)
  await t.rejects(second.open('objects'), locked, 'and the other way round')
  await thread.close()
  t.same(await (await second.open('objects')).get(text('a')), text('1'))
  await second.close()
})

void t.test('a bind mount is no way round', needsMounts, async (t) => {
  const directory = t.testdir({ data: {}, alias: {} })
  const [data, alias] = [join(directory, 'data'), join(directory, 'alias')]
  const mounts = mounted(`mount --bind ${data} ${alias}`)
  const child = startChild(data, 'objects', mounts)
  t.teardown(() => child.kill())
  t.equal(await child.ask({ do: 'open' }), 'ok')
  t.equal(await child.ask({ do: 'thread', directory: alias }), locked.code, 'in a thread')
  const other = startChild(alias, 'objects', mounts)
  t.equal(await other.ask({ do: 'open' }), locked.code, 'in a process')
  await child.ask({ do: 'close' })
  t.equal(await other.ask({ do: 'open' }), 'ok')
  t.equal(await child.ask({ do: 'thread', directory: data }), locked.code)
  await other.kill()
})

void t.test('a read-only mount is LK_STORAGE_FAILED', needsMounts, async (t) => {
  const directory = t.testdir()
  const child = startChild(directory)
  t.equal(await child.ask({ do: 'open' }), 'ok')
  await child.kill()
  const mounts = mounted(
    `mount --bind ${directory} ${directory} && mount -o remount,ro,bind ${directory}`,
  )
  const reader = startChild(directory, 'objects', mounts)
  t.equal(await reader.ask({ do: 'open' }), 'LK_STORAGE_FAILED')
  await reader.kill()
})

void t.test('an owner that was killed has let go, whoever has its number now', async (t) => {
  const directory = t.testdir()
  for (let round = 0; round < 5; round++) {
    const child = startChild(directory)
    t.equal(await child.ask({ do: 'open' }), 'ok')
    await child.kill()
  }
  const left = await ownerFiles(join(directory, 'objects'))
  t.equal(left.length, 1, 'the next owner removes what the last one left')
  const path = join(directory, 'objects', left[0]!)
  const said = readFileSync(path, 'utf8')
  t.match(said, /^process \d+ on /)
  await writeFile(path, said.replace(/\d+/, String(process.pid)))
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  await backend.open('objects')
  t.notSame(await ownerFiles(join(directory, 'objects')), left)
})

void t.test('a thread that was terminated has let go', async (t) => {
  const directory = t.testdir()
  for (let round = 0; round < 3; round++) {
    const thread = startThread(directory)
    t.equal(await thread.outcome, 'ok')
    await thread.terminate()
  }
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  await backend.open('objects')
})

void t.test('a worker of node:cluster that was killed has let go', async (t) => {
  const script = resolve('dist/test/adapters/level-cluster.js')
  const { stdout } = await promisify(execFile)(process.execPath, [script, t.testdir()])
  t.strictSame(JSON.parse(stdout), ['ok', locked.code, 'ok'])
})

void t.test('an owner that is stopped is still the owner', async (t) => {
  const directory = t.testdir()
  const child = startChild(directory)
  t.teardown(() => child.kill())
  t.equal(await child.ask({ do: 'open' }), 'ok')
  process.kill(child.pid, 'SIGSTOP')
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  // More than the queue of a socket holds: 511 for Node's.
  const [name = ''] = await ownerFiles(join(directory, 'objects'))
  const [, token = '', scope = ''] = name.split('-')
  for (let asked = 0; asked < 600; asked++) {
    if (!(await ask(token, scope, child.pid))) t.fail(`asked ${asked} times`)
  }
  await t.rejects(backend.open('objects'), locked)
  process.kill(child.pid, 'SIGCONT')
  t.strictSame(await child.ask({ do: 'write', from: 0, to: 1, bytes: 10 }), ['ok'])
})

void t.test('a refused attempt leaves nothing behind', async (t) => {
  const directory = t.testdir()
  const child = startChild(directory)
  t.teardown(() => child.kill())
  await child.ask({ do: 'open' })
  const before = await readdir(join(directory, 'objects'))
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  const error: unknown = await backend.open('objects').catch((reason: unknown) => reason)
  t.match(error, locked)
  t.match((error as Error).message, `process ${child.pid} on ${hostname()}`)
  t.strictSame(await readdir(join(directory, 'objects')), before)
})

void t.test('who was taken for dead while opening writes nothing', async (t) => {
  const directory = t.testdir()
  const place = join(directory, 'objects')
  const backend = new LevelBackend(directory)
  await put(await backend.open('objects'), text('a'), text('1'))
  await backend.close()
  // Before CURRENT, before CLOSED, before LevelDB.
  for (const lost of [1, 2, 3]) {
    const before = readdirSync(place)
    const claim = await claimDirectory(place)
    let looks = 0
    const assertHeld = () => {
      const names = ++looks === lost ? readdirSync(place) : []
      for (const name of names) if (name.startsWith('OWNER-')) rmSync(join(place, name))
      claim.assertHeld()
    }
    const outcome = await Engine.open({ ...claim, assertHeld }, profiles.objects).then(
      (engine) => engine.close(),
      ({ code }: { code: string }) => code,
    )
    t.equal(outcome, 'LK_STORAGE_FAILED', `lost at ${lost}`)
    await claim.release()
    t.same(
      readdirSync(place),
      before.filter((name) => lost < 3 || name !== 'CLOSED'),
    )
  }
})
