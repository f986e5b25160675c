// Entities of a document that are one thing become one, with its other names.

import { keyOfTriple } from '../../terms.js'
import type { Term, Triple } from '../../types.js'
import type { StepContext } from '../types.js'
import { saidApart } from './said-apart.js'
import { sameNames, type Named } from './same-names.js'
import type { Entity } from './types.js'

interface Found {
  readonly entities: readonly Entity[]
  readonly triples: readonly Triple[]
}

/** What the user has split stays apart. `uriOf` a name. */
export async function asOne(
  found: Found,
  uriOf: (name: string) => string,
  context: StepContext,
): Promise<Found> {
  const { entities, triples } = found
  const groups = sameNames(context.document, { entities, triples, uriOf })
  if (groups.length === 0) return found
  const isApart = await saidApart(context)
  /** By URI what it is called now. */
  const renamed = new Map<string, string>()
  const aliases = new Map<string, Named[]>()
  for (const [first, ...others] of groups) {
    for (const other of others) {
      const those = [first, ...(aliases.get(first.uri) ?? [])]
      if (those.some(({ uri }) => isApart(uri, other.uri))) continue
      renamed.set(other.uri, first.uri)
      aliases.set(first.uri, [...those.slice(1), other])
    }
  }
  if (renamed.size === 0) return found
  return { entities: joined(entities, renamed, aliases), triples: moved(triples, renamed) }
}

function joined(
  entities: readonly Entity[],
  renamed: ReadonlyMap<string, string>,
  aliases: ReadonlyMap<string, readonly Named[]>,
): Entity[] {
  const byUri = new Map(entities.map((entity) => [entity.uri, entity]))
  const kept = entities.filter(({ uri }) => !renamed.has(uri))
  return kept.map((entity) => {
    const own = aliases.get(entity.uri)
    if (own === undefined) return entity
    const all = [entity, ...own.flatMap(({ uri }) => byUri.get(uri) ?? [])]
    const definition = all.find(({ definition }) => definition !== undefined)?.definition
    const chunks = [...new Set(all.flatMap(({ chunks }) => chunks))].sort((a, b) => a - b)
    return { ...entity, ...(definition !== undefined && { definition }), chunks, aliases: own }
  })
}

function moved(triples: readonly Triple[], renamed: ReadonlyMap<string, string>): Triple[] {
  const term = (term: Term): Term => {
    const v = term.e ? renamed.get(term.v) : undefined
    return v === undefined ? term : { ...term, v }
  }
  const found = new Map<string, Triple>()
  for (const triple of triples) {
    const [s, o] = [term(triple.s), term(triple.o)]
    // What is said of two names of one thing says nothing.
    const isNothing = s.v === o.v && o.e && triple.s.v !== triple.o.v
    const kept = s === triple.s && o === triple.o ? triple : { ...triple, s, o }
    if (!isNothing) found.set(keyOfTriple(kept), kept)
  }
  return [...found.values()]
}
