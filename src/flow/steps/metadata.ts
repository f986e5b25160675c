// What the metadata of a document say of the document itself.

import { annotationProblem } from '../../terms.js'
import type { Term } from '../../types.js'
import type { FlowDocument } from '../types.js'
import { documentUri, vocabulary } from './vocabulary.js'

type Described = Pick<FlowDocument, 'id' | 'metadata'>

/** The literals that they have of it by one of these predicates, predicate by predicate. */
export function literalsOf(
  { id, metadata }: Described,
  base: string,
  predicates: readonly string[],
): Term[] {
  const found: Term[] = []
  if (metadata.length === 0) return found
  // An id that is no IRI stands in metadata as it is, more often than as the core has it.
  const uri = documentUri(id, base)
  for (const predicate of predicates) {
    for (const { s, p, o } of metadata) {
      if (p.v === predicate && !o.e && (s.v === id || s.v === uri)) found.push(o)
    }
  }
  return found
}

/** What metadata have titles in, the clearest first. */
export const titlePredicates: readonly string[] = [
  vocabulary.dctermsTitle,
  vocabulary.dcTitle,
  vocabulary.name,
  vocabulary.label,
]

/** The tag of the language that it is in; undefined where they name none, or several. */
export function languageOf(document: Described, base: string): string | undefined {
  const { language, inLanguage, dcLanguage } = vocabulary
  const said = literalsOf(document, base, [language, inLanguage, dcLanguage])
  const tags = new Map(said.map(({ v }) => [v.toLowerCase(), v]))
  const [tag, ...others] = tags.values()
  return tag !== undefined && others.length === 0 && isTag(tag) ? tag : undefined
}

/** `English` is well formed as a tag, but languages have two letters or three (RFC 5646, 2.2.1). */
function isTag(text: string): boolean {
  return /^[a-z]{2,3}(?:-|$)/i.test(text) && annotationProblem({ e: false, ln: text }) === undefined
}
