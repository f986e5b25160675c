// Terms between a core, the engine and an answer.
//
// The engine compares language tags as they are spelled, and RDF does not (RDF 1.1 Concepts, section
// 3.3): it gets them in small letters, and an answer has them as the core does. Its blank nodes have
// other labels than those of the core, which an answer has again.

import type {
  BaseQuad,
  BlankNode,
  Literal,
  Quad,
  Quad_Graph,
  Quad_Object,
  Quad_Predicate,
  Quad_Subject,
  Term,
} from '@rdfjs/types'
import { rdfFactory } from '../rdf/factory.js'

type Spelled = Literal & { readonly spelled?: string }
/** One of the core has this property, and another label. */
type Labelled = BlankNode & { readonly skolemized?: Term }

const otherLabel = /^bc_\d+_/

/** Of one question. */
export class AnswerTerms {
  /** By language tags in small letters: how they were spelled, or '' where not all alike. */
  readonly #spellings = new Map<string, string>()

  /** A quad of the core, as the engine gets it. */
  ofCore(quad: Quad): Quad {
    const { object } = quad
    if (object.termType !== 'Literal' || object.language === '') return quad
    const { language } = object
    const tag = this.small(language)
    if (tag === language) return quad
    const literal = Object.assign(rdfFactory.literal(object.value, tag), { spelled: language })
    return rdfFactory.quad(quad.subject, quad.predicate, literal, quad.graph)
  }

  /** A tag as the engine gets it. */
  small(language: string): string {
    const tag = language.toLowerCase()
    const met = this.#spellings.get(tag)
    if (met !== language) this.#spellings.set(tag, met === undefined ? language : '')
    return tag
  }

  /** A tag as it was spelled. */
  spelled(tag: string): string {
    return this.#spellings.get(tag) || tag
  }

  /** A term of the engine, as an answer has it. */
  shown(term: Term): Term {
    if (term.termType === 'BlankNode') {
      const isOfCore = (term as Labelled).skolemized !== undefined
      // One that the query makes may have the label of another in the core.
      const label = isOfCore ? term.value.replace(otherLabel, '') : `query-${term.value}`
      return rdfFactory.blankNode(label)
    }
    if (term.termType === 'Quad') return this.shownQuad(term)
    if (term.termType !== 'Literal' || term.language === '') return term
    const language = (term as Spelled).spelled ?? this.spelled(term.language)
    if (language === term.language) return term
    const { value, direction } = term
    return rdfFactory.literal(value, direction ? { language, direction } : language)
  }

  shownQuad({ subject, predicate, object, graph }: BaseQuad): Quad {
    const [s, p, o, g] = [subject, predicate, object, graph].map((term) => this.shown(term))
    return rdfFactory.quad(
      s as Quad_Subject,
      p as Quad_Predicate,
      o as Quad_Object,
      g as Quad_Graph,
    )
  }
}
