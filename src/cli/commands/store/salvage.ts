// `lorekeep verify --salvage`: what is whole of a data directory, as a new one.

import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { LevelBackend } from '../../../../adapters/level/index.js'
import { syncName } from '../../../../adapters/level/directories.js'
import type { LevelFiles } from '../../../../adapters/level/files.js'
import { salvageStores } from '../../../salvage-stores.js'
import type { Salvaged } from '../../../salvage-stores.js'
import type { Finding, VerifyProgress } from '../../../verify/finding.js'
import { describe, fileError, note, ReaderLeft } from '../../output/failure.js'
import { formatBytes, formatCounted } from '../../output/figures.js'
import { findingOf, printFinding, shownProgress } from './findings.js'
import { writeJson } from '../../output/output.js'

interface SalvageOptions {
  readonly json?: true
  readonly signal: AbortSignal
}

/** The target is there as a whole, or not at all. Gives how much was found that was not whole. */
export async function salvageDirectory(
  files: LevelFiles,
  directory: string,
  target: string,
  { json, signal }: SalvageOptions,
): Promise<number> {
  // The directory itself: a symlink cannot be replaced by what is whole.
  const whole = await realPathOf(resolve(target))
  await checkTarget(whole, directory)
  const progress = shownProgress()
  let hasReader = true
  const print = async (work: () => Promise<void>) => {
    if (!hasReader) return
    try {
      await work()
    } catch (error) {
      // The salvage is what was asked for, whoever reads of it, and wherever that is written.
      hasReader = false
      if (error instanceof ReaderLeft) return
      note(`stdout takes no more lines: ${describe(error)}; the salvage goes on without`)
    }
  }
  const tell = (finding: Finding) => {
    progress.pause()
    return print(() => printFinding(finding, json))
  }
  let damages = 0
  let found = 0
  let salvaged: Salvaged
  try {
    for await (const damage of files.damage()) {
      signal.throwIfAborted()
      damages++
      await tell(findingOf(damage))
    }
    const { onProgress } = progress
    salvaged = await writeTarget(files, whole, { signal, onProgress }, async (finding) => {
      found++
      await tell(finding)
    })
  } finally {
    progress.stop()
  }
  const { cores, segments, bytes, schemas, collections, objects, flows, jobs } = salvaged
  if (json) {
    const counts = { cores, segments, bytes, schemas, collections, objects, flows, jobs }
    await print(() => writeJson({ salvaged: counts }))
  }
  const kept = [
    `${formatCounted(cores, 'core')} (${formatCounted(segments, 'segment')}, ${formatBytes(bytes)})`,
    `${formatCounted(objects, 'object')} of ${formatCounted(schemas, 'schema')}`,
    `${formatCounted(flows, 'flow')} with ${formatCounted(jobs, 'job')}`,
  ]
  note(`salvaged ${kept.join(', ')} into ${target}`)
  if (found > 0) note(`${formatCounted(found, 'thing')} left behind or corrected, named above`)
  if (damages > 0) {
    const counted = formatCounted(damages, 'damage to files', 'damages to files')
    note(`${counted}, named above: what those held may be lost without a name`)
  }
  return damages + found
}

/** Until it is whole it lies beside its place, and cannot be opened as a store. */
async function writeTarget(
  { partitions }: LevelFiles,
  whole: string,
  options: { readonly signal: AbortSignal; readonly onProgress: (read: VerifyProgress) => void },
  tell: (finding: Finding) => Promise<void>,
): Promise<Salvaged> {
  const suffix = randomBytes(6).toString('hex')
  const partial = join(dirname(whole), `${basename(whole)}.partial-${suffix}`)
  try {
    // Everything of everybody is in it: it is for its owner alone.
    await mkdir(partial, 0o700)
    await using backend = new LevelBackend(partial)
    const salvaging = salvageStores(partitions, backend, options)
    let step = await salvaging.next()
    for (; step.done !== true; step = await salvaging.next()) await tell(step.value)
    await backend.close()
    // Empty, or it does not work.
    await rmdir(whole).catch(ifMissing)
    await rename(partial, whole)
    await syncName(whole)
    return step.value
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw fileError(error, whole, 'write')
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
    if ((await lstat(target)).isSymbolicLink()) throw new Error(`'${target}' leads nowhere`)
    const found = await stat(target)
    if (!found.isDirectory()) throw new Error(`'${target}' is not a directory`)
    // What is whole is renamed to it in the end.
    if (found.dev !== (await stat(dirname(target))).dev) {
      throw new Error(`'${target}' is a file system of its own: name a directory in it`)
    }
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
    // Nothing is above a drive that is not there.
    if (dirname(path) === path) throw error
    return join(await realPathOf(dirname(path)), basename(path))
  }
}

function ifMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
