// What backups say of themselves. The stores are not known here, nor is an engine.

import type { Writable } from 'node:stream'
import type { ByteSource } from '../byte-source.js'
import type { PartitionName } from '../storage.js'

/**
 * Where a backup goes: the path of a file, which is there under its name when it is whole, or a
 * writable stream, which is ended after the last byte and destroyed where the backup fails.
 */
export type BackupTarget = string | URL | Writable | WritableStream<Uint8Array>

/** The path of a file, or its bytes. */
export type BackupSource = string | URL | ByteSource

/** How far it has come. */
export interface BackupProgress {
  /** Of the backup, until now. */
  readonly bytes: number
  readonly entries: number
  readonly partition: PartitionName
}

export interface BackupOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined
}

export interface RestoreProgress extends BackupProgress {
  /** A file is read twice: it is checked before anything is written. */
  readonly step: 'checking' | 'writing'
}

export interface RestoreOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: RestoreProgress) => void) | undefined
}

export interface PartitionCounts {
  readonly entries: number
  /** Of keys and values. */
  readonly bytes: number
}

export interface BackupSummary {
  /** The length of the backup. */
  readonly bytes: number
  readonly entries: number
  readonly partitions: Readonly<Record<PartitionName, PartitionCounts>>
  /** The moment that it is of. */
  readonly createdAt: string
  /** The SHA-256 over all of it but these 32 bytes at its end, in hexadecimal digits. */
  readonly digest: string
}

/** How a store is backed up: `backup` of a Lorekeep. */
export type Backup = (target: BackupTarget, options?: BackupOptions) => Promise<BackupSummary>
