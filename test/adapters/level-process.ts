// Starts level-child in a process of its own, and level-thread in a thread. Tests run after `tsc`: the child is compiled.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { Command } from './level-child.js'

export interface Child {
  readonly pid: number
  /** Sends a command and waits for its answer. */
  ask(command: Command): Promise<unknown>
  /** The answers, for commands that give several. */
  readonly answers: AsyncIterator<string>
  kill(): Promise<void>
}

/** `through`: a command that runs another, for a process with namespaces of its own. */
export function startChild(
  directory: string,
  partition = 'objects',
  through: readonly string[] = [],
): Child {
  const script = resolve('dist/test/adapters/level-child.js')
  const [command = '', ...rest] = [...through, process.execPath, script, directory, partition]
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
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

export interface Thread {
  /** 'ok' or the code of opening the partition `objects`. */
  readonly outcome: Promise<string>
  close(): Promise<void>
  /** Ends the thread where it stands. */
  terminate(): Promise<void>
}

export function startThread(directory: string): Thread {
  const thread = new Worker(resolve('dist/test/adapters/level-thread.js'), {
    workerData: { directory },
  })
  const exited = once(thread, 'exit')
  return {
    outcome: once(thread, 'message').then(([outcome]) => outcome as string),
    async close() {
      thread.postMessage('close')
      await exited
    },
    async terminate() {
      await thread.terminate()
    },
  }
}
