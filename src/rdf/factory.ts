// RDF/JS terms of our own: asking a core as RDF takes no library.

import type * as RDF from '@rdfjs/types'
import { rdf, xsdString } from '../terms.js'

export type TermFactory = Pick<
  RDF.DataFactory,
  'namedNode' | 'blankNode' | 'literal' | 'defaultGraph' | 'quad'
>

type Other = RDF.Term | null | undefined

/** Terms that are their value and nothing else. */
class NamedTerm<Type extends 'NamedNode' | 'BlankNode', Value extends string = string> {
  readonly termType: Type
  readonly value: Value

  constructor(termType: Type, value: Value) {
    this.termType = termType
    this.value = value
  }

  equals(other: Other): boolean {
    return other?.termType === this.termType && other.value === this.value
  }
}

class Literal implements RDF.Literal {
  readonly termType = 'Literal'
  readonly value: string
  readonly language: string
  readonly direction: '' | 'ltr' | 'rtl'
  readonly datatype: RDF.NamedNode

  constructor(
    value: string,
    language: string,
    direction: '' | 'ltr' | 'rtl',
    datatype: RDF.NamedNode,
  ) {
    this.value = value
    this.language = language
    this.direction = direction
    this.datatype = datatype
  }

  equals(other: Other): boolean {
    return (
      other?.termType === 'Literal' &&
      other.value === this.value &&
      other.language === this.language &&
      (other.direction ?? '') === this.direction &&
      this.datatype.equals(other.datatype)
    )
  }
}

class DefaultGraph implements RDF.DefaultGraph {
  readonly termType = 'DefaultGraph'
  readonly value = ''

  equals(other: Other): boolean {
    return other?.termType === 'DefaultGraph'
  }
}

class Quad implements RDF.Quad {
  readonly termType = 'Quad'
  readonly value = ''
  readonly subject: RDF.Quad_Subject
  readonly predicate: RDF.Quad_Predicate
  readonly object: RDF.Quad_Object
  readonly graph: RDF.Quad_Graph

  constructor(
    subject: RDF.Quad_Subject,
    predicate: RDF.Quad_Predicate,
    object: RDF.Quad_Object,
    graph: RDF.Quad_Graph,
  ) {
    this.subject = subject
    this.predicate = predicate
    this.object = object
    this.graph = graph
  }

  equals(other: Other): boolean {
    return (
      other?.termType === 'Quad' &&
      this.subject.equals(other.subject) &&
      this.predicate.equals(other.predicate) &&
      this.object.equals(other.object) &&
      this.graph.equals(other.graph)
    )
  }
}

const defaultGraph = new DefaultGraph()
const stringType = new NamedTerm('NamedNode', xsdString)
const languageType = new NamedTerm('NamedNode', `${rdf}langString`)
const directionType = new NamedTerm('NamedNode', `${rdf}dirLangString`)
let blankNodes = 0

export const rdfFactory: TermFactory = {
  namedNode: (value) => new NamedTerm('NamedNode', value),
  blankNode: (value) => new NamedTerm('BlankNode', value ?? `lorekeep-${++blankNodes}`),
  literal(value, kind = '') {
    if (typeof kind === 'object' && 'termType' in kind) return new Literal(value, '', '', kind)
    const { language, direction } = typeof kind === 'string' ? { language: kind } : kind
    if (language === '') return new Literal(value, '', '', stringType)
    const type = direction ? directionType : languageType
    return new Literal(value, language, direction || '', type)
  },
  defaultGraph: () => defaultGraph,
  quad: (subject, predicate, object, graph = defaultGraph) =>
    new Quad(subject, predicate, object, graph),
}
