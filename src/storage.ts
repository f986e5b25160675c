// The seam: what lorekeep asks of an engine. Types and contract only; `lorekeep/conformance`
// tests every sentence below, docs/adapters.md explains them with a complete example.

/**
 * Each partition is an independent ordered store. Small records (with values of up to 64 KiB) and
 * bulk slices live apart, because an LSM tree that holds both rewrites the slices whenever the
 * records change.
 */
export type PartitionName = 'cores' | 'slices' | 'objects' | 'flows'

/** Opens partitions. One backend serves one `createLorekeep`, which closes it. */
export interface Backend {
  /**
   * Whether others may have the same data open at the same time: processes, or backends of this one.
   * Where it is false, whoever has opened a partition is alone with it until close(), and what a
   * former owner left under way is dead. Where it is true, all see one state: a read that is begun after
   * anybody's write was acknowledged sees it. Never changes.
   */
  readonly shared: boolean

  /**
   * Opens a partition, creating it where it does not exist. Two calls with the same name give
   * the same contents. Rejects with `LK_STORAGE_LOCKED` where another process (or another
   * backend in this one) holds the data, with `LK_CLOSED` after close(). Several are opened at once.
   */
  open(partition: PartitionName): Promise<Storage>

  /**
   * Whether of two who open all partitions at one moment one has all of them, and the other nothing; `cores` is asked
   * for first. Where it is left out, `cores` is opened before the others are asked for, which takes longer.
   */
  readonly opensAsOne?: boolean | undefined

  /**
   * All four partitions as of one moment, whether they are open or not: with every write, of anybody, that was
   * acknowledged before the call, and where it has a write, with every one that was acknowledged before that one was
   * begun. There where the backend is `shared`; elsewhere an engine may leave it out, and lorekeep makes snapshots
   * of its own. Rejects as open() does, but needs nobody's leave: who has the data alone may be anybody.
   */
  readonly snapshot?: (() => Promise<BackendSnapshot>) | undefined

  /** How much the disk has left, in bytes, for who watches over it. Left out where that is not known. */
  readonly freeBytes?: (() => Promise<number>) | undefined

  /** Closes every partition and snapshot. Idempotent: a second call waits for the first. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What a partition held at some moment. */
export type SnapshotView = Pick<Storage, 'get' | 'getMany' | 'scan'>

/**
 * To be read for a while, and closed: an engine that keeps old versions keeps all of them meanwhile. One that it cannot
 * keep any longer (a lost connection, a limit of time) rejects every read with `LK_STORAGE_UNAVAILABLE` from then on.
 */
export interface BackendSnapshot {
  readonly partitions: Readonly<Record<PartitionName, SnapshotView>>

  /** Whatever is read afterwards rejects with `LK_CLOSED`. Idempotent. */
  close(): Promise<void>
}

/**
 * An ordered map from byte strings to byte strings, in the order of the bytes (unsigned,
 * shorter first). A key is one byte or longer, anything else a `TypeError`; a bound may be empty. Keys of up to
 * `longestKey` bytes are taken, and longer ones where the engine can.
 * Every method rejects with `LK_CLOSED` once close() was called, `LK_STORAGE_CORRUPT` where stored
 * bytes fail their checksum, `LK_STORAGE_UNAVAILABLE` while the engine refuses work, and
 * `LK_STORAGE_FAILED` (with the engine's error as `cause`) where an operation failed.
 *
 * Bytes passed in are the caller's again when the promise settles and are not changed before
 * that; bytes handed out are the caller's to keep and change.
 */
export interface Storage {
  /** The value under a key; `undefined` where there is none. An empty value is not absent. */
  get(key: Uint8Array): Promise<Uint8Array | undefined>

  /**
   * The bytes [from, to) of the value under a key, as far as it has them; `undefined` where there is no value.
   * Of a large value little more is read than these. A `TypeError` where they are not whole numbers,
   * 0 or more, the first of them at most the second.
   */
  getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined>

  /** The values under several keys, in the order asked for, `undefined` for each absent one. */
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>

  /**
   * The entries of a range in pages, never an empty page. The first page is what the range held
   * when scan() was called: writes made later do not show in it, also when the caller starts to
   * iterate after them. Each later page is read when it is asked for and sees the writes made
   * until then; a page itself is one consistent state, and no key is given twice. Nothing stays
   * open between pages, so a scan may be left at any point.
   */
  scan(range: Range): AsyncIterable<readonly Entry[]>

  /**
   * Applies all operations or none, in the order given (the last one on a key wins). Readers see
   * the state before or after, never between; so do preconditions of other writes. If one of
   * `require` does not hold, nothing is written and the promise rejects with
   * `LK_STORAGE_CONFLICT`, whose `details.index` is the position of the first one that failed.
   *
   * With `durable` the promise resolves after the write, and every write acknowledged before it,
   * would survive power loss. Nothing is written where the promise rejects with a conflict, a
   * `TypeError`, or `LK_CLOSED` after close(). After any other rejection the write has happened as a
   * whole or not at all, never in part, and the caller has to look: a read that is begun after the
   * rejection, and answers, tells which of the two for as long as the partition is open.
   */
  write(operations: readonly Operation[], options?: WriteOptions): Promise<void>

  /** How those who share the backend get on with each other: there where it is `shared`, and nowhere else. */
  readonly sharing?: Sharing | undefined

  /**
   * Waits for operations under way, then lets go of the data, of turns and of listeners. Idempotent.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Both are for speed and for order: what is right rests on the preconditions of writes alone, so that a turn that
 * is lost, or a message, costs time and nothing else.
 */
export interface Sharing {
  /**
   * Resolves when it is this one's turn at `name`, of all who share the partition in the order in which they
   * asked, with what ends the turn (and does nothing when it is called again). A turn ends with its process, or
   * its backend, too, and may end where its process stands still. Rejects with the signal's reason where that aborts
   * first, else as the other methods do.
   */
  turn(name: string, signal?: AbortSignal): Promise<() => void>

  /**
   * Tells all others who have the partition open now, soon (in some milliseconds) and at most once; those of
   * one sender arrive in their order, or not at all. Whoever is told of a write that was acknowledged
   * before sees it. At most `longestMessage` bytes, more are a `TypeError`. Never waits, and does nothing once
   * close() was called.
   */
  publish(message: Uint8Array): void

  /** Calls `listener` with what others publish until the returned function is called. It may not throw. */
  subscribe(listener: (message: Uint8Array) => void): () => void
}

export const longestMessage = 4096

/** Of a user and a document, each of 1,024 bytes, and what is around them. */
export const longestKey = 2400

export interface Entry {
  readonly key: Uint8Array
  /** Empty when the scan asked for keys only. */
  readonly value: Uint8Array
}

/** Bounds are optional; a range whose bounds cross is empty. */
export interface Range {
  readonly gte?: Uint8Array
  readonly gt?: Uint8Array
  readonly lte?: Uint8Array
  readonly lt?: Uint8Array
  /** From the last key to the first. */
  readonly reverse?: boolean
  /** Leaves values unread. */
  readonly keysOnly?: boolean
  /** At most this many entries over all pages. */
  readonly limit?: number
}

export type Operation =
  | { readonly type: 'put'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: Uint8Array }

/** What has to hold for a write to happen, checked in the same step as the write. */
export type Precondition =
  | { readonly type: 'absent'; readonly key: Uint8Array }
  | { readonly type: 'equals'; readonly key: Uint8Array; readonly value: Uint8Array }

export interface WriteOptions {
  readonly durable?: boolean
  /**
   * The values of this write will be deleted together, so an engine may keep them in one place until the last of
   * them is gone. Nothing that is read is another for it.
   */
  readonly together?: boolean
  readonly require?: readonly Precondition[]
}
