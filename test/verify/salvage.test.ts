// Stores on disk with one file damaged: it is said, nothing is changed, and what is whole is salvaged
// into a store that has no findings.

import {
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LevelFiles } from '../../adapters/level/files.js'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { decodeKey } from '../../src/keys.js'
import { salvageObjects } from '../../src/objects/salvage.js'
import type { Backend, Storage } from '../../src/storage.js'
import type { Finding } from '../../src/verify/finding.js'
import { Report } from '../../src/verify/report.js'
import { verifyStores } from '../../src/verify-stores.js'
import { altered } from '../fixtures/altered-storage.js'
import { Random } from '../fixtures/random.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { fill } from './filled.js'
import { contentOf, salvage } from './salvaged.js'

/** RUNS=300 takes some minutes. */
const runs = Number(process.env['RUNS'] ?? 5)
const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)

t.test(`one damaged file is found, and the rest salvaged (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const root = t.testdir()
  const original = join(root, 'original')
  const older = await filled(original)
  const all = await contentOf(new LevelBackend(original))
  // Closing and opening has made new files.
  const kinds = new Map<string, string[]>()
  for (const file of filesIn(original)) {
    const kind = /(CURRENT|MANIFEST|\.log|\.ldb|values)/.exec(file)?.[0]
    if (kind === undefined || statSync(join(original, file)).size === 0) continue
    const name = `${kind} of ${file.split('/')[0]}`
    kinds.set(name, [...(kinds.get(name) ?? []), file])
  }
  const cases = [...kinds].flatMap(([kind, files]) =>
    (['gone', 'cut', 'flipped'] as const).map((how) => ({ kind, files, how })),
  )
  for (let n = 0; n < runs; n++) {
    const { kind, files, how } = random.pick(cases)
    const file = random.pick(files)
    const damaged = join(root, 'damaged')
    cpSync(original, damaged, { recursive: true })
    const path = join(damaged, file)
    const bytes = readFileSync(path)
    if (how === 'gone') rmSync(path)
    else if (how === 'cut') writeFileSync(path, bytes.subarray(0, random.below(bytes.length)))
    else {
      bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
      writeFileSync(path, bytes)
    }
    const before = fingerprint(damaged)
    const place = `${kind}, ${how}: ${file}`
    const opened = await LevelFiles.open(damaged)
    const found = await findingsIn(opened)
    t.ok(found > 0, `${place}: is found`)
    const target = join(root, 'salvaged')
    const backend = new LevelBackend(target)
    const { cores, objects, jobs } = await salvage(opened.partitions, backend)
    await backend.close()
    await opened.close()
    t.strictSame(fingerprint(damaged), before, `${place}: nothing was changed`)
    const lines = await deepFindings(new LevelBackend(target))
    t.strictSame(lines, [], `${place}: what is salvaged has no findings`)
    const kept = await contentOf(new LevelBackend(target))
    // Where the newest is lost, an older version may be what is left.
    const strange = [...kept].filter(
      ([name, content]) => all.get(name) !== content && older.get(name) !== content,
    )
    t.strictSame(strange, [], `${place}: what is salvaged is what was there`)
    t.ok(cores + objects + jobs > 0, `${place}: something is`)
    const isLost = kept.size < all.size
    if (/CURRENT|MANIFEST/.test(kind)) t.notOk(isLost, `${place}: all is salvaged`)
    rmSync(damaged, { recursive: true })
    rmSync(target, { recursive: true })
  }
})

t.test(
  'runs of a salvage are as long as they stay, and go from memory with their table',
  async (t) => {
    const from = new KeptBackend(new MemoryBackend())
    const keep = await createLorekeep({ backend: from })
    for (const name of ['a', 'b']) {
      const fields = { id: { type: 'integer' } }
      await keep.objects.defineSchema({ name, fields, indexes: ['id'] })
    }
    const count = 60_000
    for (const [n, schema_name] of ['a', 'b'].entries()) {
      const metadata = { id: 'b', user: 'u', collection: 'c' }
      for (let at = 0; at < count; at += 10_000) {
        const values = Array.from({ length: 10_000 }, (_, k) => ({ id: n * count + at + k }))
        await keep.objects.import({ metadata, schema_name, values })
      }
    }
    await keep.close()
    const written: string[] = []
    const storage = await new MemoryBackend().open('objects')
    const write: Storage['write'] = async (operations, options) => {
      for (const { key } of operations as readonly { key: Uint8Array }[]) {
        const [kind, number] = decodeKey(key)
        written.push(kind === 'run' ? `run of ${number}` : String(kind))
      }
      await storage.write(operations, options)
    }
    const report = new Report({ deep: true })
    const source = await from.open('objects')
    const salvaging = salvageObjects(source, altered(storage, { write }), report)
    for await (const finding of salvaging) t.fail(JSON.stringify(finding))
    // Of indexes 0, which is that of ids, 1 and 2.
    t.strictSame(
      written.filter((kind) => kind.startsWith('run')),
      ['run of 1', 'run of 2', 'run of 0'],
    )
    t.ok(written.slice(written.indexOf('run of 1')).filter((kind) => kind === 'page').length > 300)
  },
)

/** In tables, in logs, and in files of their own. Gives what there was before the last changes. */
async function filled(directory: string): Promise<Map<string, string>> {
  const first = new LevelBackend(directory)
  await fill(first)
  await first.close()
  const older = await contentOf(new LevelBackend(directory))
  const second = new LevelBackend(directory)
  const keep = await createLorekeep({ backend: second })
  await keep.objects.patch('shop', 'p1', { name: 'of the log' })
  await keep.knowledge.delete({ user: 'bob', id: 'empty' })
  await keep.flows.define({ id: 'later', steps: ['chunk'] })
  await keep.close()
  return older
}

async function findingsIn(files: LevelFiles): Promise<number> {
  let found = 0
  for await (const _ of files.damage()) found++
  const { partitions } = files
  const sources = () => ({ partitions, pass: () => {}, close: async () => {} })
  for await (const { severity } of verifyStores(sources, { deep: true })) {
    if (severity === 'error') found++
  }
  return found
}

async function deepFindings(backend: Backend): Promise<Finding[]> {
  await using keep = await createLorekeep({ backend })
  const found: Finding[] = []
  for await (const finding of keep.verify({ deep: true })) found.push(finding)
  return found
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(directory, file)).isFile())
    .sort()
}

function fingerprint(directory: string): string[] {
  return filesIn(directory).map((file) => {
    const path = join(directory, file)
    return existsSync(path) ? `${file} ${readFileSync(path).toString('latin1').length}` : file
  })
}
