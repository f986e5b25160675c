// Labels of blank nodes mean something within one text only. In a core they get names that no other
// text's have, and that the same text gets again.

import { createHash } from 'node:crypto'
import type * as RDF from '@rdfjs/types'
import { rdfFactory } from './factory.js'

const maxLabelLength = 32

export class BlankNodeScope {
  readonly #prefix: string

  /** `digest` is that of the whole text; under another base it says something else. */
  constructor(digest: string, base = '') {
    const name = createHash('sha256').update(`${digest} ${base}`).digest('hex')
    this.#prefix = `b${name.slice(0, 16)}`
  }

  rename(quad: RDF.Quad): RDF.Quad {
    const { subject, predicate, object, graph } = quad
    return rdfFactory.quad(this.#node(subject), predicate, this.#node(object), this.#node(graph))
  }

  #node<T extends RDF.Term>(term: T): T | RDF.BlankNode {
    if (term.termType !== 'BlankNode') return term
    return rdfFactory.blankNode(this.#prefix + suffixOf(term.value))
  }
}

/** A core that goes out and in again does not make labels longer each time. */
function suffixOf(label: string): string {
  // A blank node without a label: see RdfReader.
  if (label.startsWith('.')) return `_${label.slice(1)}`
  if (label.length <= maxLabelLength) return `-${label}`
  return `.${createHash('sha256').update(label).digest('hex').slice(0, maxLabelLength)}`
}

export function hasBlankNode({ subject, object, graph }: RDF.Quad): boolean {
  return [subject, object, graph].some(({ termType }) => termType === 'BlankNode')
}
