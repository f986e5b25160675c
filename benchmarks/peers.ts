// The libraries lorekeep is measured against, from benchmarks/node_modules: their versions are
// pinned here, and lorekeep's own dependencies may move without moving the measure.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type * as Msgpack from '@msgpack/msgpack'
import type * as ClassicLevelModule from 'classic-level'
import type * as Msgpackr from 'msgpackr'

// Compiled, this file is dist/benchmarks/peers.js.
const require = createRequire(new URL('../../benchmarks/package.json', import.meta.url))

export const { encode, decodeMultiStream } = require('@msgpack/msgpack') as typeof Msgpack
export const { ClassicLevel } = require('classic-level') as typeof ClassicLevelModule
export const { UnpackrStream, isNativeAccelerationEnabled } = require('msgpackr') as typeof Msgpackr

/** Where a program of its own imports it from. */
export const classicLevelUrl = pathToFileURL(require.resolve('classic-level')).href

export type RawLevel = ClassicLevelModule.ClassicLevel<Uint8Array, Uint8Array>

const MiB = 1024 * 1024

/** Options of classic-level that its puts and reads of 1 MiB values are measured with. */
export const rawOptions = {
  /** As it comes: Snappy, a write buffer of 4 MiB, files of 2 MiB. */
  default: {},
  /** What suits large values best. */
  bulk: { compression: false, writeBufferSize: 64 * MiB, maxFileSize: 64 * MiB },
} as const

export async function openRaw(directory: string, options: object): Promise<RawLevel> {
  const level = new ClassicLevel<Uint8Array, Uint8Array>(directory, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    ...options,
  })
  await level.open()
  return level
}

/** Eight bytes that sort as the numbers do. */
export function rawKey(n: number): Uint8Array {
  const key = Buffer.alloc(8)
  key.writeUInt32BE(n, 4)
  return new Uint8Array(key.buffer, key.byteOffset, 8)
}
