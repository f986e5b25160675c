// Run by the level tests in a process of its own: one JSON command a line on stdin, one JSON
// answer a line on stdout. `node dist/test/adapters/level-child.js DIRECTORY PARTITION`

import { createInterface } from 'node:readline'
import { LevelBackend } from '../../adapters/level/index.js'
import { LorekeepError } from '../../src/errors.js'
import type { PartitionName } from '../../src/storage.js'
import { numbered, text } from '../suite/bytes.js'
import { startThread } from './level-process.js'

export type Command =
  | { do: 'open' }
  /** Writes single keys from..to at once; answers with each outcome: 'ok' or a code. */
  | { do: 'write'; from: number; to: number; bytes: number }
  /** As above; when one fails, tries every method at once, before anything could be repaired. */
  | { do: 'fail'; from: number; to: number; bytes: number }
  /** Writes one key until it works; answers with the codes met on the way. */
  | { do: 'retry'; number: number; bytes: number }
  /** Writes pairs for ever and answers each acknowledged number. */
  | { do: 'pairs' }
  /** Overwrites and deletes large values for ever and answers `[key, number]`, acknowledged. */
  | { do: 'overwrite' }
  /** Writes keys from..to in one write of values that are kept together. */
  | { do: 'together'; from: number; to: number; bytes: number }
  /** Overwrites pairs of such values, deletes one of a pair, and answers `[lane, number]`, for ever. */
  | { do: 'pairs together' }
  /** Opens another path of a directory in a worker thread, and closes it there where that works. */
  | { do: 'thread'; directory: string }
  /** Opens all partitions at once with a backend of their own, and answers with each outcome. */
  | { do: 'open all' }
  | { do: 'close all' }
  | { do: 'close' }

const [, , directory = '', name = 'objects'] = process.argv
const partition = name as PartitionName
const partitions: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']
const backend = new LevelBackend(directory)
let whole: LevelBackend | undefined
// Without a handler the kernel ends a process that writes past RLIMIT_FSIZE; with one, EFBIG.
process.on('SIGXFSZ', () => undefined)

const codeOf = (error: unknown) => (error instanceof LorekeepError ? error.code : String(error))

const attempt = (promise: Promise<unknown>) => promise.then(() => 'ok', codeOf)

async function write(number: number, bytes: number): Promise<string> {
  const storage = await backend.open(partition)
  const value = new Uint8Array(bytes).fill(number)
  return attempt(storage.write([{ type: 'put', key: numbered(number), value }], { durable: true }))
}

const each = (from: number, to: number, make: (number: number) => Promise<string>) =>
  Promise.all(Array.from({ length: to - from }, (_, index) => make(from + index)))

async function run(command: Command): Promise<unknown> {
  switch (command.do) {
    case 'open':
      return attempt(backend.open(partition))
    case 'write':
      return each(command.from, command.to, (number) => write(number, command.bytes))
    case 'fail': {
      const storage = await backend.open(partition)
      const first = await write(command.from, command.bytes)
      return [
        first,
        ...(await Promise.all([
          ...Array.from({ length: command.to - command.from - 1 }, (_, index) =>
            write(command.from + 1 + index, command.bytes),
          ),
          attempt(storage.get(numbered(0))),
          attempt(storage.getMany([numbered(0)])),
          attempt(storage.scan({})[Symbol.asyncIterator]().next()),
        ])),
      ]
    }
    case 'retry': {
      const met = new Set<string>()
      for (;;) {
        const outcome = await write(command.number, command.bytes)
        met.add(outcome)
        if (outcome === 'ok') return [...met]
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    case 'pairs': {
      const storage = await backend.open(partition)
      const writer = async (lane: number) => {
        for (let number = lane; ; number += 8) {
          const value = numbered(number)
          const keys = [text(`a${number}`), text(`b${number}`)]
          await storage.write(
            keys.map((key) => ({ type: 'put', key, value }) as const),
            { durable: true },
          )
          answer(number)
        }
      }
      return Promise.all(Array.from({ length: 8 }, (_, lane) => writer(lane)))
    }
    case 'overwrite': {
      const storage = await backend.open(partition)
      const writer = async (lane: number) => {
        for (let number = 0; ; number++) {
          const slot = lane * 10 + (number % 5)
          const key = numbered(slot)
          const value = new Uint8Array(64 * 1024 - 50 + ((number * 37) % 100)).fill(number)
          value.set(numbered(number))
          if (number % 7 === 0) await storage.write([{ type: 'del', key }], { durable: true })
          else await storage.write([{ type: 'put', key, value }], { durable: true })
          answer([slot, number])
        }
      }
      return Promise.all(Array.from({ length: 6 }, (_, lane) => writer(lane)))
    }
    case 'together': {
      const storage = await backend.open(partition)
      const operations = Array.from({ length: command.to - command.from }, (_, index) => {
        const number = command.from + index
        const value = new Uint8Array(command.bytes).fill(number)
        return { type: 'put', key: numbered(number), value } as const
      })
      return attempt(storage.write(operations, { together: true }))
    }
    case 'pairs together': {
      const storage = await backend.open(partition)
      const writer = async (lane: number) => {
        for (let number = 0; ; number++) {
          const [one, other] = [0, 5].map((slot) => numbered(lane * 10 + (number % 5) + slot)) as [
            Uint8Array,
            Uint8Array,
          ]
          const value = Buffer.alloc(64 * 1024)
          for (let at = 0; at < value.length; at += 4) value.writeUInt32BE(number + at, at)
          if (number % 7 === 2) await storage.write([{ type: 'del', key: one }])
          else if (number % 7 === 5) await storage.write([{ type: 'del', key: other }])
          else {
            const pair = [one, other].map((key) => ({ type: 'put', key, value }) as const)
            await storage.write(pair, { together: true })
          }
          answer([lane, number])
        }
      }
      return Promise.all(Array.from({ length: 6 }, (_, lane) => writer(lane)))
    }
    case 'thread': {
      const thread = startThread(command.directory)
      const outcome = await thread.outcome
      await thread.close()
      return outcome
    }
    case 'open all':
      whole = new LevelBackend(directory)
      return Promise.all(partitions.map((name) => attempt(whole!.open(name))))
    case 'close all':
      return attempt(whole!.close())
    case 'close':
      return attempt(backend.close())
  }
}

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

for await (const line of createInterface({ input: process.stdin })) {
  answer(await run(JSON.parse(line) as Command))
}
