// PostgreSQL under the stores: slices against what COPY itself moves, and a core from bytes to bytes against LevelDB.
// The server is on the same machine, with everything synced.

import { join } from 'node:path'
import { rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from, to } from 'pg-copy-streams'
import { LevelBackend } from '../adapters/level/index.js'
import { PostgresBackend } from '../adapters/postgres/index.js'
import { encodeMessage } from '../src/codec/encoder.js'
import { createLorekeep } from '../src/index.js'
import type { Backend } from '../src/storage.js'
import { binaries, Cluster } from '../test/adapters/postgres/cluster.js'
import { triplesMessage } from '../test/fixtures/stores.js'
import { check, compareRates, inDirectory, interleave, MiB, report, seconds } from './measure.js'

const rounds = 5
const slices = 128
const atOnce = 4
const coreBytes = 64 * MiB

/** What no compression makes smaller. */
const values = Array.from({ length: slices }, () => {
  const value = Buffer.alloc(MiB)
  for (let at = 0; at < MiB; at += 4) value.writeInt32LE((Math.random() * 2 ** 32) | 0, at)
  return value
})

if (binaries === undefined) {
  report({ scenario: 'PostgreSQL', peer: 'COPY', skipped: 'PostgreSQL is not installed' })
} else {
  const settings = ['fsync = on', 'max_wal_size = 4GB', 'shared_buffers = 256MB']
  const cluster = await Cluster.start({ settings })
  try {
    await bulk(cluster)
    await cores(cluster)
  } finally {
    await cluster.stop()
  }
}

async function bulk(cluster: Cluster): Promise<void> {
  const times = await interleave(rounds, {
    copyIn: async () => {
      await cluster.query('DROP TABLE IF EXISTS copied')
      await cluster.query('CREATE TABLE copied (key bytea PRIMARY KEY, value bytea NOT NULL)')
      await cluster.query('ALTER TABLE copied ALTER value SET STORAGE EXTERNAL')
      return copyIn(cluster)
    },
    copyOut: () => copyOut(cluster),
    write: async () => {
      await cluster.query('DROP SCHEMA IF EXISTS lorekeep CASCADE')
      await using backend = new PostgresBackend({ url: cluster.url })
      const storage = await backend.open('slices')
      return await seconds(() =>
        each((n) => storage.write([{ type: 'put', key: keyOf(n), value: values[n]! }])),
      )
    },
    read: async () => {
      await using backend = new PostgresBackend({ url: cluster.url })
      const storage = await backend.open('slices')
      return await seconds(() =>
        each(async (n) => {
          const value = await storage.get(keyOf(n))
          check(value?.length === MiB, 'the length of a slice')
        }),
      )
    },
  })
  const bytes = slices * MiB
  const least = { least: 0.5 }
  report(
    compareRates(
      { scenario: 'slices of 1 MiB to PostgreSQL, 4 at once', peer: 'COPY FROM, binary' },
      bytes,
      times.write,
      times.copyIn,
      least,
    ),
  )
  report(
    compareRates(
      { scenario: 'slices of 1 MiB from PostgreSQL, 4 at once', peer: 'COPY TO, binary' },
      bytes,
      times.read,
      times.copyOut,
      least,
    ),
  )
}

async function cores(cluster: Cluster): Promise<void> {
  await inDirectory(async (directory) => {
    const message = encodeMessage(triplesMessage('core', 2000))
    const count = Math.ceil(coreBytes / message.length)
    const ref = { user: 'bench', id: 'core' }
    let digest = ''
    const import_ = async (backend: Backend) => {
      await using keep = await createLorekeep({ backend, indexThreads: 0 })
      return await seconds(async () => {
        const content = (function* () {
          for (let n = 0; n < count; n++) yield message
        })()
        const summary = await keep.knowledge.import(ref, content)
        digest ||= summary.digest
        check(summary.digest === digest, 'the digest of the core')
      })
    }
    const export_ = async (backend: Backend) => {
      await using keep = await createLorekeep({ backend, indexThreads: 0 })
      return await seconds(async () => {
        let bytes = 0
        for await (const chunk of await keep.knowledge.export(ref)) bytes += chunk.length
        check(bytes >= count * message.length, 'the length of the export')
      })
    }
    const level = join(directory, 'level')
    const times = await interleave(rounds, {
      postgresImport: async () => {
        await cluster.query('DROP SCHEMA IF EXISTS lorekeep CASCADE')
        return import_(new PostgresBackend({ url: cluster.url }))
      },
      postgresExport: () => export_(new PostgresBackend({ url: cluster.url })),
      levelImport: async () => {
        await rm(level, { recursive: true, force: true })
        return import_(new LevelBackend(level))
      },
      levelExport: () => export_(new LevelBackend(level)),
    })
    const bytes = count * message.length
    const peer = 'LevelDB'
    report(
      compareRates(
        { scenario: 'import of a core of 64 MiB to PostgreSQL', peer },
        bytes,
        times.postgresImport,
        times.levelImport,
      ),
    )
    report(
      compareRates(
        { scenario: 'export of a core of 64 MiB from PostgreSQL', peer },
        bytes,
        times.postgresExport,
        times.levelExport,
      ),
    )
  })
}

function keyOf(n: number): Buffer {
  return Buffer.from(`slice ${String(n).padStart(6, '0')}`)
}

async function each(work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < slices) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

async function copyIn(cluster: Cluster): Promise<number> {
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  try {
    return await seconds(async () => {
      const stream = client.query(from('COPY copied FROM STDIN (FORMAT binary)'))
      const head = Buffer.alloc(19)
      head.write('PGCOPY\n\xff\r\n\0', 'latin1')
      stream.write(head)
      for (const [n, value] of values.entries()) {
        const key = keyOf(n)
        const row = Buffer.alloc(10 + key.length)
        row.writeInt16BE(2, 0)
        row.writeInt32BE(key.length, 2)
        row.set(key, 6)
        row.writeInt32BE(value.length, 6 + key.length)
        stream.write(row)
        if (!stream.write(value)) await new Promise((resolve) => stream.once('drain', resolve))
      }
      stream.end(Buffer.from([0xff, 0xff]))
      await finished(stream)
    })
  } finally {
    await client.end()
  }
}

async function copyOut(cluster: Cluster): Promise<number> {
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  try {
    return await seconds(async () => {
      let bytes = 0
      const stream = client.query(to('COPY copied TO STDOUT (FORMAT binary)'))
      for await (const piece of stream) bytes += (piece as Buffer).length
      check(bytes > slices * MiB, 'the length of what COPY gives')
    })
  } finally {
    await client.end()
  }
}
