// What `lorekeep serve` takes while nobody asks it anything: processor time of all threads in a minute, and memory,
// over an empty store, as it is packed, on Linux. Two minutes after the start, when the engine has cleared up what that
// left. Beside it the memory of what cannot be left out: a server of node:http, and four directories of LevelDB.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as bench from './measure.js'
import { classicLevelUrl } from './peers.js'
import { statusKiB } from './process-status.js'

const rounds = Number(process.env['ROUNDS'] ?? 3)
const settlingMs = 120_000
const minuteMs = 60_000
const mostMsOfMinute = 60
const mostMiB = 60

const bareServer = `
  import { createServer } from 'node:http'
  import level from ${JSON.stringify(classicLevelUrl)}
  for (const name of ['1', '2', '3', '4']) {
    await new level.ClassicLevel(process.argv[1] + '/' + name).open()
  }
  createServer((request, response) => response.end()).listen(0)
`

execFileSync(process.execPath, ['scripts/package.js', 'dist/package'], { stdio: 'inherit' })
bench.note('serve-idle')
const processor: number[] = []
const memory: number[] = []
const needed: number[] = []
for (let round = 0; round < rounds; round++) {
  await bench.inDirectory(async (directory) => {
    const serve = ['dist/package/dist/cli.js', 'serve', '--data', join(directory, 'data')]
    await using ours = started([...serve, '--port', '0'])
    await using bare = started(['--input-type=module', '--eval', bareServer, directory])
    await sleep(settlingMs)
    const before = bench.processorMs(ours.pid) ?? NaN
    await sleep(minuteMs)
    processor.push((bench.processorMs(ours.pid) ?? NaN) - before)
    memory.push(statusKiB('VmRSS', ours.pid) / 1024)
    needed.push(statusKiB('VmRSS', bare.pid) / 1024)
    const [ms, mib, least] = [processor, memory, needed].map((all) => all.at(-1)?.toFixed(1))
    bench.note(`  ${ms} ms, ${mib} MiB, ${least} MiB of what is needed`)
  })
}
const scenario = 'serve, nobody asks'
const asked = { scenario, peer: 'processor time in a minute' }
bench.reportValues(asked, processor, 'ms', { most: mostMsOfMinute })
bench.reportValues({ scenario, peer: 'resident memory' }, memory, 'MiB', { most: mostMiB })
const bareName = 'resident memory of a bare server of node:http with four of LevelDB'
bench.reportValues({ scenario, peer: bareName }, needed, 'MiB')

function started(args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  return {
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
