// A graph as one thread tells another of it: in columns, since thousands of objects take long to be copied.

import type { Drawn, Shown } from './model.js'
import { cut, shortened } from './names.js'
import { colourOf } from './palette.js'

export interface Sketch {
  /** Of nodes: as much of each as is ever drawn. */
  readonly names: readonly string[]
  /** How many links each node has. */
  readonly degrees: Uint32Array
  /** Of each node: which of the palette. */
  readonly colours: Uint8Array
  /** 1 for each node that there may be more of than is shown. */
  readonly more: Uint8Array
  /** Two nodes for each link: from, and to. */
  readonly ends: Uint32Array
  /** Of each link: what is said by it, as a place among the relations. */
  readonly said: Uint32Array
  readonly relations: readonly string[]
}

/** Longer than any that is drawn, in UTF-16. */
const nameLength = 240

export function sketchOf(drawn: Drawn, shown: Shown): Sketch {
  const { nodes, links } = drawn
  const colours = colourOf(nodes)
  const relations: string[] = []
  const places = new Map<string, number>()
  const placeOf = (predicates: readonly string[], key: string) => {
    const known = places.get(key)
    if (known !== undefined) return known
    const place = relations.push(predicates.map((p) => nameOf(shown, p)).join(', ')) - 1
    places.set(key, place)
    return place
  }
  const said = Uint32Array.from(links, ({ triples }) => {
    const [first] = triples
    // Most say one thing, and there are many.
    if (first !== undefined && triples.length === 1) return placeOf([first.p.v], first.p.v)
    const predicates = [...new Set(triples.map(({ p }) => p.v))]
    return placeOf(predicates, predicates.join(' '))
  })
  const ends = new Uint32Array(2 * links.length)
  links.forEach(({ from, to }, at) => {
    ends[2 * at] = from
    ends[2 * at + 1] = to
  })
  return {
    names: nodes.map(({ name }) => name.slice(0, nameLength)),
    degrees: Uint32Array.from(nodes, ({ degree }) => degree),
    colours: Uint8Array.from(nodes, ({ kind }) => colours.get(kind) ?? 0),
    more: Uint8Array.from(nodes, ({ id }) => Number(hasMore(shown, id))),
    ends,
    said,
    relations,
  }
}

/** Whether there are neighbours that are not shown, or may be. */
export function hasMore({ expanded, collapsed }: Shown, id: string): boolean {
  return collapsed.has(id) || (expanded !== true && !expanded.has(id))
}

export function nameOf({ names }: Shown, id: string): string {
  return cut(names.get(id) ?? shortened(id))
}
