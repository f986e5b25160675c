import { referenceUser } from './defaults.js'
import { writeBackup } from './backup/backup.js'
import { assertRestored } from './backup/marker.js'
import { aBackend, backupOptions } from './backup/options.js'
import { openTarget } from './backup/target.js'
import type { Backup } from './backup/types.js'
import { LorekeepError } from './errors.js'
import { eitherOf, InFlight } from './in-flight.js'
import type { Backend, PartitionName } from './storage.js'
import { ErrorReports } from './error-reports.js'
import { createIds, systemChance, systemClock } from './clock.js'
import type { Chance, Clock } from './clock.js'
import { openFlowQueue } from './flow/opening.js'
import { hashingEmbedder, isHashing } from './flow/steps/hashing-embedder.js'
import { aBase, defaultBase } from './flow/steps/vocabulary.js'
import { healthOf } from './health.js'
import { knowledgeLimits } from './knowledge/limits.js'
import { deleteMembers, Presence } from './presence.js'
import { objectLimits } from './objects/limits.js'
import { flowLimits } from './flow/limits.js'
import type { Lorekeep, LorekeepOptions, ToldError } from './lorekeep-types.js'
import { limitsOf, rulesOf } from './door/limits.js'
import { checkOptions } from './door/options.js'
import {
  aCount,
  aFunction,
  aText,
  aTimeout,
  longestTimer,
  oneOf,
  optionsOf,
  withMethods,
} from './door/rules.js'
import { openKnowledgeStore } from './knowledge/store.js'
import { lacksSlices, unformatted } from './lost-partitions.js'
import { Cursors } from './paging.js'
import { aReads } from './reads.js'
import { openObjectStore } from './objects/store.js'
import { takeSnapshot } from './snapshot/backend-snapshot.js'
import { SnapshotLayer } from './snapshot/snapshot-layer.js'
import type { Snapshot } from './snapshot/types.js'
import type { VerifyOptions } from './verify/finding.js'
import { checkVerifyOptions, verifyStores } from './verify-stores.js'

// Whoever keeps one store alone keeps the backend open all the same: files of a partition that the
// garbage collector takes would be closed by it, with a warning.
const open = new Set<Lorekeep>()

/** A verification that nobody goes on with, and nobody ends: what it holds goes with its garbage. */
const dropped = new FinalizationRegistry<{ letGo?: () => void }>((held) => held.letGo?.())

/** Who is given a backend that others of this process have may not take their work for dead. */
const users = new WeakMap<Backend, number>()

const lorekeepOptions = {
  backend: aBackend,
  limits: optionsOf(rulesOf({ ...knowledgeLimits, ...objectLimits, ...flowLimits })),
  objectCacheBytes: aCount(1),
  graphCacheBytes: aCount(1),
  vectorCacheBytes: aCount(1),
  indexThreads: aCount(),
  indexBytesPerSecond: aCount(1),
  embedder: aFunction,
  reads: aReads,
  collections: oneOf('open', 'declared'),
  defaultUser: aText,
  base: aBase,
  leaseMs: aCount(1, longestTimer),
  clock: withMethods<Clock>('a clock', 'now', 'elapsed', 'after'),
  chance: withMethods<Chance>('a source of chance', 'fraction', 'token'),
  createId: aFunction,
  closeTimeoutMs: aTimeout,
  onError: aFunction,
}

/**
 * At once: each waits for the disk several times. Of two who open one store at one moment, one has it, and the other has
 * nothing of it: where the backend does not see to that, `cores` is opened by itself. Rejects as the first of them does,
 * in this order.
 */
async function openPartitions(backend: Backend, layer: SnapshotLayer) {
  const open = (name: PartitionName) => {
    const opening = layer.open(name)
    opening.catch(() => undefined)
    return opening
  }
  const openOthers = () => [open('slices'), open('objects'), open('flows')] as const
  const first = open('cores')
  const atOnce = backend.opensAsOne === true ? openOthers() : undefined
  const cores = await first
  await assertRestored(cores)
  const [slices, objects, flows] = atOnce ?? openOthers()
  return { cores, slices: await slices, objects: await objects, flows: await flows }
}

/** What `createLorekeep()` does. */
export async function openLorekeep(options: LorekeepOptions): Promise<Lorekeep> {
  checkOptions('createLorekeep()', options, lorekeepOptions, 'backend')
  const {
    backend,
    limits = {},
    objectCacheBytes = 64 * 1024 ** 2,
    graphCacheBytes = 64 * 1024 ** 2,
    vectorCacheBytes = 256 * 1024 ** 2,
    indexThreads = 1,
    indexBytesPerSecond = Infinity,
    embedder = hashingEmbedder(),
    reads = 'fresh',
    collections = 'open',
    defaultUser = referenceUser,
    base = defaultBase,
    leaseMs = 30_000,
    clock = systemClock,
    chance = systemChance,
    createId = createIds(),
    closeTimeoutMs = 10_000,
    onError = warn,
  } = options
  const others = users.get(backend) ?? 0
  users.set(backend, others + 1)
  const leave = () => users.set(backend, (users.get(backend) ?? 1) - 1)
  const isAlone = backend.shared === false && others === 0
  const errors = new ErrorReports<ToldError['where']>(guarded(onError))
  const reporter = (where: ToldError['where']) => (error: unknown) => {
    errors.report(where, error, where)
  }
  let presence: Presence | undefined
  const opened: { close(timeoutMs: number): Promise<void> }[] = []
  try {
    const layer = new SnapshotLayer(backend)
    const partitions = await openPartitions(backend, layer)
    const { cores, slices } = partitions
    await assertFormats(partitions)
    if (backend.shared) {
      presence = await Presence.join({ partitions, leaseMs, clock, onError: reporter('presence') })
    } else if (isAlone) await deleteMembers(partitions)
    // The objects' secret is the store's.
    const cursors = new Cursors(() => objects.secret)
    const knowledge = await openKnowledgeStore({
      cores,
      slices,
      isAlone,
      presence,
      reads,
      cursors,
      limits,
      onError: reporter('knowledge'),
      indexCacheBytes: graphCacheBytes,
      vectorCacheBytes,
      indexThreads,
      indexBytesPerSecond,
      embedder,
      isOffline: isHashing(embedder),
    })
    opened.push(knowledge)
    const objects = await openObjectStore({
      objects: partitions.objects,
      isAlone,
      isShared: backend.shared,
      presence,
      reads,
      elapsed: () => clock.elapsed(),
      limits,
      cacheBytes: objectCacheBytes,
      collections,
      onError: reporter('objects'),
    })
    opened.push(objects)
    const flows = await openFlowQueue({
      flows: partitions.flows,
      knowledge,
      objects,
      limits: limitsOf(flowLimits, limits),
      defaultUser,
      base,
      leaseMs,
      reads,
      cursors,
      isAlone,
      presence,
      clock,
      chance,
      createId,
      onError: reporter('flows'),
    })
    /** Everything as of this call; what is deleted meanwhile would have to be copied first. */
    const snapshot = async (): Promise<Snapshot> => {
      if (backend.snapshot !== undefined) return takeSnapshot(() => backend.snapshot!())
      if (backend.shared) {
        // Whoever else writes does not pass by here.
        const detail = 'a backend that several owners share has to bring snapshots of its own'
        throw new LorekeepError('LK_STORAGE_FAILED', detail)
      }
      return layer.take(knowledge.holdDeletions())
    }
    /** Backups, verifications and looks at the health. */
    const calls = new InFlight()
    const backup: Backup = (target, asked = {}) =>
      calls.run(async () => {
        checkOptions('backup()', asked, backupOptions)
        const { signal, onProgress } = asked
        const write = openTarget(target)
        signal?.throwIfAborted()
        return writeBackup({
          snapshot: await snapshot(),
          write,
          signal: eitherOf(calls.signal, signal),
          onProgress,
          createdAt: Date.now(),
        })
      })
    const verify = (asked: VerifyOptions = {}) => {
      checkVerifyOptions(asked)
      const held: { letGo?: () => void } = {}
      const open = async () => {
        const { signal } = calls
        const end = calls.begin()
        const taken = await snapshot().catch((error: unknown) => {
          end()
          throw error
        })
        const close = () => {
          signal.removeEventListener('abort', letGo)
          return taken.close().finally(end)
        }
        // close() waits for whoever reads, and not for ever for one who does not go on.
        const letGo = () => void close().catch(reporter('close'))
        signal.addEventListener('abort', letGo)
        if (signal.aborted) letGo()
        held.letGo = letGo
        return { ...taken, close }
      }
      const signal = eitherOf(calls.signal, asked.signal)
      const findings = verifyStores(open, { ...asked, signal })
      dropped.register(findings, held)
      return findings
    }
    const healthNow = healthOf({
      partitions,
      refusals: () => layer.refusals,
      fills: () => {
        const { graph, vectors, index } = knowledge.fill
        return { caches: { objects: objects.fill, graph, vectors }, index }
      },
      freeBytes: backend.freeBytes && (() => backend.freeBytes!()),
    })
    const health = () => calls.run(healthNow)
    const closeStores = async () => {
      // Steps use the stores: where documents are processed, that ends first.
      const running = flows.isRunning
      const ending = flows.close(closeTimeoutMs)
      if (running) await ending.catch(() => {})
      const stores = [knowledge.close(closeTimeoutMs), objects.close(closeTimeoutMs)]
      await Promise.all([ending, ...stores, calls.close(closeTimeoutMs)])
    }
    const leaveOthers = async () => {
      await presence?.close()
      await backend.close()
    }
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= closeStores()
        .finally(leaveOthers)
        .finally(() => {
          errors.close()
          leave()
          open.delete(keep)
        })
      return closing
    }
    const keep: Lorekeep = {
      knowledge,
      objects,
      flows,
      backup,
      verify,
      health,
      close,
      [Symbol.asyncDispose]: close,
    }
    open.add(keep)
    return keep
  } catch (error) {
    // What stopped the opening is what has to be known, whatever closing says. What is at work in the background of the
    // others would go on, over a backend that is closed.
    await Promise.all(opened.map((store) => store.close(0))).catch(reporter('close'))
    await presence?.close()
    await backend.close().catch(reporter('close'))
    errors.close()
    leave()
    throw error
  }
}

/** A partition that is gone must not be begun anew, beside others that name what it held. */
async function assertFormats(partitions: Parameters<typeof unformatted>[0]): Promise<void> {
  const looks = [unformatted(partitions), lacksSlices(partitions)] as const
  const [[partition], isWithoutSlices] = await Promise.all(looks)
  const found = partition
    ? `the partition '${partition}' has no format, and there is content: it is gone, or a part of it`
    : isWithoutSlices && "the partition 'slices' is empty, and cores have content"
  if (found === false) return
  const advice =
    'Restore a backup, or save what is whole with: lorekeep verify --salvage DIR TARGET'
  throw new LorekeepError('LK_STORAGE_CORRUPT', `${found}. ${advice}`)
}

/** A host's handler that throws must not stop the background it is told about. */
function guarded(onError: NonNullable<LorekeepOptions['onError']>) {
  return (error: unknown, count: number, where: ToldError['where']): void => {
    void (async () => onError(error, { count, where }))().catch((thrown: unknown) => warn(thrown))
  }
}

function warn(error: unknown, { count }: Pick<ToldError, 'count'> = { count: 1 }): void {
  if (count === 1) process.emitWarning(error instanceof Error ? error : String(error))
  else process.emitWarning(`${String(error)} (${count} times since it was last told)`)
}
