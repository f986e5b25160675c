// The compiled command: each in a process of its own, or one after the other in a process for all
// of a test file. Tests run after `tsc`.

import { fork, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Test } from 'tap'

export const script = resolve('dist/src/cli/main.js')

interface RunOptions {
  readonly input?: Uint8Array
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

export interface Command {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Waits until stdout or stderr contains `text`; fails if the process ends before. */
  until(text: string): Promise<void>
  readonly ended: Promise<Outcome>
}

/** Starts the command, with stdin open; it is killed after the test. */
export function start(t: Test, args: readonly string[], options: RunOptions = {}): Command {
  const { cwd, env = {} } = options
  const child = spawn(process.execPath, [script, ...args], {
    stdio: 'pipe',
    env: { ...inherited(), ...env },
    ...(cwd !== undefined && { cwd }),
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  let wake = () => {}
  let closed = false
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk)
    wake()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr.push(chunk)
    wake()
  })
  // One that ends before it has read its input is what some tests are about.
  child.stdin.on('error', () => {})
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString()
  const ended = once(child, 'close').then(([code]): Outcome => {
    closed = true
    wake()
    return { code: code as number | null, stdout: Buffer.concat(stdout), stderr: text(stderr) }
  })
  return {
    child,
    stdout: () => text(stdout),
    stderr: () => text(stderr),
    ended,
    async until(expected) {
      while (!text(stdout).includes(expected) && !text(stderr).includes(expected)) {
        if (closed) throw new Error(`ended without '${expected}': ${text(stderr)}`)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

/** The environment without what a command looks at. */
export function inherited(): NodeJS.ProcessEnv {
  const { npm_command: _npm, ...rest } = process.env
  return Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith('LOREKEEP_')))
}

/** Runs the command in a process of its own to its end. */
export async function runAlone(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const { child, ended } = start(t, args, options)
  child.stdin?.end(options.input)
  return ended
}

/** What command-host.ts is told and tells. */
export interface HostedRun {
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly input: Uint8Array
}

export interface HostedOutcome {
  readonly code: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

let host: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

/** Runs the command to its end, after those before it. */
export async function run(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  if (options.env !== undefined) return runAlone(t, args, options)
  const { cwd, input = Buffer.alloc(0) } = options
  const outcome = last.then(() => runHosted({ args, cwd, input }))
  last = outcome.catch(() => {})
  const { code, stdout, stderr } = await outcome
  return { code, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr).toString() }
}

async function runHosted(run: HostedRun): Promise<HostedOutcome> {
  host ??= fork(resolve('dist/test/cli/command-host.js'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: inherited(),
    // Not those by which the test is compiled.
    execArgv: [],
  })
  const child = host
  // Between commands it does not hold up the end of the test.
  child.ref()
  child.channel?.ref()
  const answered = new AbortController()
  const { signal } = answered
  try {
    const died = once(child, 'exit', { signal }).then(() => {
      host = undefined
      throw new Error(`the process died of ${run.args.join(' ')}`)
    })
    const answer = once(child, 'message', { signal }) as Promise<[HostedOutcome]>
    // Whichever is left is aborted.
    for (const promise of [died, answer]) promise.catch(() => {})
    child.send(run)
    const [outcome] = await Promise.race([answer, died])
    return outcome
  } finally {
    answered.abort()
    child.unref()
    child.channel?.unref()
  }
}

/** Runs the command, which has to succeed. */
export async function succeed(t: Test, args: readonly string[], options: RunOptions = {}) {
  const outcome = await run(t, args, options)
  if (outcome.code !== 0) throw new Error(`${args.join(' ')}: ${outcome.stderr}`)
  return outcome.stdout
}

/** Runs the command, which has to fail with this exit code and one line, or some below it; gives them. */
export async function fail(
  t: Test,
  code: number,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const outcome = await run(t, args, options)
  t.equal(outcome.code, code, `exit code of ${args.join(' ')}`)
  t.match(outcome.stderr, /^(lorekeep: [^\n]+\n( {2}[^\n]+\n)*|\{"error":[^\n]+\}\n)$/)
  t.equal(outcome.stdout.length, 0)
  return outcome.stderr
}

export interface Serving extends Command {
  readonly url: string
  /** The token it made, where none was given. */
  readonly token: string
}

/** `lorekeep serve --port 0`, once it listens and has said all it says at the start. */
export async function serve(
  t: Test,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const command = start(t, ['serve', '--port', '0', ...args], { env })
  await command.until('/api/v1/schemas')
  const url = /^lorekeep listening on (\S+)\n/.exec(command.stdout())?.[1] ?? ''
  const token = /^export LOREKEEP_TOKEN=(\S+)$/m.exec(command.stderr())?.[1] ?? ''
  return { ...command, url, token }
}

/** A command in a terminal of its own; what it prints there. Undefined without script(1). */
export function inTerminal(
  args: readonly string[],
): { code: number | null; text: string } | undefined {
  if (process.platform !== 'linux') return undefined
  const quoted = [process.execPath, script, ...args].map((arg) => `'${arg}'`).join(' ')
  const { status, stdout, error } = spawnSync('script', ['-qec', quoted, '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: inherited(),
  })
  return error ? undefined : { code: status, text: stdout.toString() }
}

/** The real cores, where this checkout has them: file name, id and bytes. */
export function realCores(): { file: string; id: string; bytes: Buffer }[] {
  const ids = {
    'urn-customers1.core': 'urn:customers1',
    'urn-products1.core': 'urn:products1',
    'schemaorg.core': 'https://schema.org/30.0',
  }
  try {
    return Object.entries(ids).map(([name, id]) => {
      const file = resolve('../shared/data', name)
      return { file, id, bytes: readFileSync(file) }
    })
  } catch {
    return []
  }
}

export const noRealCores = 'no real cores in ../shared/data'
