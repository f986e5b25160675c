import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { BackupDecoder } from '../../src/backup/decoder.js'
import { BackupEncoder } from '../../src/backup/encoder.js'
import {
  blockHeaderBytes,
  headerBytes,
  maxBlockBytes,
  partitions,
  trailerBytes,
} from '../../src/backup/format.js'
import type { BackupSummary } from '../../src/backup/types.js'
import { hasCode, LorekeepError } from '../../src/errors.js'
import type { Entry, PartitionName } from '../../src/storage.js'
import { pickSeed, Random } from '../fixtures/random.js'

type Contents = Partial<Record<PartitionName, readonly Entry[]>>

const createdAt = Date.UTC(2026, 10, 21)

function encoded(contents: Contents): { bytes: Buffer; summary: BackupSummary } {
  const encoder = new BackupEncoder(createdAt)
  const pieces: Uint8Array[] = [encoder.header()]
  for (const name of partitions) {
    for (const entry of contents[name] ?? []) pieces.push(...encoder.add(name, entry))
    pieces.push(...encoder.flush())
  }
  const { bytes, summary } = encoder.trailer()
  return { bytes: Buffer.concat([...pieces, bytes]), summary }
}

function decoded(chunks: readonly Uint8Array[]): { contents: Contents; summary: BackupSummary } {
  const decoder = new BackupDecoder()
  const contents: Partial<Record<PartitionName, Entry[]>> = {}
  for (const chunk of chunks) {
    for (const { partition, entries } of decoder.push(chunk)) {
      ;(contents[partition] ??= []).push(...entries)
    }
  }
  return { contents, summary: decoder.finish() }
}

const codes = ['LK_BACKUP_DAMAGED', 'LK_BACKUP_FORMAT'] as const

function refusal(bytes: Uint8Array): string | undefined {
  try {
    decoded([bytes])
    return undefined
  } catch (error) {
    if (error instanceof LorekeepError && codes.some((code) => hasCode(error, code)))
      return error.code
    throw error
  }
}

const entry = (key: string, value: Uint8Array): Entry => ({ key: Buffer.from(key), value })
const hex = (contents: Contents) =>
  partitions.map((name) =>
    (contents[name] ?? []).map(({ key, value }) => [
      Buffer.from(key).toString('hex'),
      Buffer.from(value).toString('hex'),
    ]),
  )

const small: Contents = {
  flows: [entry('a', Buffer.from('one')), entry('b', new Uint8Array(0))],
  cores: [entry('k', Buffer.alloc(40, 1))],
  slices: [entry('s', Buffer.alloc(100, 2))],
}

t.test('each byte of a backup is under a checksum', async (t) => {
  const { bytes } = encoded(small)
  t.equal(refusal(bytes), undefined)
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      bytes[at]! ^= 1 << bit
      if (refusal(bytes) === undefined) t.fail(`bit ${bit} of byte ${at} of ${bytes.length}`)
      bytes[at]! ^= 1 << bit
    }
  }
  t.equal(refusal(bytes), undefined)
})

t.test('a damaged block gives no entry, wherever the damage is in it', async (t) => {
  const { bytes } = encoded({ slices: [entry('k', Buffer.alloc(20))] })
  for (let at = headerBytes; at < bytes.length - trailerBytes; at++) {
    bytes[at]! ^= 1
    let blocks = 0
    const read = () => {
      for (const _ of new BackupDecoder().push(bytes.subarray(0, -trailerBytes))) blocks++
    }
    try {
      read()
    } catch (error) {
      if (!hasCode(error, 'LK_BACKUP_DAMAGED')) throw error
    }
    if (blocks > 0) t.fail(`byte ${at}`)
    bytes[at]! ^= 1
  }
  t.pass()
})

t.test('each length but its own is refused', async (t) => {
  const { bytes } = encoded(small)
  for (let length = 0; length < bytes.length; length++) {
    if (refusal(bytes.subarray(0, length)) === undefined) t.fail(`cut to ${length}`)
  }
  t.equal(refusal(Buffer.concat([bytes, Buffer.alloc(1)])), 'LK_BACKUP_DAMAGED')
  t.equal(refusal(Buffer.concat([bytes, bytes])), 'LK_BACKUP_DAMAGED')
  t.equal(refusal(Buffer.alloc(0)), 'LK_BACKUP_FORMAT')
  t.equal(refusal(Buffer.from('LKBACK')), 'LK_BACKUP_DAMAGED')
  t.equal(refusal(Buffer.from('X')), 'LK_BACKUP_FORMAT')
})

t.test('blocks that are left out, repeated or exchanged are noticed', async (t) => {
  const value = Buffer.alloc(1024 * 1024, 3)
  const keys = ['1', '2', '3'].map((key) => entry(key, value))
  const { bytes } = encoded({ slices: keys })
  const length = (bytes.length - headerBytes - trailerBytes) / 3
  const block = (n: number) =>
    bytes.subarray(headerBytes + n * length, headerBytes + (n + 1) * length)
  const built = (...blocks: readonly number[]) =>
    Buffer.concat([
      bytes.subarray(0, headerBytes),
      ...blocks.map(block),
      bytes.subarray(-trailerBytes),
    ])
  t.equal(refusal(built(0, 1, 2)), undefined)
  for (const blocks of [[], [0, 1], [0, 2], [0, 1, 1, 2], [1, 0, 2], [0, 1, 2, 2]]) {
    t.equal(refusal(built(...blocks)), 'LK_BACKUP_DAMAGED', blocks.join())
  }
})

t.test('no claim of a length makes room', async (t) => {
  const { bytes } = encoded({ slices: [entry('k', Buffer.alloc(10))] })
  bytes.writeUInt32LE(0xffffffff, headerBytes + 4)
  const before = process.memoryUsage().arrayBuffers
  t.equal(refusal(bytes), 'LK_BACKUP_DAMAGED')
  t.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024)
})

t.test('an entry that claims 4 GiB waits for its bytes, and is refused without them', async (t) => {
  // All checksums are right: a hostile writer.
  const encoder = new BackupEncoder(createdAt)
  const pieces: Uint8Array[] = [encoder.header()]
  pieces.push(...encoder.add('slices', entry('k', Buffer.alloc(8))), ...encoder.flush())
  const block = pieces[1] as Buffer
  block.writeUInt32LE(0xfffffff0, blockHeaderBytes + 4)
  const content = block.subarray(blockHeaderBytes)
  block.writeUInt32LE(crc32(content, crc32(block.subarray(0, 8))), 8)
  pieces.push(encoder.trailer().bytes)
  const before = process.memoryUsage().arrayBuffers
  t.equal(refusal(Buffer.concat(pieces)), 'LK_BACKUP_DAMAGED')
  t.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024)
})

t.test('values around the lengths of blocks come back, however the bytes are cut', async (t) => {
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const random = new Random(seed)
  const around = [0, 1, 32 * 1024, 1024 * 1024, maxBlockBytes, 2 * maxBlockBytes]
  const lengths = around.flatMap((length) => [-22, -21, -9, -8, -1, 0, 1].map((by) => length + by))
  const entries = lengths
    .filter((length) => length >= 0)
    .map((length, n) => entry(`key-${String(n).padStart(4, '0')}`, Buffer.alloc(length, n)))
  const { bytes, summary } = encoded({ objects: entries.slice(0, 9), slices: entries })
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const length = random.chance(0.3) ? 1 + random.below(30) : 1 + random.below(3_000_000)
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  const found = decoded(chunks)
  t.same(found.summary, summary)
  t.equal(summary.bytes, bytes.length)
  const given = found.contents.slices!
  t.equal(given.length, entries.length)
  t.ok(
    given.every(({ key, value }, n) => {
      const { key: name, value: content } = entries[n]!
      return Buffer.compare(key, name) === 0 && Buffer.compare(value, content) === 0
    }),
  )
})

t.test('any entries come back as they were', async (t) => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
  const contents = fc
    .array(fc.tuple(fc.constantFrom(...partitions), bytes, fc.uint8Array({ maxLength: 300 })))
    .map((entries) => {
      const found: Partial<Record<PartitionName, Entry[]>> = {}
      const seen = new Set<string>()
      for (const [name, key, value] of entries) {
        const id = `${name} ${Buffer.from(key).toString('hex')}`
        // The mark of a restore.
        if (seen.has(id) || (key.length === 1 && key[0] === 0)) continue
        seen.add(id)
        ;(found[name] ??= []).push({ key, value })
      }
      for (const list of Object.values(found)) list.sort((a, b) => Buffer.compare(a.key, b.key))
      return found
    })
  fc.assert(
    fc.property(contents, fc.nat(), (contents, cut) => {
      const { bytes, summary } = encoded(contents)
      const at = cut % bytes.length
      const found = decoded([bytes.subarray(0, at), bytes.subarray(at)])
      return (
        JSON.stringify(hex(found.contents)) === JSON.stringify(hex(contents)) &&
        JSON.stringify(found.summary) === JSON.stringify(summary)
      )
    }),
  )
  t.pass()
})

t.test('a block of any length keeps its bytes while the next parts are read', async (t) => {
  // Blocks of the length of a head, and of the end, among them.
  for (let length = 1; length < 250; length++) {
    const contents = { slices: [entry('k', Buffer.alloc(length, 7))] }
    const found = decoded([encoded(contents).bytes])
    if (JSON.stringify(hex(found.contents)) !== JSON.stringify(hex(contents))) t.fail(`${length}`)
  }
  t.pass()
})

t.test('keys out of order, twice, or of the mark of a restore are refused', async (t) => {
  const nothing = new Uint8Array(0)
  for (const keys of [['b', 'a'], ['a', 'a'], ['\0']]) {
    const entries = keys.map((key) => entry(key, nothing))
    t.equal(refusal(encoded({ cores: entries }).bytes), 'LK_BACKUP_DAMAGED', keys.join())
  }
})

t.test('another version is named', async (t) => {
  const { bytes } = encoded(small)
  bytes.writeUInt32LE(2, 8)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 20)), 20)
  t.throws(() => decoded([bytes]), { code: 'LK_BACKUP_FORMAT', details: { version: 2 } })
})
