// RDF texts in and out of messages.

import type { RdfExtras } from '../../src/rdf/extras.js'
import { parseRdf } from '../../src/rdf/parse.js'
import type { RdfParseOptions } from '../../src/rdf/parse.js'
import { writeRdf } from '../../src/rdf/write.js'
import type { CoreMessage, Term, Triple } from '../../src/types.js'

export interface Parsed {
  readonly messages: readonly CoreMessage[]
  readonly triples: readonly Triple[]
  readonly extras: RdfExtras
}

export async function parse(
  text: string | Uint8Array | Iterable<Uint8Array>,
  options: RdfParseOptions,
): Promise<Parsed> {
  const parsed = parseRdf(typeof text === 'string' ? Buffer.from(text) : text, options)
  const messages: CoreMessage[] = []
  for await (const message of parsed) messages.push(message)
  const triples = messages.flatMap(([type, data]) => (type === 't' ? data.t : []))
  return { messages, triples, extras: parsed.extras }
}

export async function write(
  source: Iterable<CoreMessage | Triple>,
  format: string,
): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of writeRdf(source, { format })) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const entity = (v: string): Term => ({ v, e: true })
export const literal = (v: string): Term => ({ v, e: false })

/** A triple in brief: `s p o`, literals in quotes. */
export function brief({ s, p, o }: Triple): string {
  return [s, p, o].map(({ v, e }) => (e ? v : JSON.stringify(v))).join(' ')
}
