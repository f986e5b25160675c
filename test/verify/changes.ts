// A healthy store that is changed in one place at a time: what a verification says of each change.

import type { Test } from 'tap'
import { decodeRecord, encodeRecord } from '../../src/record.js'
import type { Operation, Storage } from '../../src/storage.js'
import type { Finding } from '../../src/verify/finding.js'
import { Report } from '../../src/verify/report.js'

/** What lies under a key from now on: a record or other bytes, or nothing. */
export type Change = readonly [Storage, Uint8Array, object | undefined]

export interface Damage {
  readonly of: string
  readonly changes: readonly Change[]
  /** Lines of lineOf(). */
  readonly found: readonly string[]
  /** What is found besides where content is read. */
  readonly deep?: readonly string[]
}

type Verify = (report: Report) => AsyncIterable<Finding>

/**
 * Expects exactly what each damage says, and nothing when all of it was taken back.
 * @param labels what is random, and what is to be read in its place
 */
export async function expectFound(
  t: Test,
  verify: Verify,
  labels: ReadonlyMap<string, string>,
  damages: readonly Damage[],
): Promise<void> {
  const lines = (deep: boolean) => linesOf(verify, deep, labels)
  for (const deep of [false, true]) t.strictSame(await lines(deep), [], 'healthy')
  for (const { of, changes, found, deep = [] } of damages) {
    const before: Change[] = []
    for (const [storage, key, value] of changes) {
      before.unshift([storage, key, await storage.get(key)])
      await storage.write([operationOf(key, value)])
    }
    t.strictSame(await lines(false), [...found].sort(), of)
    t.strictSame(await lines(true), [...found, ...deep].sort(), `${of}, with content`)
    for (const [storage, key, value] of before) await storage.write([operationOf(key, value)])
  }
  t.strictSame(await lines(true), [], 'healthy again')
}

export async function linesOf(
  verify: Verify,
  deep: boolean,
  labels: ReadonlyMap<string, string> = new Map(),
): Promise<string[]> {
  const lines: string[] = []
  for await (const finding of verify(new Report({ deep }))) {
    let line = lineOf(finding)
    for (const [random, label] of labels) line = line.replaceAll(random, label)
    lines.push(line)
  }
  return lines.sort()
}

/** `code key: message`; the code `leftover` is of what is no error. */
function lineOf({ severity, code, what, message }: Finding): string {
  const isInfo = severity === 'info'
  if (isInfo !== (code === 'leftover')) throw new Error(`${code} is of severity ${severity}`)
  return `${code} ${what}: ${message}`
}

function operationOf(key: Uint8Array, value: object | undefined): Operation {
  if (value === undefined) return { type: 'del', key }
  return { type: 'put', key, value: value instanceof Uint8Array ? value : encodeRecord(value) }
}

export async function recordIn<R>(storage: Storage, key: Uint8Array): Promise<R> {
  const value = await storage.get(key)
  if (value === undefined) throw new Error(`nothing under ${Buffer.from(key).toString('hex')}`)
  return decodeRecord<R>(value)
}

/** Bytes with one of them changed. */
export function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const changed = new Uint8Array(bytes)
  changed[at] = (changed[at] as number) ^ 1
  return changed
}
