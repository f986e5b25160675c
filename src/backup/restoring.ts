import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode, LorekeepError } from '../errors.js'
import type { Backend, Operation, PartitionName, Storage } from '../storage.js'
import { BackupDecoder } from './decoder.js'
import type { DecodedBlock } from './decoder.js'
import { partitions } from './format.js'
import { markerKey, markerOf } from './marker.js'
import { checkArgument, checkOptions } from '../door/options.js'
import { aBackend, backupOptions } from './options.js'
import { openSource } from './source.js'
import type { ReadableSource } from './source.js'
import type { BackupSource, BackupSummary, RestoreOptions, RestoreProgress } from './types.js'

type Partitions = ReadonlyMap<PartitionName, Storage>

/** Blocks that are being written while the next ones are read. */
const maxWriting = 8

const deletedAtOnce = 1000

/** Which backends are being restored into by this process: to another restore they look broken off. */
const restoring = new WeakSet<Backend>()

/** What `restore()` does. */
export async function restoreBackup(
  backend: Backend,
  source: BackupSource,
  options: RestoreOptions,
): Promise<BackupSummary> {
  checkArgument('the backend of restore()', backend, aBackend)
  checkOptions('restore()', options, backupOptions)
  if (backend.shared) {
    // Who opens it meanwhile would find a part, or take another restore for one that was broken off.
    throw new TypeError('restore() needs a backend that is not shared, such as with shared: false')
  }
  if (restoring.has(backend)) {
    throw new LorekeepError('LK_STORAGE_LOCKED', 'another backup is being restored into it')
  }
  restoring.add(backend)
  try {
    options.signal?.throwIfAborted()
    const opened = await openSource(source)
    try {
      return await restoreOpened(backend, opened, options)
    } finally {
      await opened.close()
    }
  } finally {
    restoring.delete(backend)
  }
}

async function restoreOpened(
  backend: Backend,
  source: ReadableSource,
  options: RestoreOptions,
): Promise<BackupSummary> {
  const { signal, onProgress } = options
  if (source.isFile) {
    await readBackup(source, signal, async (block, decoder) => {
      tell(onProgress, 'checking', block, decoder)
    })
  }
  const storages = new Map<PartitionName, Storage>()
  for (const name of partitions) storages.set(name, await backend.open(name))
  const earlier = await checkEmpty(storages)
  try {
    const marker = await mark(storages, earlier)
    const summary = await writeAll(source, storages, options)
    // Everything else is durable by now.
    await coresOf(storages).write([{ type: 'del', key: markerKey }], {
      durable: true,
      require: [{ type: 'equals', key: markerKey, value: marker }],
    })
    return summary
  } catch (error) {
    // What stopped it is what has to be known. Where this fails, too, the marker stays.
    // Who was there first has it.
    if (!hasCode(error, 'LK_STORAGE_CONFLICT')) await clear(storages)
    throw error
  }
}

async function readBackup(
  source: ReadableSource,
  signal: AbortSignal | undefined,
  onBlock: (block: DecodedBlock, decoder: BackupDecoder) => Promise<void>,
): Promise<BackupSummary> {
  const decoder = new BackupDecoder()
  for await (const bytes of source.read(signal)) {
    for (const block of decoder.push(bytes)) await onBlock(block, decoder)
  }
  return decoder.finish()
}

async function writeAll(
  source: ReadableSource,
  storages: Partitions,
  { signal, onProgress }: RestoreOptions,
): Promise<BackupSummary> {
  const writing = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  const check = () => {
    if (failure !== undefined) throw failure.error
  }
  try {
    const summary = await readBackup(source, signal, async (block, decoder) => {
      const operations = block.entries.map(({ key, value }): Operation => {
        return { type: 'put', key, value }
      })
      const write = storages
        .get(block.partition)!
        .write(operations, { durable: true })
        .catch((error: unknown) => void (failure ??= { error }))
        .finally(() => writing.delete(write))
      writing.add(write)
      if (writing.size >= maxWriting) await Promise.race(writing)
      check()
      tell(onProgress, 'writing', block, decoder)
    })
    await Promise.all(writing)
    check()
    return summary
  } finally {
    await Promise.all(writing)
  }
}

/** The marker of a restore that was broken off. @throws LorekeepError `LK_BACKUP_NOT_EMPTY` */
async function checkEmpty(storages: Partitions): Promise<Uint8Array | undefined> {
  const earlier = await coresOf(storages).get(markerKey)
  if (earlier !== undefined) return earlier
  for (const [partition, storage] of storages) {
    for await (const _page of storage.scan({ keysOnly: true, limit: 1 })) {
      const detail = `the partition '${partition}' of this one is not`
      throw new LorekeepError('LK_BACKUP_NOT_EMPTY', detail, { details: { partition } })
    }
  }
  return undefined
}

/** Writes the marker, and deletes what a restore that was broken off has left. */
async function mark(storages: Partitions, earlier: Uint8Array | undefined): Promise<Uint8Array> {
  const value = markerOf(Date.now())
  await coresOf(storages).write([{ type: 'put', key: markerKey, value }], {
    durable: true,
    require: [
      earlier === undefined
        ? { type: 'absent', key: markerKey }
        : { type: 'equals', key: markerKey, value: earlier },
    ],
  })
  if (earlier !== undefined) await clearEntries(storages)
  return value
}

/**
 * Deletes everything, the marker last. Does not reject: a storage that failed may need a while. The
 * marker may be gone by now, where its deletion happened and was reported as failed: a part of what
 * is there has to stand behind it again.
 */
async function clear(storages: Partitions): Promise<void> {
  const value = markerOf(Date.now())
  for (const delayMs of [0, 100, 300, 1000]) {
    await sleep(delayMs)
    try {
      await coresOf(storages).write([{ type: 'put', key: markerKey, value }], { durable: true })
      await clearEntries(storages)
      await coresOf(storages).write([{ type: 'del', key: markerKey }], { durable: true })
      return
    } catch (error) {
      // The marker stays.
      if (!hasCode(error, 'LK_STORAGE_UNAVAILABLE')) return
    }
  }
}

async function clearEntries(storages: Partitions): Promise<void> {
  for (const storage of storages.values()) {
    for await (const page of storage.scan({ gt: markerKey, keysOnly: true })) {
      for (let at = 0; at < page.length; at += deletedAtOnce) {
        const some = page.slice(at, at + deletedAtOnce)
        await storage.write(
          some.map(({ key }) => ({ type: 'del', key })),
          { durable: true },
        )
      }
    }
  }
}

function tell(
  onProgress: RestoreOptions['onProgress'],
  step: RestoreProgress['step'],
  { partition }: DecodedBlock,
  { bytes, entries }: BackupDecoder,
): void {
  onProgress?.({ step, bytes, entries, partition })
}

function coresOf(storages: Partitions): Storage {
  return storages.get('cores')!
}
