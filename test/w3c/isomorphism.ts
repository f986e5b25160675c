// Whether two lists of tuples of terms are the same but for the labels of their blank nodes: the
// quads of a graph, or the rows of an answer.

import { createHash } from 'node:crypto'

/** Terms as N-Triples has them; a blank node begins with `_:`. */
export type Tuple = readonly string[]

type Colours = ReadonlyMap<string, string>

export function isIsomorphic(a: readonly Tuple[], b: readonly Tuple[]): boolean {
  return a.length === b.length && isMapped(a, b, coloursOf(a), coloursOf(b))
}

/** Each tuple once. */
export function asSet(tuples: readonly Tuple[]): readonly Tuple[] {
  return [...new Map(tuples.map((tuple) => [JSON.stringify(tuple), tuple])).values()]
}

const isBlank = (term: string) => term.startsWith('_:')

function coloursOf(tuples: readonly Tuple[]): Colours {
  const labels = new Set(tuples.flat().filter(isBlank))
  return refined(tuples, new Map([...labels].map((label) => [label, ''])))
}

function isMapped(a: readonly Tuple[], b: readonly Tuple[], ofA: Colours, ofB: Colours): boolean {
  if (coloured(a, ofA) !== coloured(b, ofB)) return false
  const colours = [...ofA.values()]
  const colour = colours.find((each, at) => colours.indexOf(each) !== at)
  // With a colour of its own for each node the colours are the mapping.
  if (colour === undefined) return true
  const labelled = (of: Colours) => [...of.keys()].filter((label) => of.get(label) === colour)
  const single = (tuples: readonly Tuple[], colours: Colours, label: string) =>
    refined(tuples, new Map([...colours, [label, 'chosen']]))
  const chosenInA = single(a, ofA, labelled(ofA)[0] as string)
  return labelled(ofB).some((label) => isMapped(a, b, chosenInA, single(b, ofB, label)))
}

/** Colours after what the nodes occur beside, until that tells no more of them apart. */
function refined(tuples: readonly Tuple[], colours: Colours): Colours {
  for (let count = 0; ;) {
    const places = new Map([...colours.keys()].map((label) => [label, [] as string[]]))
    for (const tuple of tuples) {
      for (const label of new Set(tuple.filter(isBlank))) {
        const seen = tuple.map((term) => (term === label ? '*' : (colours.get(term) ?? term)))
        places.get(label)?.push(JSON.stringify(seen))
      }
    }
    const next = [...places].map(([label, seen]): [string, string] => {
      return [label, digest(JSON.stringify([colours.get(label), ...seen.sort()]))]
    })
    colours = new Map(next)
    const found = new Set(colours.values()).size
    if (found === count) return colours
    count = found
  }
}

function coloured(tuples: readonly Tuple[], colours: Colours): string {
  return tuples
    .map((tuple) => JSON.stringify(tuple.map((term) => colours.get(term) ?? term)))
    .sort()
    .join('\n')
}

const digest = (text: string) => `_:${createHash('sha256').update(text).digest('base64')}`
