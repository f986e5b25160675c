// Runs in a mount namespace of its own, so that its small disk is gone when it ends, however it
// ends. Fills the disk and frees it under a process that writes, kills that when it has recovered,
// and looks for all that was acknowledged. Arguments: directory, seed, cycles.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Random } from '../fixtures/random.js'
import { groupSize, profiles, schema, user } from './diskfull-content.js'
import { mountFailed } from './diskfull.js'
import type { DiskfullReport } from './diskfull.js'

const [mount, seed, cycles] = process.argv.slice(2) as [string, string, string]
const random = new Random(Number(seed))
try {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=28m', 'tmpfs', mount], { stdio: 'pipe' })
} catch (error) {
  console.log(String(error))
  process.exit(mountFailed)
}

const directory = join(mount, 'data')
const filler = join(mount, 'filler')
const longestWaitMs = 60_000

/** Of a core or a group of objects: the versions that may be there. */
interface Versions {
  acknowledged: number
  begun: number[]
}
const known = new Map<string, Versions>()
const jobs = new Set<string>()
let version = 0
const totals = { acknowledged: 0, refused: 0, fills: 0, killed: 0, closed: 0, closedFull: 0 }

for (let cycle = 0; cycle < Number(cycles); cycle++) {
  const writer = startWriter()
  await writer.until(() => writer.open && writer.allWrite())
  for (let fills = 1 + random.below(2); fills > 0; fills--) {
    fill()
    totals.fills++
    await writer.until(() => writer.refused.size > 0)
    await delay(random.below(400))
    free()
    writer.mark()
    // In a third of the cycles the first store that works again is enough.
    await writer.until(() => (random.chance(1 / 3) ? writer.oneWrites() : writer.allWrite()))
  }
  const recovered = writer.allWrite()
  const end = random.pick(['kill', 'kill', 'kill full', 'close', 'close full'])
  if (end.endsWith('full')) fill()
  if (end.startsWith('kill')) await writer.kill()
  else await writer.close()
  const hasClosing = await access(join(directory, 'objects', 'CLOSED')).then(
    () => true,
    () => false,
  )
  if (end.startsWith('kill')) {
    totals.killed++
    assert.equal(hasClosing, false)
  } else {
    totals.closed++
    if (!hasClosing) totals.closedFull++
    if (end === 'close' && recovered) assert.ok(hasClosing)
  }
  free()
  await check(`cycle ${cycle}, ${end}`)
}
const report: DiskfullReport = totals
console.log(JSON.stringify(report))

function startWriter() {
  const child = spawn(
    process.execPath,
    ['dist/test/torture/diskfull-child.js', directory, String(random.below(2 ** 31)), `${version}`],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const ended = once(lines, 'close')
  const strange: string[] = []
  const waiting = new Set<() => void>()
  const refused = new Set<string>()
  /** What was acknowledged since mark(), of writes that had begun since then. */
  const begun = new Set<number>()
  const done = new Set<string>()
  const writer = {
    open: false,
    refused,
    mark: () => [refused, begun, done].forEach((set) => set.clear()),
    allWrite: () => done.size === 3,
    oneWrites: () => done.size > 0,
    /** Whatever is right at last has to be so within a minute. */
    until: async (condition: () => boolean) => {
      const deadline = Date.now() + longestWaitMs
      while (!condition()) {
        assert.ok(
          Date.now() < deadline,
          `still waiting after ${longestWaitMs} ms: ${child.exitCode}`,
        )
        assert.deepEqual(strange, [])
        assert.equal(child.exitCode, null)
        await Promise.race([new Promise<void>((resolve) => waiting.add(resolve)), delay(500)])
        waiting.clear()
      }
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
      await ended
      assert.deepEqual(strange, [])
    },
    close: async () => {
      child.stdin.write('close\n')
      const late = delay(longestWaitMs, ['late'], { ref: false })
      const [code] = (await Promise.race([exited, late])) as [unknown]
      await ended
      assert.deepEqual(strange, [])
      assert.equal(code, 0)
    },
  }
  lines.on('line', (line) => {
    const [word, kind = '', name = '', number = '', job = ''] = line.split(' ')
    const n = Number(number)
    const key = `${kind} ${name}`
    if (word === 'open') writer.open = true
    else if (word === 'begin') {
      version = Math.max(version, n + 1)
      begun.add(n)
      const versions = known.get(key) ?? { acknowledged: -1, begun: [] }
      versions.begun.push(n)
      known.set(key, versions)
    } else if (word === 'done') {
      totals.acknowledged++
      if (kind === 'flow') jobs.add(job)
      else known.get(key)!.acknowledged = n
      if (begun.has(n)) done.add(kind)
    } else if (word === 'refused') {
      totals.refused++
      refused.add(kind)
    } else if (word === 'strange') strange.push(line)
    for (const wake of waiting) wake()
  })
  return writer
}

function fill(): void {
  const file = openSync(filler, 'a')
  try {
    for (const size of [1 << 20, 1 << 12]) {
      const bytes = Buffer.alloc(size, 1)
      try {
        for (;;) if (writeSync(file, bytes) < size) break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function free(): void {
  rmSync(filler, { force: true })
}

/** Everything that was acknowledged is there, or what was begun later in its place; and whole. */
async function check(when: string): Promise<void> {
  const keep = await createLorekeep({ backend: new LevelBackend(directory, { profiles }) })
  const { knowledge, objects, flows } = keep
  for (const [key, versions] of known) {
    const [kind, name = ''] = key.split(' ')
    if (kind === 'flow') continue
    const found = kind === 'core' ? await coreVersion(name) : await groupVersion(name)
    const { acknowledged, begun } = versions
    const possible = found === acknowledged || (found > acknowledged && begun.includes(found))
    assert.ok(possible, `${when}, ${key}: ${found}, acknowledged was ${acknowledged}`)
    // It is what stands there from now on.
    known.set(key, { acknowledged: found, begun: [] })
  }
  for (const job of jobs) assert.ok(await flows.job(job), `${when}: job ${job} is gone`)
  await keep.close()

  async function coreVersion(id: string): Promise<number> {
    if ((await knowledge.stat({ user, id })) === undefined) return -1
    const found = new Set<number>()
    for await (const [type, body] of knowledge.messages({ user, id })) {
      assert.equal(type, 't')
      for (const { s } of (body as { t: readonly { s: { v: string } }[] }).t) {
        found.add(Number(/version (\d+)/.exec(decodeURI(s.v))?.[1]))
      }
    }
    assert.equal(found.size, 1, `${when}: ${id} is of several versions`)
    return [...found][0]!
  }

  async function groupVersion(collection: string): Promise<number> {
    const found: unknown[] = []
    const query = { schema_name: schema.name, filters: { _collection: collection } }
    for await (const { version } of objects.find(query)) found.push(version)
    if (found.length === 0) return -1
    assert.equal(found.length, groupSize, `${when}: ${collection} has ${found.length} objects`)
    assert.equal(new Set(found).size, 1, `${when}: ${collection} is of several versions`)
    return found[0] as number
  }
}
