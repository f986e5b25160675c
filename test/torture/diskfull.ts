// A disk that is filled and freed under all three stores. Needs to mount one: as root, or where the
// system lets users make namespaces.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

export interface DiskfullReport {
  readonly acknowledged: number
  readonly refused: number
  readonly fills: number
  readonly killed: number
  readonly closed: number
  /** Of those, without a file that says so: the disk was full. */
  readonly closedFull: number
}

/** The exit code for want of a disk. */
export const mountFailed = 77

interface DiskfullOptions {
  readonly directory: string
  readonly cycles: number
  readonly seed: number
}

/** A string says why it was not run. */
export async function diskfull({
  directory,
  cycles,
  seed,
}: DiskfullOptions): Promise<DiskfullReport | string> {
  if (process.platform !== 'linux') return 'needs a tmpfs, of Linux'
  const mount = `${directory}/disk`
  await mkdir(mount, { recursive: true })
  const host = ['dist/test/torture/diskfull-host.js', mount, String(seed), String(cycles)]
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const child = spawn('unshare', [...asRoot, '--mount', process.execPath, ...host], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, problem, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    Promise.race([once(child, 'exit'), once(child, 'error').then(() => [mountFailed])]),
  ])
  if (code === mountFailed || /^unshare: /.test(problem)) {
    return `no disk can be mounted here: ${output}${problem}`
  }
  if (code !== 0) throw new Error(`seed ${seed}: ${problem || `exit code ${code}`}`)
  return JSON.parse(output.trim().split('\n').at(-1)!) as DiskfullReport
}
