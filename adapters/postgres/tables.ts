// The tables of a store, made when it is first opened.

import { createHash } from 'node:crypto'
import { LorekeepError } from '../../src/errors.js'
import type { PartitionName } from '../../src/storage.js'
import type { Connection } from './connection.js'

/** Of the tables; what is in them has versions of its own. */
const version = 1

export const partitionNames: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']

/** The table of a partition. */
export function tableOf(schema: string, partition: PartitionName): string {
  return `"${schema}"."${partition}"`
}

/** Who writes to a partition, and which of his groups of writes was the last one that was carried out. */
export function writersOf(schema: string): string {
  return `"${schema}"."writers"`
}

/** The channel of the messages of a store: its name is one of PostgreSQL's, of at most 63 bytes. */
export function channelOf(schema: string): string {
  return `lorekeep.${lockOf(schema, 'messages')}`
}

/** The number of an advisory lock: these have no names. */
export function lockOf(schema: string, subject: string): string {
  return createHash('sha256')
    .update(`lorekeep/${schema}/${subject}`)
    .digest()
    .readBigInt64BE()
    .toString()
}

export async function hasTables(connection: Connection, schema: string): Promise<boolean> {
  const text = 'SELECT to_regclass($1) IS NOT NULL'
  const [row] = await connection.run<[boolean]>(text, [`"${schema}"."format"`])
  return row?.[0] === true
}

export async function makeTables(connection: Connection, schema: string): Promise<void> {
  // Who may not make tables can use those that are there.
  if (!(await hasTables(connection, schema))) {
    // IF NOT EXISTS asks for the right to make a schema also where there is one.
    const text = 'SELECT to_regnamespace($1) IS NOT NULL'
    const [row] = await connection.run<[boolean]>(text, [`"${schema}"`])
    await connection.run(statementsOf(schema, row?.[0] === true))
  }
  const [row] = await connection.run<[number]>(`SELECT version FROM "${schema}"."format"`)
  if (row?.[0] === version) return
  const detail = `the tables in the schema ${schema} have version ${String(row?.[0])}; this lorekeep knows ${version}`
  throw new LorekeepError('LK_STORAGE_FORMAT', detail)
}

/** One transaction: statements that are sent as one text are. */
function statementsOf(schema: string, hasSchema: boolean): string {
  const tables = partitionNames.map((name) => {
    const table = tableOf(schema, name)
    // Values that are compressed, or small records that are read often, gain nothing from being compressed once more.
    const plain =
      name === 'slices' || name === 'flows'
        ? `ALTER TABLE ${table} ALTER COLUMN value SET STORAGE EXTERNAL;`
        : ''
    return `CREATE TABLE IF NOT EXISTS ${table} (key bytea PRIMARY KEY, value bytea NOT NULL); ${plain}`
  })
  return `
    SELECT pg_advisory_xact_lock(${lockOf(schema, 'tables')});
    ${hasSchema ? '' : `CREATE SCHEMA IF NOT EXISTS "${schema}";`}
    ${tables.join('\n')}
    CREATE TABLE IF NOT EXISTS ${writersOf(schema)} (
      writer text PRIMARY KEY, partition text NOT NULL, shared bool NOT NULL, sequence int8 NOT NULL,
      refused int4[] NOT NULL, positions int4[] NOT NULL, written timestamptz NOT NULL);
    CREATE TABLE IF NOT EXISTS "${schema}"."format" (version int4 PRIMARY KEY);
    INSERT INTO "${schema}"."format" VALUES (${version}) ON CONFLICT DO NOTHING;`
}
