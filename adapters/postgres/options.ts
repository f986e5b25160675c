import type { ConnectionOptions } from 'node:tls'
import { aCount, aFlag, aRule, longestTimer } from '../../src/door/rules.js'
import { isRecord } from '../../src/door/wording.js'

export interface PostgresOptions {
  /**
   * Where the database is, as libpq writes it: `postgres://user:password@host:5432/database`. Several hosts are a
   * primary and its standbys, in any order: `postgres://user@one:5432,two:5432/database`. `sslmode`,
   * `sslrootcert`, `sslcert` and `sslkey` may follow as parameters.
   */
  readonly url: string
  /** The tables are in this schema, so that several stores can share a database. Default `lorekeep`. */
  readonly schema?: string
  /**
   * Whether others may have the same store open at the same time, all of them with `shared`. With false who has opened
   * it is alone with it, and others are refused with `LK_STORAGE_LOCKED`. Default true.
   */
  readonly shared?: boolean
  /**
   * So many milliseconds long a lost connection is made anew, and what was asked is asked again, before the caller is
   * told, counted from when the loss is noticed. Default 10,000.
   */
  readonly retryMs?: number
  /** Connections for reading, at most. Each partition has one more for writing. Default 8. */
  readonly connections?: number
  /** Milliseconds that the server may take for one statement (`statement_timeout`). Default 30,000. */
  readonly statementTimeoutMs?: number
  /**
   * Milliseconds that a snapshot lasts at most, in which a backup or a verification has to be done: the server deletes
   * nothing meanwhile. Default 21,600,000, six hours.
   */
  readonly snapshotMs?: number
  /** TLS with options of `node:tls`, where the parameters of the URL do not say enough. */
  readonly ssl?: ConnectionOptions
}

const aUrl: ReturnType<typeof aRule<string>> = {
  ...aRule<string>(
    'a string such as postgres://user:password@host:5432/database, with ports of at most 65535, and with /, ?, # and @ of a password written as %2F, %3F, %23 and %40',
    (value) =>
      typeof value === 'string' &&
      /^postgres(?:ql)?:\/\//.test(value) &&
      urlsOf(value).every(isReadable),
  ),
  // It may have a password.
  isSecret: true,
}

// Within the 63 bytes of a name in PostgreSQL; never quoted otherwise than it is written.
const aSchema = aRule<string>(
  'a name of 1 to 63 lower case letters, digits and _, the first one a letter or _, not beginning with pg_',
  (value) => typeof value === 'string' && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(value),
)

const aTls = aRule<ConnectionOptions>('options of node:tls', isRecord)

export const postgresOptions = {
  url: aUrl,
  schema: aSchema,
  shared: aFlag,
  retryMs: aCount(0, longestTimer),
  connections: aCount(1, 1000),
  statementTimeoutMs: aCount(1, longestTimer),
  snapshotMs: aCount(1, longestTimer),
  ssl: aTls,
}

/** One for each host: the driver takes one host only, and URL() no ports between commas. */
export function urlsOf(url: string): string[] {
  const [, scheme = '', user = '', hosts = '', rest = ''] =
    /^([a-z]+:\/\/)([^@/?#]*@)?([^/?#]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`)
}

/** As the driver reads it, which takes a user without a host, spaces and a % that escapes nothing. */
function isReadable(url: string): boolean {
  const readable = url.replaceAll(' ', '%20').replace('@/', '@host/')
  if (!URL.canParse(readable)) return false
  const port = new URL(readable).searchParams.get('port')
  return !port || parseInt(port, 10) <= 65535
}
