// Failed writes, crashes: what is acknowledged stays.

import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { collect, hex, keysOf, numbered, text } from '../suite/bytes.js'
import { startChild } from './level-process.js'

/** A disk that is full, for one process: files may not grow past a size. */
function limitFiles(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--fsize=${bytes}:unlimited`, '--pid', String(pid)])
}

const options = process.platform === 'linux' ? {} : { skip: 'needs prlimit' }

void t.test(
  'a failed write takes the partition out of service until it works again',
  options,
  async (t) => {
    const directory = t.testdir()
    const child = startChild(directory)
    t.teardown(() => child.kill())
    const acknowledged = new Set<number>()

    t.strictSame(
      await child.ask({ do: 'write', from: 0, to: 20, bytes: 1000 }),
      Array(20).fill('ok'),
    )
    for (let number = 0; number < 20; number++) acknowledged.add(number)

    // Not one byte: neither the log nor a reopened database can be written.
    limitFiles(child.pid, 1)
    t.strictSame(await child.ask({ do: 'fail', from: 100, to: 110, bytes: 1000 }), [
      'LK_STORAGE_FAILED',
      ...Array<string>(12).fill('LK_STORAGE_UNAVAILABLE'),
    ])
    t.strictSame(
      await child.ask({ do: 'write', from: 110, to: 120, bytes: 1000 }),
      Array(10).fill('LK_STORAGE_UNAVAILABLE'),
    )

    limitFiles(child.pid, 'unlimited')
    const met = (await child.ask({ do: 'retry', number: 200, bytes: 1000 })) as string[]
    t.equal(met.at(-1), 'ok')
    acknowledged.add(200)
    const after = (await child.ask({ do: 'write', from: 201, to: 220, bytes: 1000 })) as string[]
    t.strictSame(after, Array(19).fill('ok'))
    for (let number = 201; number < 220; number++) acknowledged.add(number)
    await child.kill()

    const backend = new LevelBackend(directory)
    t.teardown(() => backend.close())
    const found = new Set(await keysOf(await backend.open('objects')))
    for (const number of acknowledged)
      t.ok(found.has(hex(numbered(number))), `write ${number} is there`)
    for (let number = 101; number < 120; number++) {
      t.notOk(found.has(hex(numbered(number))), `write ${number} was refused`)
    }
  },
)

void t.test(
  'writes that fail again and again lose nothing that was acknowledged',
  options,
  async (t) => {
    const directory = t.testdir()
    const child = startChild(directory)
    t.teardown(() => child.kill())
    await child.ask({ do: 'open' })
    // Small enough that the log meets the limit every few writes, large enough to reopen.
    limitFiles(child.pid, 64 * 1024)
    const acknowledged: number[] = []
    const refused = new Set<string>()
    for (let number = 0; number < 60; number++) {
      const [outcome] = (await child.ask({
        do: 'write',
        from: number,
        to: number + 1,
        bytes: 9000,
      })) as string[]
      if (outcome === 'ok') acknowledged.push(number)
      else refused.add(outcome!)
    }
    t.ok(refused.has('LK_STORAGE_FAILED'), 'the limit was met')
    limitFiles(child.pid, 'unlimited')
    await child.ask({ do: 'retry', number: 1000, bytes: 9000 })
    await child.kill()

    const backend = new LevelBackend(directory)
    t.teardown(() => backend.close())
    const found = new Set(await keysOf(await backend.open('objects')))
    for (const number of [...acknowledged, 1000]) {
      t.ok(found.has(hex(numbered(number))), `write ${number} is there`)
    }
  },
)

void t.test(
  'another directory in the place of the one that failed is left alone',
  options,
  async (t) => {
    const directory = t.testdir()
    const child = startChild(directory)
    t.teardown(() => child.kill())
    await child.ask({ do: 'write', from: 0, to: 5, bytes: 1000 })
    const [place, aside] = [join(directory, 'objects'), join(directory, 'aside')]
    // Before the failure: LevelDB creates a directory that vanishes while it is being opened.
    await rename(place, aside)
    await mkdir(place)
    limitFiles(child.pid, 1)
    await child.ask({ do: 'fail', from: 100, to: 101, bytes: 1000 })
    for (const replaced of [true, false]) {
      if (replaced) limitFiles(child.pid, 'unlimited')
      for (let attempt = 0; attempt < 10; attempt++) {
        const outcome = await child.ask({ do: 'write', from: 101, to: 102, bytes: 1000 })
        t.strictSame(outcome, ['LK_STORAGE_UNAVAILABLE'])
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      if (!replaced) break
      t.strictSame(await readdir(place), [])
      await rmdir(place)
    }
    t.strictSame(await readdir(directory), ['aside'])
    await rename(aside, place)
    await child.ask({ do: 'retry', number: 200, bytes: 1000 })
    t.equal(await child.ask({ do: 'close' }), 'ok')
    const backend = new LevelBackend(directory)
    t.teardown(() => backend.close())
    const found = await keysOf(await backend.open('objects'))
    t.ok([0, 1, 2, 3, 4, 200].every((number) => found.includes(hex(numbered(number)))))
  },
)

void t.test('a partition out of service can be closed', options, async (t) => {
  const child = startChild(t.testdir())
  t.teardown(() => child.kill())
  await child.ask({ do: 'write', from: 0, to: 5, bytes: 1000 })
  limitFiles(child.pid, 1)
  await child.ask({ do: 'fail', from: 100, to: 101, bytes: 1000 })
  t.equal(await child.ask({ do: 'close' }), 'ok')
  t.equal(await child.ask({ do: 'open' }), 'LK_CLOSED')
})

void t.test('a killed process leaves every acknowledged write, whole', async (t) => {
  const directory = t.testdir()
  const child = startChild(directory)
  t.teardown(() => child.kill())
  const acknowledged: number[] = [(await child.ask({ do: 'pairs' })) as number]
  while (acknowledged.length < 300) {
    const { value } = (await child.answers.next()) as { value: string }
    acknowledged.push(Number(value))
  }
  await child.kill()

  const backend = new LevelBackend(directory)
  t.teardown(() => backend.close())
  const storage = await backend.open('objects')
  for (const number of acknowledged) {
    const [a, b] = await storage.getMany([text(`a${number}`), text(`b${number}`)])
    t.ok(a && b, `pair ${number}`)
  }
  const entries = await collect(storage.scan({}))
  const names = new Set(entries.map(({ key }) => Buffer.from(key).toString()))
  for (const name of names) {
    t.ok(
      names.has((name.startsWith('a') ? 'b' : 'a') + name.slice(1)),
      `${name} has its other half`,
    )
  }
})
