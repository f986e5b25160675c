// What the members of a workspace's archive are, by their names.

import type { TarMember } from './tar.js'

export type Member = { readonly tar: TarMember; readonly name: string } & (
  | { readonly type: 'manifest' }
  | { readonly type: 'config' }
  | { readonly type: 'unknown' }
  | { readonly type: 'triples'; readonly collection: string }
  /** `key` is the same for what describes a document and for its content. */
  | { readonly type: 'description'; readonly key: string }
  | { readonly type: 'content'; readonly key: string }
)

const library = 'knowledge/library/'
const description = '.meta.json'
const content = '.content'
const knowledge = 'knowledge/'
const triples = '/triples.nq'

/** Undefined for directories, which hold nothing by themselves. */
export function memberOf(tar: TarMember): Member | undefined {
  if (tar.type === 'directory') return undefined
  // As `tar -c .` has them.
  const name = tar.name.replace(/^(?:\.\/)+/, '')
  // macOS puts a file `._name` beside each that has attributes.
  if (tar.type === 'other' || /(?:^|\/)\._[^/]*$/.test(name)) return { type: 'unknown', tar, name }
  if (name === 'manifest.json') return { type: 'manifest', tar, name }
  if (name.startsWith('config/') && name.endsWith('.json')) return { type: 'config', tar, name }
  // The order is that of the reference system: a collection may be called `library`.
  const described = between(name, library, description)
  if (described !== undefined) return { type: 'description', tar, name, key: described }
  const held = between(name, library, content)
  if (held !== undefined) return { type: 'content', tar, name, key: held }
  const collection = between(name, knowledge, triples)
  if (collection !== undefined) return { type: 'triples', tar, name, collection }
  return { type: 'unknown', tar, name }
}

/** Decoded; undefined where nothing is between. */
function between(name: string, start: string, end: string): string | undefined {
  if (!name.startsWith(start) || !name.endsWith(end)) return undefined
  if (name.length <= start.length + end.length) return undefined
  const encoded = name.slice(start.length, -end.length)
  try {
    return decodeURIComponent(encoded)
  } catch {
    // Written by hand: a % that is one.
    return encoded
  }
}

/** The graph that an export has all triples of a collection in. */
export function graphOf(collection: string): string {
  // As Python's quote() has it.
  const quoted = encodeURIComponent(collection).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `urn:trustgraph:collection:${quoted}`
}
