// What a core says of a document: its metadata, its title, its parts with their texts, where
// entities come from, and what was extracted.

import { keyOfTriple } from '../../terms.js'
import type { Turns } from '../../turns.js'
import type { Term, Triple } from '../../types.js'
import type { FlowDocument } from '../types.js'
import type { Knowledge } from './knowledge-input.js'
import { headingAbove, lastAt } from './headings.js'
import { languageOf, literalsOf, titlePredicates } from './metadata.js'
import type { Entity } from './types.js'
import { chunkUri, documentUri, vocabulary } from './vocabulary.js'

/** What others wrote: only that can come twice. What is made here is far more, and not remembered. */
interface GivenTriples {
  readonly metadata: readonly Triple[]
  readonly relations: readonly Triple[]
  readonly keys: ReadonlySet<string>
  readonly predicates: ReadonlySet<string>
}

/** Each once. Others have turns meanwhile: 110,000 take 0.2 s. */
export async function givenTriples(
  document: FlowDocument,
  { triples }: Knowledge,
  turns: Turns,
): Promise<GivenTriples> {
  const keys = new Set<string>()
  const predicates = new Set<string>()
  const once = async (all: readonly Triple[]) => {
    const found: Triple[] = []
    for (const triple of all) {
      const { size } = keys
      predicates.add(triple.p.v)
      if (keys.add(keyOfTriple(triple)).size > size) found.push(triple)
      if (turns.isLong) await turns.pass()
    }
    return found
  }
  const metadata = await once(document.metadata)
  return { metadata, relations: await once(triples), keys, predicates }
}

/**
 * Each triple once, and the same ones in the same order for the same knowledge: a core that is
 * written again is the same bytes.
 */
export function* graphTriples(
  document: FlowDocument,
  { chunks, entities }: Knowledge,
  { base, given }: { readonly base: string; readonly given: GivenTriples },
): Generator<Triple, void, undefined> {
  const { metadata, relations, keys, predicates } = given
  const uri = documentUri(document.id, base)
  const source = entityTerm(uri)
  const parts = chunks.map(({ index }) => entityTerm(chunkUri(uri, index)))
  const ln = languageOf(document, base)
  const { pages = [] } = document

  yield* metadata
  for (const triple of made()) {
    // The predicates of most are said of nothing else.
    if (!predicates.has(triple.p.v) || !keys.has(keyOfTriple(triple))) yield triple
  }
  yield* relations

  function* made(): Generator<Triple, void, undefined> {
    yield { s: source, p: terms.type, o: terms.DigitalDocument }
    yield* named()
    for (const { index, start, end } of chunks) {
      const s = parts[index] as Term // as many as chunks
      yield { s: source, p: terms.hasPart, o: s }
      yield { s, p: terms.type, o: terms.String }
      yield { s, p: terms.isPartOf, o: source }
      yield { s, p: terms.wasDerivedFrom, o: source }
      yield { s, p: terms.position, o: literal(String(index)) }
      yield { s, p: terms.beginIndex, o: literal(String(start)) }
      yield { s, p: terms.endIndex, o: literal(String(end)) }
      // A step of somebody's own may cut a surrogate pair.
      const text = document.text.slice(start, end).toWellFormed()
      if (fits(text)) yield { s, p: terms.text, o: literal(text, ln) }
      const heading = headingAbove(document, start)
      if (heading) yield { s, p: terms.articleSection, o: literal(heading.text, ln) }
      const last = lastAt(pages, end - 1)?.page
      const page = lastAt(pages, start)?.page ?? last
      if (page !== undefined) yield { s, p: terms.pageStart, o: literal(String(page)) }
      if (last !== undefined && last !== page)
        yield { s, p: terms.pageEnd, o: literal(String(last)) }
    }
    for (const entity of entities) yield* aboutEntity(entity, parts)
  }

  /** The title, once: the metadata may say just this, or the same in other words. */
  function* named(): Generator<Triple, void, undefined> {
    const { title } = document
    if (title === undefined) return
    const isSame = ({ v, e }: Term) => v === title && !e
    const isSaid = ({ s, p, o, g }: Triple) =>
      s.v === uri && p.v === vocabulary.name && g === undefined && isSame(o)
    if (metadata.some(isSaid)) return
    const [known] = literalsOf(document, base, titlePredicates).filter(isSame)
    yield { s: source, p: terms.name, o: literal(title, known?.ln ?? ln) }
  }
}

function* aboutEntity(
  { uri, name, definition, aliases = [], chunks }: Entity,
  parts: readonly Term[],
): Generator<Triple, void, undefined> {
  const s = entityTerm(uri)
  yield { s, p: terms.label, o: literal(name) }
  for (const alias of aliases) {
    yield { s, p: terms.altLabel, o: literal(alias.name) }
    // Not that both are the same: another text means somebody else by the one name.
    yield { s, p: terms.specializationOf, o: entityTerm(alias.uri) }
  }
  if (definition !== undefined) yield { s, p: terms.definition, o: literal(definition) }
  for (const index of chunks) {
    const o = parts[index] as Term // checked to be the index of a chunk
    // The reference's clients follow the one, and PROV's from an entity to its document the other.
    yield { s, p: terms.subjectOf, o }
    yield { s, p: terms.wasDerivedFrom, o }
  }
}

export function entityTerm(v: string): Term {
  return { v, e: true }
}

function literal(v: string, ln?: string): Term {
  return ln === undefined ? { v, e: false } : { v, e: false, ln }
}

/** What a string in a core may have. */
const maxTextBytes = 1024 * 1024

function fits(text: string): boolean {
  // No character has more than three bytes of UTF-8 for each of its code units.
  return text.length * 3 <= maxTextBytes || Buffer.byteLength(text, 'utf8') <= maxTextBytes
}

const terms = Object.fromEntries(
  Object.entries(vocabulary).map(([name, uri]) => [name, entityTerm(uri)]),
) as Readonly<Record<keyof typeof vocabulary, Term>>
