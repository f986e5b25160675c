// The report of an import: a line of NDJSON per refused object, which `objects import` takes again
// once the objects in it are mended.

import { open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { UsageError } from '../../output/failure.js'
import type { InputObject } from '../../input/object-input.js'
import type { Problem } from '../../../door/problems.js'

export interface Refusal {
  readonly object: InputObject
  readonly id: string | number | null
  /** Their paths are into the object. */
  readonly errors: readonly Problem[]
}

export class RefusalReport {
  readonly file: string
  /** Lines written by this run. */
  count = 0
  readonly #append: boolean
  #handle: FileHandle | undefined

  /** The file is made, or emptied unless `append` is set, when there is a first line for it. */
  constructor(file: string, { append }: { readonly append: boolean }) {
    this.file = file
    this.#append = append
  }

  /** @throws UsageError where the report would overwrite what is read */
  async checkApartFrom(input: string): Promise<void> {
    const [report, read] = await Promise.all(
      [this.file, input].map((file) => stat(file).catch(() => undefined)),
    )
    if (report?.isDirectory()) throw new UsageError(`--report: '${this.file}' is a directory`)
    if (report === undefined || report.ino !== read?.ino || report.dev !== read.dev) return
    throw new UsageError(`the report '${this.file}' is the input: --report names another file`)
  }

  async add(refusals: readonly Refusal[]): Promise<void> {
    if (refusals.length === 0) return
    this.#handle ??= await open(this.file, this.#append ? 'a' : 'w')
    await this.#handle.appendFile(refusals.map(lineOf).join(''))
    this.count += refusals.length
  }

  /** On disk, before anyone is told that these objects are done with. */
  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    // A named pipe, or /dev/null, has nothing to flush.
    await handle?.sync().catch(() => {})
    await handle?.close()
  }
}

/** The object comes last, in its own words: a number that no double can hold stays what it is. */
function lineOf({ object: { line, index, text }, id, errors }: Refusal): string {
  return `${JSON.stringify({ line, index, id, errors }).slice(0, -1)},"object":${text}}\n`
}
