// Peak memory of importing and then exporting 2 GiB in a process with a heap of 64 MiB, against
// the same program with its store open and nothing to do. Mapped table files count.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { MemoryResult, Sample } from './memory-child.js'
import { check, inDirectory, MiB, note, report } from './measure.js'

const streamBytes = 2048 * MiB

const idle = await run(0)
const busy = await run(streamBytes)
check(busy.bytes >= streamBytes && busy.imported === busy.given, 'the digest of the import')
check(busy.exported === busy.given && busy.exportedBytes === busy.bytes, 'the bytes of the export')

const idlePeak = toMiB(idle.peakKiB)
for (const phase of ['import', 'export'] as const) {
  const samples = busy.samples.filter((sample) => sample.phase === phase)
  const peak = samples.reduce((a, b) => (b.rssKiB > a.rssKiB ? b : a))
  describe(phase, samples)
  figure({
    scenario: `peak RSS, ${phase} of 2 GiB`,
    peer: 'idle process',
    ours: `${toMiB(peak.rssKiB)} MiB (anon ${toMiB(peak.anonKiB)}, file ${toMiB(peak.fileKiB)})`,
    theirs: `${idlePeak} MiB`,
    value: toMiB(peak.rssKiB - idle.peakKiB),
    most: 128,
  })
  const half = samples.slice(samples.length >> 1)
  const third = half.slice(0, half.length >> 1)
  const fourth = half.slice(half.length >> 1)
  figure({
    scenario: `growth of RSS, ${phase}, last quarter`,
    peer: 'third quarter (peaks)',
    ours: `${toMiB(highest(fourth))} MiB`,
    theirs: `${toMiB(highest(third))} MiB`,
    value: toMiB(highest(fourth) - highest(third)),
    most: 8,
  })
}
figure({
  scenario: 'VmHWM, import then export of 2 GiB',
  peer: 'idle process',
  ours: `${toMiB(busy.peakKiB)} MiB`,
  theirs: `${idlePeak} MiB`,
  value: toMiB(busy.peakKiB - idle.peakKiB),
  most: 128,
})

interface MemoryFigure {
  readonly scenario: string
  readonly peer: string
  readonly ours: string
  readonly theirs: string
  readonly value: number
  readonly most: number
}

function figure({ value, most, ...names }: MemoryFigure): void {
  report({ ...names, value, low: value, high: value, unit: 'MiB', target: { most } })
}

async function run(bytes: number): Promise<MemoryResult> {
  return inDirectory(async (directory) => {
    const script = fileURLToPath(new URL('./memory-child.js', import.meta.url))
    const flags = ['--max-old-space-size=64', script, directory, String(bytes)]
    const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
    return JSON.parse(await text(child.stdout)) as MemoryResult
  })
}

function describe(phase: string, samples: readonly Sample[]): void {
  const first = samples[0] as Sample
  const last = samples.at(-1) as Sample
  note(
    `  ${phase}: ${((last.ms - first.ms) / 1000).toFixed(1)} s, RSS (anon, file) in MiB over it:`,
  )
  for (let n = 0; n <= 8; n++) {
    const at = samples[Math.round(((samples.length - 1) * n) / 8)] as Sample
    note(`    ${toMiB(at.rssKiB)} (${toMiB(at.anonKiB)}, ${toMiB(at.fileKiB)})`)
  }
}

function highest(samples: readonly Sample[]): number {
  return Math.max(...samples.map((sample) => sample.rssKiB))
}

function toMiB(kibibytes: number): number {
  return Math.round(kibibytes / 1024)
}
