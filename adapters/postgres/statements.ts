// What is asked of a partition, as SQL.

import type { PartitionName, Range } from '../../src/storage.js'
import type { Statement } from './connection.js'
import { writersOf, tableOf } from './tables.js'

/** Values up to this length come in a prepared statement's result, longer ones by COPY. */
const shortBytes = 64 * 1024

/** For this transaction: the server's default may have become `off` since the session began. */
const synchronous = `CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) END`

export class Statements {
  /** Parameters: keys. Rows: place from 1, and the value, null where it is too long to come this way. */
  readonly get: Statement
  /** Parameters: key, the first of its value's bytes, from 1 on, and how many. */
  readonly getBytes: Statement
  /**
   * Carries out a group of writes in one transaction. None of its writes has a key of another one, so that they do
   * not depend on each other. Parameters: writer, sequence; of preconditions the number of the write, its
   * place there, key and value (null: absent); of what is stored the number of the write, keys and values; of what is deleted
   * the number of the write and keys. Rows: the number of a write that was refused, and the place of the first precondition of it that does
   * not hold.
   */
  readonly write: Statement
  /** Of a group without preconditions; parameters: writer, sequence, stored keys and values, deleted keys. */
  readonly append: Statement
  readonly #table: string

  constructor(schema: string, partition: PartitionName) {
    const table = tableOf(schema, partition)
    const writers = writersOf(schema)
    this.#table = table
    this.get = {
      name: `get ${partition}`,
      text: `SELECT asked.n::int4, CASE WHEN octet_length(entry.value) <= ${shortBytes} THEN entry.value END
        FROM unnest($1::bytea[]) WITH ORDINALITY AS asked(key, n) JOIN ${table} AS entry ON entry.key = asked.key`,
    }
    this.getBytes = {
      name: `bytes ${partition}`,
      text: `SELECT substring(value FROM $2::int4 FOR $3::int4) FROM ${table} WHERE key = $1::bytea`,
    }
    // unnest() among the columns hands out one row after the other; in FROM it would gather them all first.
    this.write = {
      name: `write ${partition}`,
      text: `WITH refused AS MATERIALIZED (
          SELECT required.n, min(required.place) AS place
          FROM unnest($3::int4[], $4::int4[], $5::bytea[], $6::bytea[]) AS required(n, place, key, value)
          LEFT JOIN ${table} AS entry ON entry.key = required.key
          WHERE entry.value IS DISTINCT FROM required.value GROUP BY required.n
        ), deleted AS (
          DELETE FROM ${table} AS entry
          USING (SELECT unnest($10::int4[]) AS n, unnest($11::bytea[]) AS key) AS given
          WHERE entry.key = given.key AND given.n NOT IN (SELECT n FROM refused)
        ), stored AS (
          INSERT INTO ${table} AS entry (key, value) SELECT given.key, given.value
          FROM (SELECT unnest($7::int4[]) AS n, unnest($8::bytea[]) AS key, unnest($9::bytea[]) AS value) AS given
          WHERE given.n NOT IN (SELECT n FROM refused)
          ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value
        ), noted AS (
          UPDATE ${writers} SET sequence = $2::int8, written = now(),
            refused = (SELECT coalesce(array_agg(n ORDER BY n), '{}') FROM refused),
            positions = (SELECT coalesce(array_agg(place ORDER BY n), '{}') FROM refused)
          WHERE writer = $1::text RETURNING ${synchronous}
        ) SELECT n, place FROM refused`,
    }
    this.append = {
      name: `append ${partition}`,
      text: `WITH deleted AS (
          DELETE FROM ${table} AS entry USING (SELECT unnest($5::bytea[]) AS key) AS given
          WHERE entry.key = given.key
        ), stored AS (
          INSERT INTO ${table} AS entry (key, value)
          SELECT unnest($3::bytea[]), unnest($4::bytea[])
          ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value
        ) UPDATE ${writers} SET sequence = $2::int8, written = now(), refused = '{}', positions = '{}'
          WHERE writer = $1::text RETURNING ${synchronous}`,
    }
  }

  /** As `get`, with values of any length, to be copied. */
  copyOf(keys: readonly Uint8Array[]): string {
    return `SELECT asked.n::int4, entry.value
      FROM unnest(ARRAY[${keys.map(literal).join(',')}]) WITH ORDINALITY AS asked(key, n)
      JOIN ${this.#table} AS entry ON entry.key = asked.key`
  }

  /** The first page of a range, to be copied: keys and values, ended behind so many bytes. */
  pageOf(
    { reverse = false, keysOnly = false, ...bounds }: Range,
    rows: number,
    bytes: number,
  ): string {
    const conditions = [
      bounds.gte && `key >= ${literal(bounds.gte)}`,
      bounds.gt && `key > ${literal(bounds.gt)}`,
      bounds.lte && `key <= ${literal(bounds.lte)}`,
      bounds.lt && `key < ${literal(bounds.lt)}`,
    ].filter((condition) => condition !== undefined)
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const order = `ORDER BY key${reverse ? ' DESC' : ''}`
    const first = `FROM ${this.#table} ${where} ${order} LIMIT ${rows}`
    if (keysOnly) return `SELECT key ${first}`
    // The length of a long value is known without reading it.
    return `SELECT key, value FROM (
        SELECT key, value, sum(octet_length(key) + octet_length(value)) OVER (${order} ROWS UNBOUNDED PRECEDING)
          - octet_length(key) - octet_length(value) AS before
        FROM (SELECT key, value ${first}) AS entries
      ) AS page WHERE before <= ${bytes} ${order}`
  }
}

function literal(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes
  return `'\\x${Buffer.from(buffer, byteOffset, length).toString('hex')}'::bytea`
}
