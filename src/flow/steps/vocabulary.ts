// The RDF terms that the store step writes, and what may name a thing in RDF.

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#'
const dcterms = 'http://purl.org/dc/terms/'
const schema = 'https://schema.org/'
const prov = 'http://www.w3.org/ns/prov#'
const skos = 'http://www.w3.org/2004/02/skos/core#'
const nif = 'http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#'

export const vocabulary = {
  type: `${rdf}type`,
  label: `${rdfs}label`,
  definition: `${skos}definition`,
  hasPart: `${dcterms}hasPart`,
  isPartOf: `${dcterms}isPartOf`,
  wasDerivedFrom: `${prov}wasDerivedFrom`,
  subjectOf: `${schema}subjectOf`,
  position: `${schema}position`,
  // Not schema.org's startOffset and endOffset: those are seconds of a clip.
  beginIndex: `${nif}beginIndex`,
  endIndex: `${nif}endIndex`,
  DigitalDocument: `${schema}DigitalDocument`,
  String: `${nif}String`,
} as const

/** Where the reference system has the URIs of its documents and entities. */
export const defaultBase = 'http://trustgraph.ai/'

/** @throws TypeError */
export function checkBase(base: unknown): string {
  if (typeof base === 'string' && isIri(base)) return base
  throw new TypeError(`base must begin a URI, such as ${defaultBase}, not ${String(base)}`)
}

const iri =
  /^[a-z][a-z0-9+.-]*:(?:[^\p{Cc}\s<>"{}|\\^`%#]|%[0-9a-f]{2})+(?:#(?:[^\p{Cc}\s<>"{}|\\^`%#]|%[0-9a-f]{2})*)?$/iu

/** True for an absolute IRI that any RDF syntax can carry. */
export function isIri(text: string): boolean {
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
