// The layout of a backup: docs/format.md, "Backups". Numbers are little-endian.

import type { PartitionName } from '../storage.js'

export const magic = Buffer.from('LKBACKUP', 'latin1')
export const version = 1

/** Magic, version, time in milliseconds, CRC-32 of these. */
export const headerBytes = 24

/** Kind, partition, two zeros, length, CRC-32 of these and of the content. */
export const blockHeaderBytes = 12
export const blockKind = 1

/** A writer ends a block at about this length; one entry that is longer may double it. */
export const blockBytes = 1024 * 1024
export const maxBlockBytes = 2 * blockBytes

/** Kind and seven zeros, entries and bytes of each partition, SHA-256 of everything before. */
export const trailerKind = 2
export const digestBytes = 32
export const trailerBytes = 8 + 4 * 16 + digestBytes

/** Length of the key, length of the value; then the two. */
export const entryHeaderBytes = 8

/** LevelDB takes longer ones; no store has any. */
export const maxKeyBytes = 64 * 1024

/**
 * In the order in which they lie in a backup, by which they are numbered from 1. What changes most
 * comes first, so that it is passed early; slices are most of the bytes, and never change.
 */
export const partitions: readonly PartitionName[] = ['flows', 'objects', 'cores', 'slices']
