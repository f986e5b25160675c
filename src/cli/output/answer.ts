// What fits on a screen of what was found: passages around what was asked for, then what is said of
// the nearest entities. subgraph-tree.ts has all of it.

import type { Subgraph } from '../../graph/types.js'
import type { Triple } from '../../types.js'
import { vocabulary } from '../../vocabulary.js'
import { askedWords, excerptOf } from './excerpt.js'
import type { AskedWords } from './excerpt.js'
import { cut, formatCounted } from './figures.js'
import { keyOf } from '../../terms.js'
import type { Screen } from './screen.js'
import { placeOf, viewOf } from './subgraph-view.js'
import type { SubgraphView } from './subgraph-view.js'
import { formatTerm } from './term.js'

interface Answer {
  /** Lines that end in line feeds. */
  readonly text: string
  /** How much of what was found it has. */
  readonly summary: string
}

const linesOfPassage = 3
const indent = '    '
/** Of the rows: the line with the counts, and the one where the next command goes. */
const otherRows = 2

export function answerOf(
  question: string,
  subgraph: Subgraph,
  { rows, columns, isHighlit }: Screen,
): Answer {
  const view = viewOf(subgraph)
  const { passages } = view
  const words = askedWords(
    question,
    passages.flatMap(({ text }) => text ?? []),
  )
  const room = Math.max(rows - otherRows, 1)
  const triples = strongest(view.relations, subgraph, words, view)
  const saying = triples.filter((triple) => {
    return triple.p.v !== vocabulary.related && words.weigh(sentenceOf(triple, view)) >= 1
  })
  // A quarter of it is for triples that say something of what was asked, and more for all where passages leave it.
  const blocks = passages.map((passage) => {
    const [number, score] = [`[${passage.number}]  `, `  ${passage.score.toFixed(3)}`]
    const place = placeOf(passage, view, columns - number.length - score.length)
    const head = `${number}${place}${score}`
    const width = columns - indent.length
    const lines = excerptOf(passage.text ?? '', words, { count: linesOfPassage, width })
    const shown = isHighlit ? lines.map((line) => words.emphasize(line)) : lines
    return [cut(head, columns), ...shown.map((line) => indent + line)]
  })
  const reserved = Math.min(saying.length, Math.floor(room / 4))
  const gap = blocks.length > 0 && reserved > 0 ? 1 : 0
  const lines: string[] = []
  let shownPassages = 0
  for (const block of blocks) {
    if (lines.length + block.length > room - reserved - gap) break
    lines.push(...block)
    shownPassages++
  }
  if (lines.length > 0 && triples.length > 0 && room - lines.length > 1) lines.push('')
  const shownTriples = triples.slice(0, Math.max(room - lines.length, 0))
  for (const triple of shownTriples) lines.push(cut(sentenceOf(triple, view), columns))
  // Entities of which nothing is said are all there is, then.
  if (lines.length === 0) {
    for (const { entity, score } of subgraph.entities.slice(0, room)) {
      lines.push(cut(`${view.nameOf(entity)}  ${formatTerm(entity)}  ${score.toFixed(3)}`, columns))
    }
  }
  const isAll = shownPassages === passages.length && shownTriples.length === triples.length
  const counts = [
    formatCounted(subgraph.entities.length, 'entity', 'entities'),
    ofAll(shownPassages, passages.length, 'passage'),
    ofAll(shownTriples.length, triples.length, 'triple'),
  ]
  return {
    text: lines.map((line) => `${line}\n`).join(''),
    summary: `${counts.join(', ')}${isAll ? '' : '; --all prints all of it'}`,
  }
}

/** Those that say how, then those that speak of what was asked for, then those about the nearest entities. */
function strongest(
  relations: readonly Triple[],
  { entities }: Subgraph,
  words: AskedWords,
  view: SubgraphView,
): readonly Triple[] {
  const scores = new Map(entities.map(({ entity, score }) => [keyOf(entity), score]))
  const ranked = relations.map((triple) => {
    const { s, o } = triple
    const near = Math.max(scores.get(keyOf(s)) ?? -1, scores.get(keyOf(o)) ?? -1)
    const isNamed = triple.p.v !== vocabulary.related
    return { triple, weight: words.weigh(sentenceOf(triple, view)), isNamed, near }
  })
  return ranked
    .sort(
      (one, other) =>
        Number(other.isNamed) - Number(one.isNamed) ||
        other.weight - one.weight ||
        other.near - one.near,
    )
    .map(({ triple }) => triple)
}

/** `Mary Shelley – write – Frankenstein  [1]` */
function sentenceOf({ s, p, o }: Triple, view: SubgraphView): string {
  const both = new Set(view.passagesOf(o).map(({ number }) => number))
  const numbers = view.passagesOf(s).flatMap(({ number }) => (both.has(number) ? [number] : []))
  const marks = numbers.map((number) => ` [${number}]`).join('')
  return `${view.nameOf(s)} – ${view.relationName(p)} – ${view.nameOf(o)}${marks && ` ${marks}`}`
}

function ofAll(shown: number, all: number, one: string): string {
  return shown === all ? formatCounted(all, one) : `${shown} of ${formatCounted(all, one)}`
}
