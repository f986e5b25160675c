// What is asked of the kernel for values in files: seen at node:fs, whose calls go on to it as they are.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'

const MiB = 1024 * 1024

interface Written {
  readonly flags: number | string
  readonly calls: number[]
  isSynced: boolean
}

/** By the path, of files that were made since. */
const files = new Map<string, Written>()
const byHandle = new Map<number, Written>()

type Callback = (error: Error | null, result?: number) => void
const { open, writev, fdatasync } = fs
const spied = {
  open(path: string, flags: number | string, done: Callback): void {
    const written: Written = { flags, calls: [], isSynced: false }
    open(path, flags, (error, file) => {
      if (error === null && /values.[0-9a-f]{24}$/.test(path)) {
        files.set(path, written)
        byHandle.set(file, written)
      }
      done(error, file)
    })
  },
  writev(file: number, values: Uint8Array[], at: number, done: Callback): void {
    byHandle.get(file)?.calls.push(values.reduce((sum, { length }) => sum + length, 0))
    writev(file, values, at, done)
  },
  fdatasync(file: number, done: Callback): void {
    fdatasync(file, (error) => {
      const written = byHandle.get(file)
      if (error === null && written !== undefined) written.isSynced = true
      done(error)
    })
  },
}
Object.assign(fs, spied)
// Before the adapter is there: it takes some of them when it is loaded.
syncBuiltinESMExports()
const { LevelBackend } = await import('../../adapters/level/index.js')

const { O_DSYNC } = fs.constants

void t.test('what is written is synced, a mebibyte at most by each call', async (t) => {
  const backend = new LevelBackend(t.testdir())
  const storage = await backend.open('slices')
  const key = new Uint8Array(1)
  for (const length of [64 * 1024, MiB, MiB + 1, 3 * MiB + 5]) {
    files.clear()
    byHandle.clear()
    await storage.write([{ type: 'put', key, value: new Uint8Array(length) }], { durable: true })
    const [written, ...others] = files.values()
    t.same(others, [])
    t.equal(
      written?.calls.reduce((sum, bytes) => sum + bytes, 0),
      length,
    )
    t.ok(
      written?.calls.every((bytes) => bytes <= MiB),
      `${length}: ${String(written?.calls)}`,
    )
    // By the call that writes it where Linux can, and behind it elsewhere.
    const isShort = process.platform === 'linux' && length <= MiB
    t.equal(written?.isSynced, !isShort, `${length} is synced behind it`)
    if (isShort) t.ok((Number(written?.flags) & O_DSYNC) === O_DSYNC, `${length} by the call`)
  }
  await backend.close()
})
