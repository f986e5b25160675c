// One directory, one owner: whatever the path looks like, whichever process asks.

import { symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { claimDirectory } from '../../adapters/level/open-directories.js'
import { put, text } from '../suite/bytes.js'
import { startChild } from './level-process.js'

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
    t.match(error, { ...locked, cause: { code: 'LEVEL_DATABASE_NOT_OPEN' } })
    t.match((error as Error).message, directory, 'the message names the directory')
    t.notMatch((error as Error).message, '\n')

    await child.kill()
    await put(await backend.open('objects'), text('a'), text('1'))
  },
)

void t.test('a failed open lets go of the directory', async (t) => {
  const directory = t.testdir({ objects: { CURRENT: 'MANIFEST-000009\n' } })
  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  for (let attempt = 0; attempt < 2; attempt++) {
    await t.rejects(backend.open('objects'), { code: /^LK_STORAGE_(FAILED|CORRUPT)$/ })
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
  claim.release()
  const next = await claimDirectory(join(directory, 'link'))
  t.equal(next.path, claim.path)
  next.release()
})
