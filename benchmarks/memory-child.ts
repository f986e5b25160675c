// node --max-old-space-size=64 memory-child.js DIRECTORY BYTES
//
// Opens a store in the directory, imports a stream of so many bytes, exports it, and tells what
// memory that took. With 0 bytes it does nothing for a while instead.

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LevelBackend } from '../adapters/level/index.js'
import { createLorekeep } from '../src/index.js'
import { EndlessStream, ref } from './stream.js'
import { statusKiB } from './process-status.js'

export interface Sample {
  readonly phase: 'import' | 'export' | 'idle'
  readonly ms: number
  readonly rssKiB: number
  readonly anonKiB: number
  readonly fileKiB: number
}

export interface MemoryResult {
  readonly samples: readonly Sample[]
  readonly peakKiB: number
  readonly bytes: number
  /** SHA-256 of the stream as it was made, of what was stored, and of what came out. */
  readonly given: string
  readonly imported: string
  readonly exported: string
  readonly exportedBytes: number
}

const [directory = '', size = '0'] = process.argv.slice(2)
const bytes = Number(size)
const samples: Sample[] = []
let phase: Sample['phase'] = 'idle'

const lorekeep = await createLorekeep({ backend: new LevelBackend(directory) })
const timer = setInterval(sample, 50)
if (bytes === 0) {
  await sleep(2000)
  tell({ bytes, given: '', imported: '', exported: '', exportedBytes: 0 })
} else {
  phase = 'import'
  const stream = new EndlessStream(128 * 1024)
  const { digest } = await lorekeep.knowledge.import(ref, stream.chunks(bytes))
  phase = 'export'
  const hash = createHash('sha256')
  let exportedBytes = 0
  for await (const chunk of await lorekeep.knowledge.export(ref)) {
    hash.update(chunk)
    exportedBytes += chunk.length
  }
  const exported = hash.digest('hex')
  tell({ bytes: stream.bytes, given: stream.digest(), imported: digest, exported, exportedBytes })
}
clearInterval(timer)
await lorekeep.close()

function sample(): void {
  samples.push({
    phase,
    ms: Math.round(performance.now()),
    rssKiB: statusKiB('VmRSS'),
    anonKiB: statusKiB('RssAnon'),
    fileKiB: statusKiB('RssFile'),
  })
}

function tell(outcome: Omit<MemoryResult, 'samples' | 'peakKiB'>): void {
  const peakKiB = statusKiB('VmHWM')
  process.stdout.write(JSON.stringify({ ...outcome, samples, peakKiB } satisfies MemoryResult))
}
