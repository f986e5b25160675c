// Entities of a document that are one thing become one, with its other names.

import { keyOfTriple } from '../../terms.js'
import type { Turns } from '../../turns.js'
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
  turns: Turns,
): Promise<Found> {
  const { entities, triples } = found
  const groups = await sameNames(context.document, { entities, triples, uriOf }, turns)
  if (groups.length === 0) return found
  const isApart = await saidApart(context)
  /** By URI what it is called now. */
  const renamed = new Map<string, string>()
  const aliases = new Map<string, Named[]>()
  for (const [first, ...others] of groups) {
    const those = [first]
    for (const other of others) {
      if (turns.isLong) await turns.pass()
      if (those.some(({ uri }) => isApart(uri, other.uri))) continue
      renamed.set(other.uri, first.uri)
      those.push(other)
    }
    if (those.length > 1) aliases.set(first.uri, those.slice(1))
  }
  if (renamed.size === 0) return found
  return {
    entities: await joined(entities, renamed, aliases, turns),
    triples: await moved(triples, renamed, turns),
  }
}

async function joined(
  entities: readonly Entity[],
  renamed: ReadonlyMap<string, string>,
  aliases: ReadonlyMap<string, readonly Named[]>,
  turns: Turns,
): Promise<Entity[]> {
  const byUri = new Map(entities.map((entity) => [entity.uri, entity]))
  const kept: Entity[] = []
  for (const entity of entities) {
    if (turns.isLong) await turns.pass()
    if (renamed.has(entity.uri)) continue
    const own = aliases.get(entity.uri)
    if (own === undefined) {
      kept.push(entity)
      continue
    }
    const all = [entity, ...own.flatMap(({ uri }) => byUri.get(uri) ?? [])]
    const definition = all.find(({ definition }) => definition !== undefined)?.definition
    const chunks = [...new Set(all.flatMap(({ chunks }) => chunks))].sort((a, b) => a - b)
    kept.push({ ...entity, ...(definition !== undefined && { definition }), chunks, aliases: own })
  }
  return kept
}

async function moved(
  triples: readonly Triple[],
  renamed: ReadonlyMap<string, string>,
  turns: Turns,
): Promise<Triple[]> {
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
    if (turns.isLong) await turns.pass()
  }
  return [...found.values()]
}
