// `lorekeep verify`: whether all of a data directory is as it should be, and what is whole of it.

import { readdir } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { LevelFiles, type FileDamage } from '../../../../adapters/level/files.js'
import { partitions as partitionNames } from '../../../backup/format.js'
import { assertRestored } from '../../../backup/marker.js'
import { hasCode } from '../../../errors.js'
import type { Finding } from '../../../verify/finding.js'
import type { Partitions } from '../../../lost-partitions.js'
import { verifyStores } from '../../../verify-stores.js'
import { isDatabase } from '../../config/place.js'
import {
  describe,
  fileError,
  interruptible,
  Interrupted,
  note,
  ReaderLeft,
  UsageError,
} from '../../output/failure.js'
import { formatBytes, formatCounted } from '../../output/figures.js'
import { variable } from '../../config/environment.js'
import { findingOf, printFinding, shownProgress } from './findings.js'
import { salvageDirectory } from './salvage.js'

export interface VerifyCommandOptions {
  readonly data?: string
  readonly deep?: true
  readonly salvage?: true
  readonly json?: true
}

export async function verifyDirectory(
  places: readonly string[],
  options: VerifyCommandOptions,
): Promise<void> {
  const { directory, target } = placesOf(places, options)
  const { json } = options
  /** The errors that were found until now; of a salvage, what was left behind, and damaged files. */
  const tally = { errors: 0 }
  try {
    await interruptible(async (signal) => {
      if (isDatabase(directory)) {
        if (target !== undefined) {
          throw new UsageError('--salvage reads the files of a data directory, not a database')
        }
        // The engine answers for its own files.
        const { databaseSnapshot } = await import('../../access/database.js')
        const { partitions, close } = await databaseSnapshot(directory)
        try {
          await checkRestored(partitions)
          await verify(partitions, none(), options, signal, tally)
        } finally {
          await close()
        }
        return
      }
      await checkStore(directory)
      const files = await LevelFiles.open(directory)
      try {
        await checkRestored(files.partitions)
        if (!files.isTaken) {
          note(
            `'${directory}' cannot be written to, so others cannot be kept from it: what they write meanwhile may look like damage`,
          )
        }
        if (target === undefined) {
          await verify(files.partitions, damageOf(files, signal), options, signal, tally)
        } else {
          const asked = { signal, ...(json && { json }) }
          tally.errors = await salvageDirectory(files, directory, target, asked)
        }
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

function placesOf(
  places: readonly string[],
  { data, salvage }: VerifyCommandOptions,
): { readonly directory: string; readonly target: string | undefined } {
  // With a place, it would be open which of the two is the target of a salvage.
  const first = data ?? (places.length === 0 ? variable('LOREKEEP_DATA') : undefined)
  const [directory, target, ...more] = first === undefined ? places : [first, ...places]
  if (directory === undefined) {
    throw new UsageError('name the data directory: lorekeep verify DIR, or --data DIR')
  }
  if (salvage === true && target === undefined) {
    throw new UsageError(`--salvage needs a directory for what is whole, beside '${directory}'`)
  }
  if (salvage !== true && target !== undefined) {
    throw new UsageError(`'${target}': a directory beside '${directory}' is for --salvage`)
  }
  if (more.length > 0) throw new UsageError(`'${more[0]}': there is one directory too many`)
  return { directory, target }
}

/** Of the files themselves. */
async function* damageOf(files: LevelFiles, signal: AbortSignal): AsyncGenerator<FileDamage> {
  for await (const damage of files.damage()) {
    signal.throwIfAborted()
    yield damage
  }
  yield* files.valueDamage(signal)
}

async function* none(): AsyncGenerator<never> {}

async function verify(
  partitions: Partitions,
  damage: AsyncIterable<FileDamage>,
  { deep, json }: VerifyCommandOptions,
  signal: AbortSignal,
  tally: { errors: number },
): Promise<void> {
  const start = performance.now()
  const progress = shownProgress()
  let leftovers = 0
  const tell = async (finding: Finding) => {
    if (finding.severity === 'error') tally.errors++
    else leftovers++
    progress.pause()
    await printFinding(finding, json)
  }
  try {
    for await (const each of damage) await tell(findingOf(each))
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

/** Looking at a directory that is misspelt must not say that all is well. */
async function checkStore(directory: string): Promise<void> {
  let names: readonly string[]
  try {
    names = await readdir(directory)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw fileError(cause, directory, 'read')
    }
    throw new Error(`there is no data directory '${directory}'`, { cause })
  }
  if (partitionNames.some((name) => names.includes(name))) return
  const path = resolve(directory)
  const hint = partitionNames.some((name) => name === basename(path))
    ? `: it is a part of one; name '${dirname(path)}'`
    : ''
  throw new Error(`there is no store in '${directory}'${hint}`)
}

/** A part of a backup has every gap there can be; it is no damage, and not worth a salvage. */
async function checkRestored(partitions: Partitions): Promise<void> {
  try {
    await assertRestored(partitions.cores)
  } catch (error) {
    // It is found with everything else.
    if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
  }
}
