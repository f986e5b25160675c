// `lorekeep objects import`: any number of objects, in batches.

import { performance } from 'node:perf_hooks'
import { withObjects } from '../../access/access.js'
import { BrokenInput } from '../../input/json-splitter.js'
import { CutShort, describe, interruptible, note } from '../../output/failure.js'
import { formatBytes, formatCount, formatCounted } from '../../output/figures.js'
import { importTarget } from './import-target.js'
import type { ImportTarget, TargetOptions } from './import-target.js'
import { openInput } from '../../input/input.js'
import type { Input } from '../../input/input.js'
import type { ObjectAccess } from '../../access/object-access.js'
import { batchesOf, importWithoutBad } from './object-batches.js'
import type { Batch } from './object-batches.js'
import { readObjects } from '../../input/object-input.js'
import type { InputObject } from '../../input/object-input.js'
import { unlessLeft, writeJson } from '../../output/output.js'
import { counted, createProgress, units } from '../../output/progress.js'
import type { Progress } from '../../output/progress.js'
import { RefusalReport } from './refusal-report.js'
import type { Refusal } from './refusal-report.js'

interface ObjectImportCommandOptions extends TargetOptions {
  readonly batch: number
  readonly onDuplicate: 'reject' | 'replace' | 'skip'
  readonly report?: string
  readonly skip: number
  readonly json?: true
}

/** @throws CutShort where not all of the input was read; an error too where objects were refused */
export async function importObjects(
  file: string,
  options: ObjectImportCommandOptions,
): Promise<void> {
  const start = performance.now()
  const { report: reportFile = defaultReport(file), skip } = options
  const report = new RefusalReport(reportFile, { append: skip > 0 })
  const input = await openInput(file, 'objects')
  const progress = createProgress(input.bytes, units.objects)
  const run = new ImportRun(options, report, progress)
  let hasFailed = true
  try {
    await report.checkApartFrom(file)
    await withObjects(options, { create: false }, (access) =>
      interruptible((signal) => run.read(access, input, signal)),
    )
    hasFailed = report.count > 0
  } finally {
    progress.stop()
    await report.close()
    // Stdin that nobody reads to its end would keep the process alive.
    input.stream.destroy()
    if (options.json && run.target !== undefined) {
      const told = writeJson(run.summary())
      await (hasFailed ? unlessLeft(told) : told)
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const line = `${run.sentence()}: ${formatBytes(run.bytes)} in ${seconds} s`
  if (report.count > 0) throw new Error(line)
  note(line)
}

class ImportRun {
  bytes = 0
  target: ImportTarget | undefined
  readonly #options: ObjectImportCommandOptions
  readonly #report: RefusalReport
  readonly #progress: Progress
  readonly #underWay: { readonly batch: Batch; readonly outcome: Promise<readonly Refusal[]> }[] =
    []
  /** Everything before this index is stored, or reported. */
  #done: number
  #complete = false
  #imported = 0
  #replaced = 0
  #skipped = 0

  constructor(options: ObjectImportCommandOptions, report: RefusalReport, progress: Progress) {
    this.#options = options
    this.#report = report
    this.#progress = progress
    this.#done = options.skip
  }

  async read(access: ObjectAccess, input: Input, signal: AbortSignal): Promise<void> {
    const { skip, batch: size } = this.#options
    const stop = () => input.stream.destroy(signal.reason as Error)
    signal.addEventListener('abort', stop)
    // Whoever reads it gets the error too.
    input.stream.on('error', () => {})
    const source = counted(input.stream, {
      ...this.#progress,
      bytes: (added) => {
        this.bytes += added
        this.#progress.bytes(added)
      },
    })
    try {
      const { request, objects } = await readObjects(source, skip)
      const target = await importTarget(this.#options, request)
      const { id_field } = await access.schema(target.schema_name)
      this.target = target
      for await (const batch of batchesOf(objects, size, id_field)) {
        signal.throwIfAborted()
        // Two at once: the store shares a durable write between imports that wait. But never two
        // with an id in common, of which the first in the input has to be the first to come.
        while (this.#underWay.length === 2 || this.#isTouched(batch.ids)) await this.#settleOldest()
        this.#start(access, target, batch, id_field)
      }
      while (this.#underWay.length > 0) await this.#settleOldest()
      this.#complete = true
    } catch (error) {
      throw await this.#cutShort(error)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  summary(): unknown {
    const { count, file } = this.#report
    return {
      schema_name: this.target?.schema_name,
      collection: this.target?.metadata.collection,
      from: this.#options.skip,
      done: this.#done,
      complete: this.#complete,
      imported: this.#imported,
      replaced: this.#replaced,
      skipped: this.#skipped,
      refused: count,
      ...(count > 0 && { report: file }),
    }
  }

  /** `imported 49,997 objects into 'shop' (2 replaced, 1 skipped), refused 3 (see FILE)` */
  sentence(): string {
    const notes = [
      ...(this.#replaced > 0 ? [`${formatCount(this.#replaced)} replaced`] : []),
      ...(this.#skipped > 0 ? [`${formatCount(this.#skipped)} skipped`] : []),
    ]
    const where = `into '${this.target?.metadata.collection}'`
    const imported = `imported ${formatCounted(this.#imported, 'object')} ${where}`
    const extra = notes.length === 0 ? '' : ` (${notes.join(', ')})`
    return imported + extra + this.#refused()
  }

  #refused(): string {
    const { count, file } = this.#report
    return count === 0 ? '' : `, refused ${formatCount(count)} (see ${file})`
  }

  #isTouched(ids: ReadonlySet<string>): boolean {
    return this.#underWay.some(({ batch }) => [...ids].some((id) => batch.ids.has(id)))
  }

  #start(access: ObjectAccess, target: ImportTarget, batch: Batch, idField: string): void {
    const { onDuplicate } = this.#options
    const { id, ...metadata } = target.metadata
    const outcome = importWithoutBad(batch.objects, idField, async (objects) => {
      const result = await access.import(
        {
          metadata: { id: batchId(id, objects), ...metadata },
          schema_name: target.schema_name,
          objects,
        },
        { onDuplicate },
      )
      this.#imported += result.imported
      this.#replaced += result.replaced
      this.#skipped += result.skipped
      return result
    })
    // It may fail while an older one is waited for.
    outcome.catch(() => {})
    this.#underWay.push({ batch, outcome })
  }

  /** Fails as the batch did, which then stays the oldest. */
  async #settleOldest(): Promise<void> {
    const [oldest] = this.#underWay
    if (oldest === undefined) return
    await this.#report.add(await oldest.outcome)
    this.#underWay.shift()
    this.#done = oldest.batch.end
    this.#progress.count(this.#done - this.#options.skip)
  }

  /** Waits for what is under way, and says from where to go on. */
  async #cutShort(error: unknown): Promise<unknown> {
    let isExact = true
    try {
      while (this.#underWay.length > 0) await this.#settleOldest()
    } catch {
      // What comes after it must not be taken for done; it may be stored nevertheless.
      isExact = false
      await Promise.allSettled(this.#underWay.map(({ outcome }) => outcome))
    }
    if (this.target === undefined) return error
    const { skip, onDuplicate } = this.#options
    const done =
      this.#done === skip
        ? 'no object is done'
        : `objects ${formatCount(skip)} to ${formatCount(this.#done - 1)} are done`
    const mode = isExact || onDuplicate !== 'reject' ? '' : ' --on-duplicate skip'
    const rest = mode === '' ? '' : ', some of the next may be stored'
    // No number of skipped objects leads past what cannot be told apart.
    const mend = error instanceof BrokenInput ? `mend line ${error.line}, then ` : ''
    return new CutShort(
      `${describe(error)}; ${done}${this.#refused()}${rest}: ${mend}go on with --skip ${this.#done}${mode}`,
      error,
    )
  }
}

function defaultReport(file: string): string {
  return file === '-' ? 'lorekeep-refused.ndjson' : `${file}.refused.ndjson`
}

/** Each batch has an id of its own: that of the import, and where in the input it begins. */
function batchId(id: string, objects: readonly InputObject[]): string {
  return `${id}/${objects[0]?.index ?? 0}`
}
