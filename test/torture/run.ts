// npm run torture [-- NAME AMOUNT, such as crash 500]: long runs, each with its seed printed (SEED
// repeats it). All of them, with how much each does, stand below.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresBackend } from '../../adapters/postgres/index.js'
import { skip } from '../adapters/postgres/cluster.js'
import { pickSeed } from '../fixtures/random.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { backupRuns } from './backup.js'
import { bitrot } from './bitrot.js'
import { bombs } from './bomb.js'
import { browserRun } from './browser.js'
import { conditionalWrites } from './conditional-writes.js'
import { crashLoop } from './crash.js'
import { diskfull } from './diskfull.js'
import { failovers } from './failover.js'
import { flowsCrashLoop } from './flows-crash.js'
import { flowModelRuns } from './flows-model-run.js'
import { fuzz } from './fuzz.js'
import { graphCrashLoop } from './graph-crash.js'
import { noBrowser } from '../client/browser.js'
import { largeRun } from '../inspector/large.js'
import { libraryRuns } from './library.js'
import { lockRaces } from './locks.js'
import { objectsCrashLoop } from './objects-crash.js'
import { findRuns } from './objects-finds.js'
import { modelRuns } from './objects-model-run.js'
import { compareWithOracle } from './objects-oracle.js'
import { powerCutMutants } from './powercut-mutants.js'
import { inDatabase } from './place.js'
import { isWhole, memoryDirectory, powerCuts, whyNot } from './powercut.js'
import { sharedCores, sharedFlows, sharedObjects } from './shared.js'
import { sharedKills } from './shared-kills.js'
import { snapshotRuns } from './snapshots.js'
import { soak } from './soak.js'
import { storm } from './storm.js'

const runs: Readonly<Record<string, (amount: number, seed: number) => Promise<unknown>>> = {
  backup: (backups, seed) =>
    inDirectory(async (base) => {
      const directory = (run: number) => join(base, String(run))
      const memory = await backupRuns({ engine: 'memory', backups, seed, directory })
      const level = await backupRuns({ engine: 'level', backups, seed, directory })
      return { memory, level }
    }),
  bitrot: (rounds, seed) =>
    inDirectory((directory) => {
      const onRound = (round: number) => {
        if (round % 50 === 49) console.log(`  ${round + 1} of ${rounds} rounds`)
      }
      return bitrot({ directory, rounds, seed, onRound })
    }),
  bomb: (gigabytes) => inDirectory((directory) => bombs(directory, gigabytes)),
  browser: (megabytes) => inDirectory((directory) => browserRun(directory, megabytes)),
  // A tenth of as many over a database besides, where one is installed.
  conditions: async (histories, seed) => {
    const memory = new SharedMemory()
    const backends = [memory.backend(), memory.backend()] as const
    const shared = await conditionalWrites({ backends, histories, seed })
    await memory.close()
    if (skip !== false) return { shared }
    const database = await inDatabase(async (dataOf) => {
      const url = dataOf('conditions')
      const backends = [new PostgresBackend({ url }), new PostgresBackend({ url })] as const
      return conditionalWrites({ backends, histories: Math.ceil(histories / 10), seed })
    })
    return { shared, database }
  },
  crash: (cycles, seed) => inDirectory((data) => crashes(crashLoop, data, cycles, seed)),
  diskfull: (cycles, seed) => inDirectory((directory) => diskfull({ directory, cycles, seed })),
  // A primary of PostgreSQL that is killed, and a standby that takes its place.
  failover: (rounds, seed) => {
    const onRound = (round: number) => console.log(`  ${round + 1} of ${rounds} fail-overs`)
    return failovers({ rounds, seed, onRound })
  },
  'flows-crash': (cycles, seed) =>
    inDirectory((data) => crashes(flowsCrashLoop, data, cycles, seed)),
  'flows-model': async (runs, seed) => {
    const memory = await flowModelRuns({ engine: 'memory', runs, seed })
    const level = await flowModelRuns({ engine: 'level', runs: Math.ceil(runs / 10), seed })
    return { memory, level }
  },
  fuzz: async (streams, seed) => fuzz({ streams, seed }),
  'graph-crash': (cycles, seed) =>
    inDirectory((data) => crashes(graphCrashLoop, data, cycles, seed)),
  // A core of many MB into the inspector, and out of it: the browser's memory stays as it was.
  inspector: async (megabytes) => {
    if (noBrowser !== false) return `skipped: ${noBrowser}`
    return inDirectory(async (directory) => {
      const report = await largeRun(directory, megabytes)
      assert.ok(report.addedBytes < 400e6, JSON.stringify(report))
      return report
    })
  },
  library: (steps, seed) => inDirectory((directory) => libraryRuns({ directory, steps, seed })),
  locks: (rounds, seed) =>
    inDirectory((directory) => {
      const onRound = (round: number) => {
        if (round % 100 === 99) console.log(`  ${round + 1} of ${rounds} rounds`)
      }
      return lockRaces({ directory, rounds, seed, onRound })
    }),
  'locks-far': (rounds, seed) =>
    inDirectory((directory) => {
      const onRound = (round: number) => {
        if (round % 10 === 9) console.log(`  ${round + 1} of ${rounds} rounds`)
      }
      return lockRaces({ directory, rounds, seed, onRound, far: true })
    }),
  'objects-crash': (cycles, seed) =>
    inDirectory((data) => crashes(objectsCrashLoop, data, cycles, seed)),
  'objects-finds': (runs, seed) => findRuns({ runs, seed }),
  'objects-model': async (runs, seed) => {
    const cacheBytes = 16 * 1024
    const memory = await modelRuns({ engine: 'memory', runs, seed, cacheBytes })
    const level = await modelRuns({ engine: 'level', runs: Math.ceil(runs / 4), seed, cacheBytes })
    return { memory, level }
  },
  'objects-oracle': (pairs, seed) => compareWithOracle({ pairs, seed }),
  // Each of the four crash runs on a PostgreSQL of its own.
  postgres: (cycles, seed) =>
    inDatabase(async (dataOf) => ({
      knowledge: await crashes(crashLoop, dataOf('knowledge'), cycles, seed),
      graph: await crashes(graphCrashLoop, dataOf('graph'), cycles, seed),
      objects: await crashes(objectsCrashLoop, dataOf('objects'), cycles, seed),
      flows: await crashes(flowsCrashLoop, dataOf('flows'), cycles, seed),
    })),
  // Power cuts in each of six models, and the same with one sync after the other taken out.
  powercut: (cuts, seed) =>
    withPower(async (directory) => {
      const report = await powerCuts({
        directory,
        cuts,
        seed,
        onSession: ({ sessions }) => {
          if (sessions % 10 === 0) console.log(`  ${sessions * 10} of ${cuts} cuts in each model`)
        },
      })
      console.table(report.models)
      assert.ok(isWhole(report), report.failures.join('\n'))
      return `${report.sessions} sessions`
    }),
  'powercut-mutants': (cuts, seed) =>
    withPower((directory) => powerCutMutants({ directory, cuts, seed, onMutant: console.log })),
  // Processes that share a database, of which one is killed again and again.
  'shared-kills': (cycles, seed) =>
    inDatabase((dataOf) => crashes(sharedKills, dataOf('shared'), cycles, seed)),
  // Several stores over one backend, as processes have it.
  shared: async (runs, seed) => {
    const half = Math.ceil(runs / 2)
    const pages = { engine: 'memory', runs: half, seed } as const
    const queue = { engine: 'shared', runs: half, seed } as const
    const two = { runs: half, processes: 2, seed }
    const four = { runs: half, processes: 4, seed }
    const works = {
      'objects, two': () => modelRuns({ ...pages, stores: 2, cacheBytes: 64 * 1024 }),
      'objects, four': () => modelRuns({ ...pages, stores: 4, cacheBytes: 1 }),
      'queues, two': () => flowModelRuns({ ...queue, queues: 2 }),
      'queues, four': () => flowModelRuns({ ...queue, queues: 4 }),
      'objects of processes, two': () => sharedObjects(two),
      'objects of processes, four': () => sharedObjects(four),
      'flows of processes, two': () => sharedFlows(two),
      'flows of processes, four': () => sharedFlows(four),
      'cores of processes, two': () => sharedCores(two),
      'cores of processes, four': () => sharedCores(four),
    }
    // It takes hours.
    for (const [name, work] of Object.entries(works)) {
      console.log(`  ${name}: ${JSON.stringify(await work())}`)
    }
    return `${half} runs of each`
  },
  snapshots: (runs, seed) =>
    inDirectory((base) =>
      snapshotRuns({ runs, seed, directory: (run) => join(base, String(run)) }),
    ),
  soak: (rounds, seed) => inDirectory((directory) => soak({ directory, rounds, seed })),
  storm: async (imports, seed) => {
    const run = (environment: Readonly<Record<string, string>>, mostAboveIdleMiB: number) =>
      inDirectory((directory) => {
        return storm({ directory, imports, seed, environment, mostAboveIdleMiB })
      })
    // As docs/operations.md advises, and as it comes, where glibc keeps some 100 MiB more of what was freed (docs/http.md).
    const oneArena = await run({ MALLOC_ARENA_MAX: '1' }, 300)
    return { oneArena, asItComes: await run({}, 400) }
  },
}
const amounts: Readonly<Record<string, number>> = {
  backup: 200,
  bitrot: 500,
  bomb: 10,
  browser: 200,
  conditions: 10_000,
  crash: 200,
  diskfull: 10,
  failover: 10,
  'flows-crash': 100,
  'flows-model': 500,
  fuzz: 100_000,
  'graph-crash': 100,
  inspector: 2148,
  library: 20_000,
  locks: 1000,
  'locks-far': 10,
  'objects-crash': 100,
  'objects-finds': 200,
  'objects-model': 300,
  'objects-oracle': 100_000,
  postgres: 50,
  powercut: 500,
  'powercut-mutants': 100,
  shared: 200,
  'shared-kills': 200,
  snapshots: 2000,
  soak: 300,
  storm: 2000,
}

const [only, amount] = process.argv.slice(2)
for (const [name, run] of Object.entries(runs)) {
  if (only !== undefined && only !== name) continue
  const seed = pickSeed()
  console.log(`${name}, seed ${seed}`)
  console.log(' ', JSON.stringify(await run(Number(amount ?? amounts[name]), seed)))
}

type CrashLoop = (options: {
  readonly data: string
  readonly cycles: number
  readonly seed: number
  readonly onCycle: (cycle: number) => void
}) => Promise<unknown>

function crashes(loop: CrashLoop, data: string, cycles: number, seed: number): Promise<unknown> {
  const onCycle = (cycle: number) => {
    if (cycle % 20 === 19) console.log(`  ${cycle + 1} of ${cycles} cycles`)
  }
  return loop({ data, cycles, seed, onCycle })
}

async function withPower(work: (directory: string) => Promise<unknown>): Promise<unknown> {
  const reason = whyNot()
  return reason === undefined ? inDirectory(work, memoryDirectory()) : `skipped: ${reason}`
}

async function inDirectory<T>(
  work: (directory: string) => Promise<T>,
  parent = tmpdir(),
): Promise<T> {
  const directory = await mkdtemp(join(parent, 'lorekeep-torture-'))
  const result = await work(directory)
  // Kept where the work failed.
  await rm(directory, { recursive: true })
  return result
}
