// A graph of a few people and a river, and how to write one.

import type { KnowledgeStore } from '../../src/knowledge/types.js'
import type { Triple } from '../../src/types.js'

export const iri = (v: string) => ({ v, e: true })
export const text = (v: string) => ({ v, e: false })
export const label = iri('http://www.w3.org/2000/01/rdf-schema#label')
export const type = iri('http://www.w3.org/1999/02/22-rdf-syntax-ns#type')
const derived = iri('http://www.w3.org/ns/prov#wasDerivedFrom')
const hasText = iri('https://schema.org/text')
export const knows = iri('http://example.org/knows')

export const named = (id: string, name: string, kind: string): Triple[] => [
  { s: iri(id), p: label, o: text(name) },
  { s: iri(id), p: type, o: iri(`http://example.org/${kind}`) },
]

const clara = 'http://example.org/clara'
export const [ellen, dick, thames] = ['ellen', 'dick', 'thames'].map(
  (name) => `http://example.org/${name}`,
) as [string, string, string]

export const boats: readonly Triple[] = [
  ...named(ellen, 'Ellen', 'Person'),
  ...named(dick, 'Dick', 'Person'),
  ...named(clara, 'Clara', 'Person'),
  ...named(thames, 'Thames', 'River'),
  { s: iri(dick), p: knows, o: iri(ellen) },
  { s: iri(dick), p: knows, o: iri(clara) },
  { s: iri(ellen), p: iri('http://example.org/lives by'), o: iri(thames) },
  ...[dick, ellen].map((id) => ({ s: iri(id), p: derived, o: iri('urn:passage') })),
  { s: iri('urn:passage'), p: hasText, o: text('So Dick told Ellen of the haymaking.') },
]

export async function write(
  knowledge: KnowledgeStore,
  id: string,
  t: readonly Triple[],
  user = 'alice',
) {
  const m = { i: id, u: user, m: [], c: 'default' }
  await knowledge.write({ user, id }, [['t', { m, t }]])
}
