// One file in a directory for each who owns it or would like to, under a name that is never used
// again. Its name says all that is needed to tell whether its maker lives, because a name is there
// as a whole or not at all, also after a power loss. What is in it tells copies, and is for people.
//
// Everybody announces themselves before they look at the others, so of two at least one sees the
// other. Of two who both are still opening the later one withdraws, and the earlier one waits for
// that. Nobody waits with a name in the directory that an earlier one could be waiting for.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  futimesSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'
import { locked } from './failures.js'
import { isLocal, machine } from './machine.js'
import { ask, listen } from './owner-socket.js'
import type { OwnerSocket } from './owner-socket.js'

interface Name {
  readonly name: string
  /** Sorts by the time of the first announcement. */
  readonly token: string
  readonly scope: string
  readonly boot: string
}

type State = { readonly is: 'gone' } | { readonly is: 'opening' | 'open'; readonly who: string }

const pattern = /^OWNER-([0-9a-f]{24})-([0-9a-f]{12}|path|none)-([0-9a-f]{12}|any)$/

// Somebody who cannot be asked is watched: seven seconds, in which a living owner shows itself
// three times.
const beatMs = 2000
const watchMs = 250
const watches = 28

/** How long to wait for others who are opening. Longer than a watch. */
const patienceMs = 15_000
const pollMs = 5
/** How long to wait without a name, for one who was earlier. Longer than they need to see that. */
const asideMs = 1000

/** Takes the directory, or rejects `LK_STORAGE_LOCKED`. */
export async function takeDirectory(directory: string): Promise<OwnerFile> {
  const since = Date.now()
  const deadline = performance.now() + patienceMs
  const local = isLocal(directory)
  for (;;) {
    const own = await OwnerFile.announce(directory, since, local)
    let earlier: Name | undefined
    try {
      earlier = await own.contend(deadline)
      if (earlier === undefined) return own
    } catch (error) {
      await own.withdraw()
      throw error
    }
    await own.withdraw()
    await standAside(directory, earlier, local, deadline)
  }
}

/**
 * For one who cannot write here: rejects with `LK_STORAGE_LOCKED` where somebody who can be asked has
 * the directory open. Those who cannot give no sign to one without a name. Changes nothing.
 */
export async function assertNobodyAnswers(directory: string): Promise<void> {
  const local = isLocal(directory)
  for (const other of namesIn(directory).values()) {
    const found = await look(join(directory, other.name))
    if (found === undefined || isCopy(found, other, local)) continue
    const { pid, who } = readText(found.text)
    if ((await ask(other.token, other.scope, pid)) === true) throw locked(directory, { who })
  }
}

class OwnerFile {
  readonly #directory: string
  readonly #name: string
  readonly #token: string
  readonly #path: string
  readonly #socket: OwnerSocket
  readonly #local: boolean
  /** Kept open: no other file gets its number meanwhile. */
  readonly #file: number
  readonly #dev: bigint
  readonly #ino: bigint
  readonly #timer: NodeJS.Timeout

  private constructor(directory: string, token: string, socket: OwnerSocket, local: boolean) {
    const boot = (local && machine.boot) || 'any'
    this.#directory = directory
    this.#token = token
    this.#socket = socket
    this.#local = local
    this.#name = `OWNER-${token}-${socket.scope}-${boot}`
    this.#path = join(directory, this.#name)
    this.#file = openSync(this.#path, 'wx')
    try {
      const { dev, ino } = fstatSync(this.#file, { bigint: true })
      this.#dev = dev
      this.#ino = ino
      const started = new Date(performance.timeOrigin).toISOString()
      const who = `process ${process.pid} on ${hostname()}`
      writeSync(this.#file, `${who}, started ${started}, thread ${threadId}, file ${dev}:${ino}\n`)
    } catch (error) {
      // A full disk.
      rmSync(this.#path, { force: true })
      closeSync(this.#file)
      throw error
    }
    this.#timer = setInterval(() => this.#beat(), beatMs).unref()
  }

  static async announce(directory: string, since: number, local: boolean): Promise<OwnerFile> {
    const token = since.toString(16).padStart(12, '0') + randomBytes(6).toString('hex')
    const socket = await listen(token)
    try {
      return new OwnerFile(directory, token, socket, local)
    } catch (error) {
      await socket.close()
      throw error
    }
  }

  /**
   * Makes this the owner. Where somebody else is opening who was earlier, gives their name: this
   * one has to withdraw. Rejects where there is an owner.
   */
  async contend(deadline: number): Promise<Name | undefined> {
    for (;;) {
      const others = namesIn(this.#directory)
      // Taken for dead by somebody who cannot ask, after seven seconds without a sign.
      if (!others.delete(this.#name)) throw locked(this.#directory)
      let [later, earlier]: (Name | undefined)[] = []
      const states = [...others.values()].map(async (other) => {
        return { other, state: await stateOf(this.#directory, other, this.#local, true) }
      })
      for (const { other, state } of await Promise.all(states)) {
        if (state.is === 'open') throw locked(this.#directory, { who: state.who })
        if (state.is === 'gone') continue
        if (other.token < this.#token) earlier = other
        else later = other
      }
      if (earlier !== undefined) return earlier
      // Whoever comes from now on sees this name.
      if (later === undefined) break
      if (performance.now() > deadline) throw locked(this.#directory)
      await delay(pollMs)
    }
    // The look may have taken seconds.
    this.assertHeld()
    writeSync(this.#file, `open ${new Date().toISOString()}\n`)
    return undefined
  }

  /** Throws where the directory is not at its path any more, or is somebody else's. 3 us. */
  assertHeld(): void {
    const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    if (found?.ino === this.#ino && found.dev === this.#dev) return
    throw new Error(
      `${this.#directory} is not the directory that was opened: it was moved, removed or ` +
        `replaced, or its file ${this.#name} was`,
    )
  }

  async withdraw(): Promise<void> {
    clearInterval(this.#timer)
    // What cannot be removed is left as the name of one who is dead: nobody listens behind it.
    await unlink(this.#path).catch(() => undefined)
    await this.#socket.close()
    closeSync(this.#file)
  }

  /** A sign of life for those who cannot ask. An idle directory is not written to without need. */
  #beat(): void {
    if (this.#local && !this.#hasOthers()) return
    const now = new Date()
    try {
      futimesSync(this.#file, now, now)
    } catch {
      // A disk that fails: whoever writes is told.
    }
  }

  #hasOthers(): boolean {
    try {
      return readdirSync(this.#directory).some((name) => name !== this.#name && pattern.test(name))
    } catch {
      // Gone, or no descriptor is left. A sign too many does no harm.
      return true
    }
  }
}

/**
 * Waits until one who is opening has given up or died, or long enough for them to have become the
 * owner. Rejects where they have. Nobody is watched here: only who has a name can expect a sign.
 */
async function standAside(
  directory: string,
  other: Name,
  local: boolean,
  deadline: number,
): Promise<void> {
  const until = performance.now() + asideMs
  while (performance.now() < until) {
    const state = await stateOf(directory, other, local, false)
    if (state.is === 'gone') return
    if (state.is === 'open' || performance.now() > deadline) {
      throw locked(directory, { who: state.who })
    }
    await delay(pollMs)
  }
}

/** In place, as all that an opening asks of names (reading.ts). */
function namesIn(directory: string): Map<string, Name> {
  const names = new Map<string, Name>()
  for (const name of readdirSync(directory)) {
    const [, token, scope, boot] = pattern.exec(name) ?? []
    if (token !== undefined) names.set(name, { name, token, scope: scope!, boot: boot! })
  }
  return names
}

/**
 * Removes the file where nobody is behind it. Without a watch, those who cannot be asked live.
 * `local`: whether one kernel alone can write here, as far as it is seen from here. What the other
 * one says of that is not enough: its local directory may be shared with this machine.
 */
async function stateOf(
  directory: string,
  other: Name,
  local: boolean,
  watch: boolean,
): Promise<State> {
  const path = join(directory, other.name)
  const found = await look(path)
  if (found === undefined) return { is: 'gone' }
  const { pid, who } = readText(found.text)
  const answer = await ask(other.token, other.scope, pid)
  if (
    isCopy(found, other, local) ||
    !(answer ?? (!watch || (await showsLife(path, other, local))))
  ) {
    await removeName(path)
    return { is: 'gone' }
  }
  return { is: found.text.includes('\nopen ') ? 'open' : 'opening', who }
}

/**
 * A copied directory brings along its owner's file. Numbers of files compare where both see the same
 * local file system: through two mounts of a network's, one file has two.
 */
function isCopy(found: Look, { boot }: Name, local: boolean): boolean {
  const { file } = readText(found.text)
  return local && boot === machine.boot && file !== undefined && file !== found.file
}

async function showsLife(path: string, { boot }: Name, local: boolean): Promise<boolean> {
  if (local && boot !== 'any' && machine.boot !== undefined && boot !== machine.boot) return false
  const first = await look(path)
  // Counted, not timed: this machine may be stopped meanwhile.
  for (let watched = 0; watched < watches; watched++) {
    await delay(watchMs)
    const now = await look(path)
    if (now === undefined) return false
    if (now.changed !== first?.changed) return true
  }
  return false
}

interface Look {
  readonly text: string
  readonly file: string
  /** When it was last touched. */
  readonly changed: string
}

/** Opens the file anew: over NFS, what was asked before is answered from memory. */
async function look(path: string): Promise<Look | undefined> {
  try {
    await using file = await open(path, 'r')
    const { dev, ino, mtimeNs, ctimeNs } = await file.stat({ bigint: true })
    const text = await file.readFile('latin1')
    return { text, file: `${dev}:${ino}`, changed: `${mtimeNs} ${ctimeNs}` }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

// With its end: one that a full disk cut short tells nothing.
const firstLine = /^(process (\d+) on .*), started .*, file (\d+:\d+)\n/

/** What the file says of its maker, and which file it was written into. */
function readText(text: string): { pid?: number; file?: string; who: string } {
  const [, who, pid, file] = firstLine.exec(text) ?? []
  // Being written, or damaged.
  if (who === undefined || file === undefined) return { who: 'somebody' }
  return { pid: Number(pid), file, who }
}

/** Its name is never used again, so this cannot meet anybody else. */
async function removeName(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
  }
}
