import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { PostgresBackend, type PostgresOptions } from '../../../adapters/postgres/index.js'
import { put, text } from '../../suite/bytes.js'
import { Cluster, skip } from './cluster.js'

const noTool = spawnSync('openssl', ['version']).error ? 'openssl is not installed' : false

if (skip !== false || noTool !== false) {
  void t.test('PostgreSQL with TLS', { skip: skip || noTool }, () => undefined)
} else {
  void t.test('connections are encrypted where the URL or an option says so', async (t) => {
    const cluster = await Cluster.start({ tls: true })
    t.teardown(() => cluster.stop())
    const certificate = join(cluster.directory, 'server.crt')
    const encrypted = async (options: PostgresOptions) => {
      await using backend = new PostgresBackend({ retryMs: 0, ...options })
      const storage = await backend.open('flows')
      await put(storage, text('a'), text('1'))
      t.same(await storage.get(text('a')), text('1'))
      const rows = await cluster.query(
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'lorekeep'",
      )
      t.ok(rows.length > 1)
      return rows.map(([ssl]) => ssl)
    }
    const { url } = cluster
    t.notOk((await encrypted({ url })).includes(true))
    const verified = `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(certificate)}`
    t.notOk((await encrypted({ url: verified })).includes(false))
    t.notOk((await encrypted({ url, ssl: { ca: readFileSync(certificate) } })).includes(false))
    // A certificate that nobody vouches for.
    await t.rejects(encrypted({ url, ssl: {} }), {
      code: 'LK_STORAGE_UNAVAILABLE',
      message: /self-signed/u,
    })
  })
}
