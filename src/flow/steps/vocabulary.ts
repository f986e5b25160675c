// What may name a thing in RDF, and the URIs of documents and their chunks.

import { aRule } from '../../door/rules.js'

export { vocabulary } from '../../vocabulary.js'

/** Where the reference system has the URIs of its documents and entities. */
export const defaultBase = 'http://trustgraph.ai/'

export const aBase = aRule<string>(
  `the beginning of a URI, such as '${defaultBase}'`,
  (base) => typeof base === 'string' && isIri(base),
)

const iri =
  /^[a-z][a-z0-9+.-]*:(?:[^\p{Cc}\s<>"{}|\\^`%#]|%[0-9a-f]{2})+(?:#(?:[^\p{Cc}\s<>"{}|\\^`%#]|%[0-9a-f]{2})*)?$/iu

/** True for an absolute IRI that any RDF syntax can carry. */
function isIri(text: string): boolean {
  return iri.test(text)
}

/**
 * A document's id where that is an absolute IRI. Any other is percent-encoded behind the base:
 * `http://trustgraph.ai/d/My%20notes`.
 */
export function documentUri(id: string, base: string): string {
  return isIri(id) ? id : `${base}d/${encodeURIComponent(id)}`
}

/**
 * Below the document's URI, whatever that is: a query, a fragment and the name of a URN may all
 * contain `/c0`. No two chunks of any documents share one.
 */
export function chunkUri(documentUri: string, index: number): string {
  return `${documentUri}/c${index}`
}
