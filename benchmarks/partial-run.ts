// What has ended of a run that becomes a file, kept beside it until all has: a run takes hours.

import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { writeWholeFile } from '../src/whole-file.js'
import type { Line, Origin } from './result.js'

interface Kept extends Origin {
  readonly scenarios: Record<string, readonly Line[]>
}

export class PartialRun {
  readonly #file: string
  readonly #path: string
  readonly #kept: Kept

  private constructor(file: string, path: string, kept: Kept) {
    this.#file = file
    this.#path = path
    this.#kept = kept
  }

  /**
   * Of this machine and commit, or a new one. A tree that has changes, or of which nobody knows the commit, may be
   * another one each time.
   */
  static open(file: string, origin: Origin): PartialRun {
    const path = `${file}.part`
    const kept = read(path)
    const isSure = !/dirty|unknown/.test(origin.commit)
    const isSame = kept?.commit === origin.commit && kept.machine === origin.machine
    return new PartialRun(file, path, isSure && isSame ? kept : { ...origin, scenarios: {} })
  }

  get origin(): Origin {
    const { machine, date, commit } = this.#kept
    return { machine, date, commit }
  }

  linesOf(name: string): readonly Line[] | undefined {
    return this.#kept.scenarios[name]
  }

  async add(name: string, lines: readonly Line[]): Promise<void> {
    this.#kept.scenarios[name] = lines
    await writeWholeFile(this.#path, once(`${JSON.stringify(this.#kept)}\n`))
  }

  /** All has ended: the file is there, and what was kept beside it is not. */
  async finish(json: string): Promise<void> {
    await writeWholeFile(this.#file, once(json))
    await rm(this.#path, { force: true })
  }
}

/** It is there whole or not at all. */
function read(path: string): Kept | undefined {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return JSON.parse(text) as Kept
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
