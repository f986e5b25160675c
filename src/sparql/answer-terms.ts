// Terms between a core, the engine and an answer.
//
// The engine compares language tags as they are spelled, and RDF does not (RDF 1.1 Concepts, section
// 3.3): it gets them in small letters, and an answer has them as the core does. Its blank nodes have
// other labels than those of the core, which an answer has again.

import { randomBytes } from 'node:crypto'
import type {
  BaseQuad,
  Literal,
  Quad,
  Quad_Graph,
  Quad_Object,
  Quad_Predicate,
  Quad_Subject,
  Term,
} from '@rdfjs/types'
import { rdfFactory } from '../rdf/factory.js'

/** A literal in small letters, and how its tag was spelled. */
export type Spelled = Literal & { readonly spelled?: string }

/** What the engine puts before the labels of its one source. */
const ofCoreLabel = 'bc_0_'

/** A quad of the core, as the engine gets it. */
export function ofCore(quad: Quad): Quad {
  const { object } = quad
  if (object.termType !== 'Literal' || object.language === '') return quad
  const literal = spelledAs(object.value, object.language)
  if (literal.spelled === undefined) return quad
  return rdfFactory.quad(quad.subject, quad.predicate, literal, quad.graph)
}

/** A literal as the engine gets it. */
export function spelledAs(value: string, language: string): Spelled {
  const tag = language.toLowerCase()
  const literal = rdfFactory.literal(value, tag)
  return tag === language ? literal : Object.assign(literal, { spelled: language })
}

/** Terms of the engine, as the answer to one question has them. */
export class AnswerTerms {
  /** A node that the query makes has no label of the core, not even one that an earlier answer brought there. */
  readonly #made = `q${randomBytes(8).toString('hex')}-`

  shown(term: Term): Term {
    if (term.termType === 'BlankNode') {
      const { value } = term
      const isOfCore = value.startsWith(ofCoreLabel)
      return rdfFactory.blankNode(isOfCore ? value.slice(ofCoreLabel.length) : this.#made + value)
    }
    if (term.termType === 'Quad') return this.shownQuad(term)
    const { spelled } = term as Spelled
    return spelled === undefined ? term : rdfFactory.literal(term.value, spelled)
  }

  shownQuad({ subject, predicate, object, graph }: BaseQuad): Quad {
    return rdfFactory.quad(
      this.shown(subject) as Quad_Subject,
      this.shown(predicate) as Quad_Predicate,
      this.shown(object) as Quad_Object,
      this.shown(graph) as Quad_Graph,
    )
  }
}
