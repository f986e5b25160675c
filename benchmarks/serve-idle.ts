// What `lorekeep serve` takes while nobody asks it anything: processor time of all threads in a minute, and memory,
// over an empty store, as it is packed, on Linux. Two minutes after the start, when the engine has cleared up what that
// left.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bench from './measure.js'
import { statusKiB } from './process-status.js'

const rounds = Number(process.env['ROUNDS'] ?? 3)
const settlingMs = 120_000
const minuteMs = 60_000
const mostMsOfMinute = 60
const mostMiB = 60

execFileSync(process.execPath, ['scripts/package.js', 'dist/package'], { stdio: 'inherit' })
bench.note('serve-idle')
const processor: number[] = []
const memory: number[] = []
for (let round = 0; round < rounds; round++) {
  await bench.inDirectory(async (directory) => {
    const args = ['dist/package/dist/cli.js', 'serve', '--data', join(directory, 'data')]
    const child = spawn(process.execPath, [...args, '--port', '0'], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    const pid = child.pid ?? 0
    try {
      await sleep(settlingMs)
      const before = bench.processorMs(pid) ?? NaN
      await sleep(minuteMs)
      processor.push((bench.processorMs(pid) ?? NaN) - before)
      memory.push(statusKiB('VmRSS', pid) / 1024)
      bench.note(`  ${processor.at(-1)?.toFixed(1)} ms, ${memory.at(-1)?.toFixed(1)} MiB`)
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  })
}
const scenario = 'serve, nobody asks'
const asked = { scenario, peer: 'processor time in a minute' }
bench.reportValues(asked, processor, 'ms', { most: mostMsOfMinute })
bench.reportValues({ scenario, peer: 'resident memory' }, memory, 'MiB', { most: mostMiB })
