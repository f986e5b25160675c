// How a lorekeep is: whether it takes work, and what operators watch.

import { LorekeepError, type ErrorCode } from './errors.js'
import { encodeKey } from './keys.js'
import type { PartitionName, Storage } from './storage.js'

/** Of memory that is kept for something, in bytes. */
export interface Fill {
  readonly bytes: number
  readonly maxBytes: number
}

/** Of the libraries of users that were asked or changed lately. */
export interface IndexPressure {
  /** Of the library that has most. */
  readonly parts: number
  /** Segments that no part has yet. */
  readonly waiting: number
  /** More came in than could be indexed and merged: imports wait until that is done. */
  readonly isBehind: boolean
}

export interface HealthProblem {
  readonly where: PartitionName | 'index'
  /** Of what the storage refuses work with; none where merges are behind. */
  readonly code?: ErrorCode
  readonly message: string
}

export interface Health {
  /** False while the storage refuses work, or merges are behind. */
  readonly ready: boolean
  readonly problems: readonly HealthProblem[]
  readonly caches: { readonly objects: Fill; readonly graph: Fill; readonly vectors: Fill }
  readonly index: IndexPressure
  /** Of the disk, in bytes, where the backend tells. */
  readonly freeBytes?: number
}

interface HealthParts {
  readonly partitions: Readonly<Record<PartitionName, Storage>>
  /** What their last writes were refused with. */
  readonly refusals: () => ReadonlyMap<PartitionName, unknown>
  readonly fills: () => Pick<Health, 'caches' | 'index'>
  readonly freeBytes: (() => Promise<number>) | undefined
}

// Nobody writes it: deleting it is a write that changes nothing.
const probeKey = encodeKey('probe')

/**
 * Asks the storage for something, and has it write where it refused the last write: without that it would be
 * unwell until somebody writes, whom nobody sends while it is. Calls that come meanwhile are told the same.
 */
export function healthOf(parts: HealthParts): () => Promise<Health> {
  let looking: Promise<Health> | undefined
  return () => {
    looking ??= look(parts).finally(() => (looking = undefined))
    return looking
  }
}

async function look({ partitions, refusals, fills, freeBytes }: HealthParts): Promise<Health> {
  const problems: HealthProblem[] = []
  const names = Object.keys(partitions) as PartitionName[]
  const refused = refusals()
  await Promise.all(
    names.map(async (name) => {
      const storage = partitions[name]
      try {
        if (refused.has(name)) {
          await storage.write([{ type: 'del', key: probeKey }], { durable: true })
        } else await storage.get(probeKey)
      } catch (error) {
        const { message } = error as Error
        problems.push({
          where: name,
          ...(error instanceof LorekeepError && { code: error.code }),
          message,
        })
      }
    }),
  )
  const { caches, index } = fills()
  if (index.isBehind) {
    const message = `${index.waiting} segments wait, and a library has ${index.parts} parts`
    problems.push({ where: 'index', message })
  }
  // A disk that does not answer is a problem of the writes.
  const free = await freeBytes?.().catch(() => undefined)
  const ready = problems.length === 0
  return { ready, problems, caches, index, ...(free !== undefined && { freeBytes: free }) }
}
