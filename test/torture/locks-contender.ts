// Run by the torture of locks, in a process or a thread of its own: tries to take a directory when
// it is told to, and keeps it until it is told to let go, or ends.

import { closeSync, openSync, unlinkSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { claimDirectory } from '../../adapters/level/open-directories.js'
import type { Claim } from '../../adapters/level/open-directories.js'
import { LorekeepError } from '../../src/errors.js'

export type Order =
  | { do: 'take' }
  | { do: 'release' }
  /** Takes and releases so many times, with a file of this name made and unlinked in between. */
  | { do: 'churn'; times: number; mark: string }

const directory = (workerData as string | null) ?? process.argv[2]!
let claim: Claim | undefined

async function take(): Promise<string> {
  try {
    claim = await claimDirectory(directory)
    claim.assertHeld()
    return 'held'
  } catch (error) {
    return error instanceof LorekeepError ? error.code : String(error)
  }
}

async function release(): Promise<string> {
  await claim?.release()
  claim = undefined
  return 'released'
}

async function churn(times: number, mark: string): Promise<string> {
  let held = 0
  for (let time = 0; time < times; time++) {
    const outcome = await take()
    if (outcome === 'LK_STORAGE_LOCKED') continue
    if (outcome !== 'held') return outcome
    held++
    try {
      // Fails where somebody else is between these lines.
      closeSync(openSync(mark, 'wx'))
      await new Promise((resolve) => setImmediate(resolve))
      unlinkSync(mark)
    } catch (error) {
      return String(error)
    }
    await release()
  }
  return `held ${held} times`
}

async function run(order: Order): Promise<void> {
  if (order.do === 'take') answer(await take())
  else if (order.do === 'release') answer(await release())
  else answer(await churn(order.times, order.mark))
}

function answer(text: string): void {
  if (parentPort) parentPort.postMessage(text)
  else process.send!(text)
}

if (parentPort) parentPort.on('message', run)
else process.on('message', run)
process.on('disconnect', () => process.exit())
answer('ready')
