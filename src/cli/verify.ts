// `lorekeep verify`: whether all of a data directory is as it should be, and what is whole of it.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { performance } from 'node:perf_hooks'
import { LevelBackend } from '../../adapters/level/index.js'
import { LevelFiles, type FileDamage } from '../../adapters/level/files.js'
import { assertRestored } from '../backup/marker.js'
import { hasCode } from '../errors.js'
import { salvageStores } from '../salvage-stores.js'
import type { Salvaged } from '../salvage-stores.js'
import type { Finding, VerifyProgress } from '../verify/finding.js'
import { keyText } from '../verify/report.js'
import { verifyStores } from '../verify-stores.js'
import { describe, interruptible, Interrupted, note, ReaderLeft, UsageError } from './failure.js'
import { formatBytes, formatCounted, printable } from './figures.js'
import { writeJson, writeOut } from './output.js'
import { createProgress, units } from './progress.js'

export interface VerifyCommandOptions {
  readonly deep?: true
  readonly salvage?: true
  readonly json?: true
}

export async function verifyDirectory(
  directory: string,
  target: string | undefined,
  options: VerifyCommandOptions,
): Promise<void> {
  if (options.salvage === true && target === undefined) {
    throw new UsageError('--salvage needs a second directory, for what is whole')
  }
  if (options.salvage !== true && target !== undefined) {
    throw new UsageError('a second directory is for --salvage')
  }
  const tally: Tally = { errors: 0 }
  try {
    await interruptible(async (signal) => {
      await checkStore(directory)
      const files = await LevelFiles.open(directory)
      try {
        await checkRestored(files)
        if (target === undefined) await verify(files, options, signal, tally)
        else await salvage(files, directory, target, options, signal, tally)
      } finally {
        await files.close()
      }
    })
  } catch (error) {
    if (error instanceof Interrupted) throw error
    // 1 says that something was found.
    if (!(error instanceof ReaderLeft)) throw new UsageError(describe(error), { cause: error })
  }
  // Also where whoever read of the first error had seen enough.
  if (tally.errors > 0) process.exitCode = 1
}

/** The errors that were found until now; of a salvage, what was left behind, and damaged files. */
interface Tally {
  errors: number
}

async function verify(
  files: LevelFiles,
  { deep, json }: VerifyCommandOptions,
  signal: AbortSignal,
  tally: Tally,
): Promise<void> {
  const start = performance.now()
  const progress = shownProgress()
  let leftovers = 0
  const tell = async (finding: Finding) => {
    if (finding.severity === 'error') tally.errors++
    else leftovers++
    progress.pause()
    await print(finding, json)
  }
  try {
    for await (const damage of files.damage()) {
      signal.throwIfAborted()
      await tell(findingOf(damage))
    }
    for await (const damage of files.valueDamage(signal)) await tell(findingOf(damage))
    const { partitions } = files
    const sources = () => ({ partitions, pass: () => {}, close: async () => {} })
    const { onProgress } = progress
    for await (const finding of verifyStores(sources, {
      deep: deep ?? false,
      signal,
      onProgress,
    })) {
      await tell(finding)
    }
  } finally {
    progress.stop()
  }
  const { entries, bytes } = progress.read()
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const read = `${formatCounted(entries, 'entry', 'entries')}, ${formatBytes(bytes)} in ${seconds} s`
  const { errors } = tally
  const found = errors === 0 ? 'nothing is wrong' : formatCounted(errors, 'error')
  const left = leftovers > 0 ? `, ${formatCounted(leftovers, 'leftover')} that opening deletes` : ''
  note(`verified ${read}: ${found}${left}`)
}

/** The target is there as a whole, or not at all. */
async function salvage(
  files: LevelFiles,
  directory: string,
  target: string,
  { json }: VerifyCommandOptions,
  signal: AbortSignal,
  tally: Tally,
): Promise<void> {
  const whole = resolve(target)
  await checkTarget(whole, directory)
  const suffix = randomBytes(6).toString('hex')
  const partial = join(dirname(whole), `${basename(whole)}.partial-${suffix}`)
  const progress = shownProgress()
  let salvaged: Salvaged
  try {
    await mkdir(partial)
    await using backend = new LevelBackend(partial)
    const { onProgress } = progress
    salvaged = await salvageStores(files.partitions, backend, { signal, onProgress })
    await backend.close()
    // Empty, or it does not work.
    await rmdir(whole).catch(ifMissing)
    await rename(partial, whole)
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  } finally {
    progress.stop()
  }
  tally.errors += salvaged.findings.length
  let damagedFiles = 0
  for await (const damage of files.damage()) {
    damagedFiles++
    tally.errors++
    await print(findingOf(damage), json)
  }
  for (const finding of salvaged.findings) await print(finding, json)
  const { cores, segments, bytes, schemas, collections, objects, flows, jobs, findings } = salvaged
  if (json) {
    await writeJson({
      salvaged: { cores, segments, bytes, schemas, collections, objects, flows, jobs },
    })
  }
  const kept = [
    `${formatCounted(cores, 'core')} (${formatCounted(segments, 'segment')}, ${formatBytes(bytes)})`,
    `${formatCounted(objects, 'object')} of ${formatCounted(schemas, 'schema')}`,
    `${formatCounted(flows, 'flow')} with ${formatCounted(jobs, 'job')}`,
  ]
  note(`salvaged ${kept.join(', ')} into ${target}`)
  if (findings.length > 0)
    note(`${formatCounted(findings.length, 'thing')} left behind, named above`)
  if (damagedFiles > 0) {
    const found = formatCounted(damagedFiles, 'damage to files', 'damages to files')
    note(`${found}, named above: what those held may be lost without a name`)
  }
}

function findingOf({ partition, file, key, message }: FileDamage): Finding {
  const of = key === undefined ? '' : `, for the value of ${keyText(key)}`
  return { severity: 'error', partition, code: 'damaged', what: file, message: message + of }
}

async function print(finding: Finding, json: true | undefined): Promise<void> {
  if (json) return writeJson(finding)
  const { severity, partition, code, what, message } = finding
  const line = [severity, partition, code, what, message].map(printable).join('\t')
  await writeOut(`${line}\n`)
}

function shownProgress() {
  const progress = createProgress(undefined, units.entries)
  let last: VerifyProgress = { partition: 'cores', entries: 0, bytes: 0 }
  return {
    onProgress: (next: VerifyProgress) => {
      progress.bytes(next.bytes - last.bytes)
      progress.count(next.entries)
      last = next
    },
    read: () => last,
    /** A line on stdout would stand behind the bar. */
    pause: () => {
      if (process.stdout.isTTY && process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    },
    stop: () => progress.stop(),
  }
}

/** Looking at a directory that is misspelt must not say that all is well. */
async function checkStore(directory: string): Promise<void> {
  let names: readonly string[]
  try {
    names = await readdir(directory)
  } catch (cause) {
    throw new Error(`there is no data directory '${directory}'`, { cause })
  }
  const partitions = ['cores', 'slices', 'objects', 'flows']
  if (!partitions.some((name) => names.includes(name))) {
    throw new Error(`there is no store in '${directory}'`)
  }
}

/** A part of a backup has every gap there can be; it is no damage, and not worth a salvage. */
async function checkRestored({ partitions }: LevelFiles): Promise<void> {
  try {
    await assertRestored(partitions.cores)
  } catch (error) {
    // It is found with everything else.
    if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
  }
}

async function checkTarget(target: string, directory: string): Promise<void> {
  const damaged = await realpath(directory)
  // What is not whole yet lies beside the target.
  for (const place of [target, dirname(target)]) {
    const path = relative(damaged, await realPathOf(place))
    if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) continue
    throw new Error(`'${target}' lies in '${directory}', which has to stay as it is`)
  }
  try {
    if (!(await stat(target)).isDirectory()) throw new Error(`'${target}' is not a directory`)
    if ((await readdir(target)).length > 0) throw new Error(`'${target}' is not empty`)
  } catch (error) {
    ifMissing(error)
  }
}

/** Also of what is not there yet. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    ifMissing(error)
    return join(await realPathOf(dirname(path)), basename(path))
  }
}

function ifMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
