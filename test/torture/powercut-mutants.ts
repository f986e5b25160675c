// Whether the power cuts of powercut.ts see faults: one sync after the other is taken out, and each
// time something has to be lost, torn, or not to open.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { models, type Model, type SyncCall } from './powercut-journal.js'
import { isWhole, location, powerCuts } from './powercut.js'

const isPartition = ({ path, directory, byLevel }: SyncCall) =>
  !byLevel && directory && /^\/(cores|slices|objects|flows)$/.test(inLocation(path))

interface Mutant {
  readonly ignored: (sync: SyncCall) => boolean
  /** Where that can be seen: all, the ones where names need the directory's sync, the last. */
  readonly models: readonly Model[]
}

const byDirectory: readonly Model[] = [4, 5, 6]

/**
 * Syncs by what they are for. Not here: that of the bytes of CLOSED, whose being there says most of
 * it; and that of a MANIFEST that was cut back, which is too rare
 * to be met by chance (a test of its own looks for the call).
 */
const mutants: Readonly<Record<string, Mutant>> = {
  'batches: the log': {
    ignored: ({ path, byLevel }) => byLevel && path.endsWith('.log'),
    models,
  },
  'value files: their bytes': {
    ignored: ({ path, byLevel }) => !byLevel && /values\/[0-9a-f]{24}$/.test(path),
    models,
  },
  'value files: their names': {
    ignored: ({ path, byLevel }) => !byLevel && path.endsWith('/values'),
    models: byDirectory,
  },
  'new logs: their names': {
    ignored: (sync) => isPartition(sync) && sync.phase === 'open',
    models: byDirectory,
  },
  'CLOSED: the names it speaks of': {
    ignored: (sync) => isPartition(sync) && sync.phase === 'closing',
    models: [3, 5, 6],
  },
  'partitions: their names': { ignored: ({ path }) => path === location, models: [6] },
  'the location: its name': { ignored: ({ path }) => path === '/made/for it', models: [6] },
  'its parent: its name': { ignored: ({ path }) => path === '/made', models: [6] },
  'the parent above: its name': { ignored: ({ path }) => path === '', models: [6] },
  // LevelDB's own, that the rest rests on.
  'LevelDB: names at an open and a compaction': {
    ignored: ({ directory, byLevel }) => byLevel && directory,
    models: byDirectory,
  },
  'LevelDB: the bytes of MANIFEST': {
    ignored: ({ path, byLevel }) => byLevel && path.includes('MANIFEST-'),
    models,
  },
  'LevelDB: the bytes of tables': {
    ignored: ({ path, byLevel }) => byLevel && /\.(ldb|sst)$/.test(path),
    models,
  },
}

const inLocation = (path: string) => path.slice(location.length)

/** Throws where one survives so many cuts in each of its models. */
export async function powerCutMutants(options: {
  readonly directory: string
  readonly cuts: number
  readonly seed: number
  readonly only?: readonly string[]
  readonly onMutant?: (line: string) => void
}): Promise<{ readonly killed: number; readonly survived: readonly string[] }> {
  const { directory, cuts, seed, only, onMutant } = options
  const survived: string[] = []
  const names = Object.keys(mutants).filter((name) => only?.includes(name) ?? true)
  for (const [index, name] of names.entries()) {
    const report = await powerCuts({
      directory: join(directory, String(index)),
      cuts,
      seed: seed + index,
      cutsPerSession: 4,
      ...mutants[name]!,
      untilFailure: true,
    })
    const tried = Object.values(report.models).reduce((sum, { cuts }) => sum + cuts, 0)
    if (isWhole(report)) survived.push(name)
    onMutant?.(
      `  ${name}: ${isWhole(report) ? `SURVIVED ${tried} cuts` : `failed at cut ${tried}, ${report.failures[0]!.slice(0, 160)}`}`,
    )
  }
  assert.deepEqual(survived, [], 'mutants that survived')
  return { killed: names.length, survived }
}
