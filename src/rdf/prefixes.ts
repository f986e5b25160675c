// Prefixes for namespaces that many use.

import { xsd } from '../terms.js'

const prefixes: Readonly<Record<string, string>> = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd,
  owl: 'http://www.w3.org/2002/07/owl#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  prov: 'http://www.w3.org/ns/prov#',
  dcterms: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  schema: 'https://schema.org/',
}

const byNamespace = new Map(Object.entries(prefixes).map(([prefix, iri]) => [iri, prefix]))

/** The namespace of an IRI and its prefix, where it is one of these. */
export function prefixOf(iri: string): readonly [prefix: string, namespace: string] | undefined {
  const namespace = iri.slice(0, Math.max(iri.lastIndexOf('#'), iri.lastIndexOf('/')) + 1)
  const prefix = byNamespace.get(namespace)
  return prefix === undefined ? undefined : [prefix, namespace]
}

/** True for `schema:name`: an IRI of a scheme that is called as one of the prefixes. */
export function looksPrefixed(iri: string): boolean {
  return Object.hasOwn(prefixes, iri.slice(0, iri.indexOf(':')))
}
