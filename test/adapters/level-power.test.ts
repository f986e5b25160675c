import { mkdtemp, mkdir, readFile, readdir, realpath, rm, symlink } from 'node:fs/promises'
import { appendFile, open, readlink, truncate, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { LevelFiles } from '../../adapters/level/files.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { pickSeed } from '../fixtures/random.js'
import { numbered, put, text } from '../suite/bytes.js'
import { readTree } from '../torture/powercut-journal.js'
import { journalOf, memoryDirectory, powerCuts, whyNot } from '../torture/powercut.js'

const skip = whyNot() ?? false

void t.test('power cuts lose nothing, tear nothing, and leave what opens', { skip }, async (t) => {
  const directory = await mkdtemp(join(memoryDirectory(), 'lorekeep-power-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const { models, failures } = await powerCuts({ directory, cuts: 20, seed, cutsPerSession: 20 })
  t.same(failures, [])
  for (const { cuts, acknowledged } of Object.values(models)) {
    t.equal(cuts, 20)
    t.ok(acknowledged > 20)
  }
})

/** What a cut may have left of the first moments: CURRENT is renamed to a MANIFEST never synced. */
const firstMoments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'nothing but a log for people': { LOG: 'text', LOCK: '' },
  'an empty MANIFEST': { CURRENT: 'MANIFEST-000001\n', 'MANIFEST-000001': '' },
  'no MANIFEST': { CURRENT: 'MANIFEST-000001\n', '000003.log': '' },
  'an empty CURRENT': { CURRENT: '', 'MANIFEST-000001': '\0'.repeat(41) },
  'a MANIFEST and no CURRENT': { 'MANIFEST-000001': '\0\0\0', '000001.dbtmp': 'MANIF' },
  'both first ones cut short': {
    CURRENT: 'MANIFEST-000002\n',
    'MANIFEST-000001': '\0'.repeat(41),
    'MANIFEST-000002': '\0'.repeat(50),
    '000003.log': '',
  },
}

void t.test('a store cut in its first moments is made anew', async (t) => {
  for (const [name, objects] of Object.entries(firstMoments)) {
    const directory = t.testdir({ objects })
    for (let round = 0; round < 2; round++) {
      await using backend = new LevelBackend(directory)
      const storage = await backend.open('objects')
      if (round === 0) await put(storage, text('a'), text('1'))
      else t.same(await storage.get(text('a')), text('1'), name)
    }
  }
})

void t.test('without its MANIFEST a store that holds something is refused', async (t) => {
  // A MANIFEST of any other number comes after the first tables.
  for (const file of ['000003.log', '000005.ldb', 'MANIFEST-000003']) {
    const objects = { CURRENT: 'MANIFEST-000001\n', 'MANIFEST-000001': '', [file]: 'something' }
    const directory = t.testdir({ objects })
    await using backend = new LevelBackend(directory)
    await t.rejects(backend.open('objects'), { code: 'LK_STORAGE_CORRUPT' })
    t.equal(await readFile(join(directory, 'objects', file), 'utf8'), 'something')
  }
})

/** A store with tables and a log, as a crash leaves it: opened twice, and never said to be closed. */
async function crashed(directory: string): Promise<string> {
  const profiles = { objects: { writeBufferBytes: 64 * 1024 } }
  for (let round = 0; round < 2; round++) {
    await using backend = new LevelBackend(directory, { profiles })
    const storage = await backend.open('objects')
    for (let n = 0; n < 40; n++) {
      await put(storage, numbered(40 * round + n), Buffer.alloc(8000, 40 * round + n))
    }
  }
  const place = join(directory, 'objects')
  await rm(join(place, 'CLOSED'), { force: true })
  return place
}

async function holdsAll(directory: string): Promise<boolean> {
  await using backend = new LevelBackend(directory)
  const storage = await backend.open('objects')
  const values = await storage.getMany(Array.from({ length: 80 }, (_, n) => numbered(n)))
  return values.every((value, n) => value?.length === 8000 && value[0] === n)
}

/** What verifying and salvaging find, which read the files without LevelDB. */
async function toldOf(directory: string): Promise<{ damage: string[]; keys: number }> {
  const files = await LevelFiles.open(directory)
  const damage: string[] = []
  for await (const { message } of files.damage()) damage.push(message)
  let keys = 0
  for await (const page of files.partitions.objects.scan({ keysOnly: true })) keys += page.length
  await files.close()
  return { damage, keys }
}

const manifestIn = async (place: string) =>
  join(
    place,
    (await readdir(place)).find((name) => name.startsWith('MANIFEST-'))!,
  )

void t.test(
  'whatever a crash leaves of CURRENT, the newest whole MANIFEST is opened',
  async (t) => {
    for (const content of ['MANIFEST-000002\n', 'MANIF', '', undefined]) {
      const directory = t.testdir()
      const place = await crashed(directory)
      // Older ones that a crash has brought back, and a newer one that was not yet synced.
      await writeFile(join(place, 'MANIFEST-000002'), await readFile(await manifestIn(place)).then((bytes) => bytes.subarray(0, 60))) // prettier-ignore
      await writeFile(join(place, 'MANIFEST-000999'), '\0'.repeat(100))
      if (content === undefined) await rm(join(place, 'CURRENT'))
      else await writeFile(join(place, 'CURRENT'), content)
      t.same(await toldOf(directory), { damage: [], keys: 80 }, JSON.stringify(content))
      t.ok(await holdsAll(directory), JSON.stringify(content))
      // Files may come to be that it names.
      t.notOk((await readdir(place)).includes('MANIFEST-000999'))
    }
  },
)

void t.test(
  'the last record of a MANIFEST may be cut short where all before it is there',
  async (t) => {
    const directory = t.testdir()
    const place = await crashed(directory)
    await appendFile(await manifestIn(place), Buffer.alloc(33, 7))
    t.same(await toldOf(directory), { damage: [], keys: 80 })
    t.ok(await holdsAll(directory))

    // Here the record is all that speaks of a table whose log is gone.
    const lost = t.testdir()
    const manifest = await manifestIn(await crashed(lost))
    await truncate(manifest, (await readFile(manifest)).length - 1)
    await using backend = new LevelBackend(lost)
    await t.rejects(backend.open('objects'), { code: 'LK_STORAGE_CORRUPT' })
  },
)

void t.test(
  'names of linked partitions, and what is cut off a MANIFEST, last',
  { skip },
  async (t) => {
    const directory = t.testdir({ root: { data: {}, elsewhere: {} } })
    const root = await realpath(join(directory, 'root'))
    const place = await crashed(join(root, 'elsewhere'))
    await appendFile(await manifestIn(place), Buffer.alloc(33, 7))
    const before = readTree(root)
    await symlink(place, join(root, 'data', 'objects'))
    const program = `import { LevelBackend } from './dist/adapters/level/index.js'
    const backend = new LevelBackend(process.argv[1])
    await backend.open('objects')
    await backend.close()`
    const args = ['--input-type=module', '-e', program, join(root, 'data')]
    await mkdir(join(directory, 'shim'))
    const { syncs } = await journalOf({ directory: join(directory, 'shim'), root, before, args })
    const paths = syncs.filter(({ byLevel }) => !byLevel).map(({ path }) => path)
    t.ok(paths.includes('/elsewhere'), 'the partition')
    t.ok(paths.includes('/data'), 'the link to it')
    t.ok(paths.includes(''), 'the location')
    t.ok(paths.some((path) => path.includes('/MANIFEST-')))
  },
)

void t.test(
  'names that are there are synced once for all partitions, before one is given out',
  { skip: process.platform !== 'linux' && 'no /proc' },
  async (t) => {
    const directory = await realpath(t.testdir({ data: {} }))
    const location = join(directory, 'data')
    const openAll = (backend: LevelBackend) =>
      Promise.all((['cores', 'slices', 'objects', 'flows'] as const).map((it) => backend.open(it)))
    const before = new LevelBackend(location)
    await openAll(before)
    await before.close()

    await using file = await open(directory, 'r')
    const prototype = Object.getPrototypeOf(file) as { sync: () => Promise<void> }
    const { sync } = prototype
    t.teardown(() => (prototype.sync = sync))
    const synced: string[] = []
    let letGo = () => {}
    const held = new Promise<void>((resolve) => (letGo = resolve))
    prototype.sync = async function (this: FileHandle) {
      const path = await readlink(`/proc/self/fd/${this.fd}`)
      if (path === location || path === directory) {
        synced.push(path)
        await held
      }
      return sync.call(this)
    }
    const backend = new LevelBackend(location)
    let given = 0
    const opening = openAll(backend).finally(() => given++)
    while (synced.length < 2) await delay(5)
    // Many times what an opening takes.
    await delay(500)
    t.equal(given, 0)
    letGo()
    await opening
    t.strictSame(synced.sort(), [directory, location])
    await backend.close()

    prototype.sync = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
    const failing = new LevelBackend(location)
    await t.rejects(failing.open('objects'), { code: 'LK_STORAGE_FAILED', cause: { code: 'EIO' } })
    await failing.close()
  },
)

void t.test(
  'a value in a file is there once its name is durable, and where that fails nothing is',
  { skip: process.platform !== 'linux' && 'no /proc' },
  async (t) => {
    const location = await realpath(t.testdir())
    const backend = new LevelBackend(location)
    t.teardown(() => backend.close())
    const storage = await backend.open('slices')

    await using file = await open(location, 'r')
    const prototype = Object.getPrototypeOf(file) as { sync: () => Promise<void> }
    const { sync } = prototype
    t.teardown(() => (prototype.sync = sync))
    let syncs = 0
    let answer: () => Promise<void> = () => Promise.resolve()
    prototype.sync = async function (this: FileHandle) {
      const path = await readlink(`/proc/self/fd/${this.fd}`)
      if (path === join(location, 'slices', 'values')) {
        syncs++
        await answer()
      }
      return sync.call(this)
    }
    const put = (n: number) =>
      storage.write([{ type: 'put', key: numbered(n), value: new Uint8Array(200_000) }])

    let letGo = () => {}
    const held = new Promise<void>((resolve) => (letGo = resolve))
    answer = () => held
    const written: number[] = []
    const writes = [1, 2, 3].map((n) => put(n).then(() => written.push(n)))
    while (syncs < 1) await delay(5)
    // Many times what a write takes.
    await delay(300)
    t.strictSame(written, [])
    t.equal(await storage.get(numbered(1)), undefined)
    letGo()
    await Promise.all(writes)
    t.strictSame(written, [1, 2, 3])
    t.ok(syncs <= 2, `${syncs} syncs for three values`)

    // One by one, and many that go on when the first has failed.
    const fails = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }))
    answer = fails
    await t.rejects(put(4), { code: 'LK_STORAGE_FAILED', cause: { code: 'EIO' } })
    await t.rejects(put(5), { code: 'LK_STORAGE_UNAVAILABLE' })
    const works = async (n: number) => {
      for (;;) {
        const code = await put(n).catch((error: unknown) => (error as { code: string }).code)
        if (code !== 'LK_STORAGE_UNAVAILABLE') return t.equal(code, undefined)
        await delay(20)
      }
    }
    answer = () => Promise.resolve()
    await works(6)
    answer = fails
    const many = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => put(100 + n)))
    t.ok(many.every(({ status }) => status === 'rejected'))
    answer = () => Promise.resolve()
    await works(6)

    // What is refused by itself leaves the partition in service, and its failed sync is nobody else's.
    answer = fails
    const require = [{ type: 'absent', key: numbered(6) }] as const
    const value = new Uint8Array(200_000)
    const refused = storage.write([{ type: 'put', key: numbered(7), value }], { require })
    await t.rejects(refused, { code: 'LK_STORAGE_CONFLICT' })
    answer = () => Promise.resolve()
    await put(8)
    t.equal(await storage.get(numbered(4)), undefined)
    t.equal((await storage.get(numbered(6)))?.length, 200_000)
  },
)
