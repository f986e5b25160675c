// Objects as files: JSON line by line, and tables for spreadsheets (RFC 4180).

import type { StoredObject } from '../../../objects/types.js'

export type OutputFormat = 'ndjson' | 'csv'

/** Written and sent in pieces of about this size. */
const pieceLength = 64 * 1024

/** @param fields columns of the table, behind those of the place; not of lines, which have all that is there */
export async function* outputOf(
  objects: AsyncIterable<StoredObject>,
  format: OutputFormat,
  fields: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const columns = ['_id', '_collection', ...fields]
  let text = format === 'csv' ? rowOf(columns) : ''
  for await (const object of objects) {
    signal.throwIfAborted()
    text +=
      format === 'csv'
        ? rowOf(columns.map((column) => object[column]))
        : `${JSON.stringify(object)}\n`
    if (text.length < pieceLength) continue
    yield encoder.encode(text)
    text = ''
  }
  if (text !== '') yield encoder.encode(text)
}

function rowOf(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? inert(value) : JSON.stringify(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A text, where spreadsheets would take it for a formula and run it: https://owasp.org/www-community/attacks/CSV_Injection */
function inert(text: string): string {
  return /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text
}
