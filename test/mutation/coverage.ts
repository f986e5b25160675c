// Which test files execute which place of the compiled code, as V8 counts it.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runTestFile } from '../test-file.js'

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface Report {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

export interface Covering {
  readonly file: string
  readonly seconds: number
  /** By path below the root: a byte for each character, 1 where it was executed. */
  readonly executed: ReadonlyMap<string, Uint8Array>
}

/**
 * Runs a test file. Children that were killed, and threads that were terminated, report nothing.
 * @throws Error where it fails by itself
 */
export async function cover(file: string, lengths: ReadonlyMap<string, number>): Promise<Covering> {
  const directory = await mkdtemp(join(tmpdir(), 'lorekeep-coverage-'))
  try {
    const { ok, tap, seconds } = await runTestFile(file, { env: { NODE_V8_COVERAGE: directory } })
    if (!ok) throw new Error(`${file} fails as it is:\n${tap}`)
    const executed = new Map<string, Uint8Array>()
    const root = `${pathToFileURL(process.cwd()).href}/`
    for (const name of await readdir(directory)) {
      const { result } = JSON.parse(await readFile(join(directory, name), 'utf8')) as Report
      for (const { url, functions } of result) {
        const path = url.startsWith(root) ? url.slice(root.length) : undefined
        const length = path === undefined ? undefined : lengths.get(path)
        if (path === undefined || length === undefined) continue
        const all = executed.get(path) ?? new Uint8Array(length)
        executed.set(path, all)
        const here = new Uint8Array(length)
        // Outer ranges come before those inside them.
        for (const { ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            here.fill(count > 0 ? 1 : 0, startOffset, endOffset)
          }
        }
        for (let at = 0; at < length; at++) if (here[at] === 1) all[at] = 1
      }
    }
    return { file, seconds, executed }
  } finally {
    await rm(directory, { recursive: true })
  }
}
