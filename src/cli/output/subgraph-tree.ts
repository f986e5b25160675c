// A subgraph as a tree of text: the entities that were found, below each what is said of it, and at
// the end the passages that it comes from.

import type { Subgraph } from '../../graph/types.js'
import type { Term, Triple } from '../../types.js'
import { printable } from './figures.js'
import { keyOf } from '../../terms.js'
import { placeOf, viewOf } from './subgraph-view.js'
import type { NumberedPassage, SubgraphView } from './subgraph-view.js'
import { formatTerm } from './term.js'

interface Node {
  readonly term: Term
  readonly branches: Branch[]
}

interface Branch {
  readonly triple: Triple
  /** False where the triple's subject is what hangs at the branch. */
  readonly isOut: boolean
  /** What is said of the other end, which is told where it comes first. */
  readonly node?: Node
}

/** Each triple once. Lines that end in line feeds; nothing for an empty subgraph. */
export function subgraphTree(subgraph: Subgraph): string {
  const view = viewOf(subgraph)
  const scores = new Map(subgraph.entities.map(({ entity, score }) => [keyOf(entity), score]))
  const lines: string[] = []
  for (const root of rootsOf(subgraph, view.relations)) {
    if (lines.length > 0) lines.push('')
    const { term } = root
    const score = scores.get(keyOf(term))
    const name = view.nameOf(term)
    const iri = formatTerm(term)
    const parts = [name, ...(name === iri ? [] : [iri]), score?.toFixed(3), marks(term, view)]
    lines.push(parts.filter((part) => part !== undefined && part !== '').join('  '))
    addBranches(lines, root, view)
  }
  if (view.passages.length > 0) lines.push('', 'Passages')
  for (const passage of view.passages) addPassage(lines, passage, view)
  return lines.map((line) => `${line}\n`).join('')
}

/**
 * The entities that were found, then the subjects of what does not hang together with them. Breadth
 * first, so that a thing stands as near to the entities as it can.
 */
function rootsOf({ entities }: Subgraph, relations: readonly Triple[]): readonly Node[] {
  const touching = new Map<string, Triple[]>()
  for (const triple of relations) {
    for (const key of new Set([keyOf(triple.s), keyOf(triple.o)])) {
      const triples = touching.get(key)
      if (triples === undefined) touching.set(key, [triple])
      else triples.push(triple)
    }
  }
  const seen = new Set<string>()
  const told = new Set<Triple>()
  const nodeOf = (term: Term): Node | undefined => {
    if (seen.has(keyOf(term))) return undefined
    seen.add(keyOf(term))
    return { term, branches: [] }
  }
  const grow = (queue: Node[]) => {
    for (const node of queue) {
      for (const triple of touching.get(keyOf(node.term)) ?? []) {
        if (told.has(triple)) continue
        told.add(triple)
        const isOut = keyOf(triple.s) === keyOf(node.term)
        const end = isOut ? triple.o : triple.s
        // Two things that share a literal, such as a year, have nothing to do with each other.
        const next = end.e ? nodeOf(end) : undefined
        node.branches.push({ triple, isOut, ...(next && { node: next }) })
        if (next) queue.push(next)
      }
    }
  }
  const roots = entities.flatMap(({ entity }) => nodeOf(entity) ?? [])
  grow([...roots])
  for (const triple of relations) {
    if (told.has(triple)) continue
    const root = { term: triple.s, branches: [] }
    roots.push(root)
    grow([root])
  }
  return roots
}

function addBranches(lines: string[], { branches }: Node, view: SubgraphView, indent = ''): void {
  for (const [at, { triple, isOut, node }] of branches.entries()) {
    const isLast = at === branches.length - 1
    const end = isOut ? triple.o : triple.s
    const relation = `${isOut ? '' : '← '}${view.relationName(triple.p)}`
    const mark = node === undefined ? '' : marks(end, view)
    const text = `${relation}: ${view.nameOf(end)}${mark === '' ? '' : `  ${mark}`}`
    lines.push(`${indent}${isLast ? '└─' : '├─'} ${text}`)
    if (node) addBranches(lines, node, view, `${indent}${isLast ? '   ' : '│  '}`)
  }
}

/** `[1] [4]`: the passages that it comes from. */
function marks(term: Term, view: SubgraphView): string {
  return view
    .passagesOf(term)
    .map(({ number }) => `[${number}]`)
    .join(' ')
}

function addPassage(lines: string[], passage: NumberedPassage, view: SubgraphView): void {
  const { number, score, text } = passage
  lines.push(`[${number}]  ${placeOf(passage, view)}  ${score.toFixed(3)}`)
  for (const line of text?.trim().split(/\r?\n/) ?? [])
    lines.push(`    ${printable(line)}`.trimEnd())
}
