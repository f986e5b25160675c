// Starts level-child in a process of its own. Tests run after `tsc`: the child is compiled.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Command } from './level-child.js'

export interface Child {
  readonly pid: number
  /** Sends a command and waits for its answer. */
  ask(command: Command): Promise<unknown>
  /** The answers, for commands that give several. */
  readonly answers: AsyncIterator<string>
  kill(): Promise<void>
}

export function startChild(directory: string, partition = 'objects'): Child {
  const script = resolve('dist/test/adapters/level-child.js')
  const child = spawn(process.execPath, [script, directory, partition], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    // Set once spawned; a failed spawn shows as the end of the answers.
    pid: child.pid ?? 0,
    answers,
    async ask(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error('the child ended without an answer')
      return JSON.parse(value) as unknown
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
