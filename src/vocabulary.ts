// The RDF terms that the store step of flows writes, and that questions to cores understand.

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#'
const dcterms = 'http://purl.org/dc/terms/'
const schema = 'https://schema.org/'
const prov = 'http://www.w3.org/ns/prov#'
const owl = 'http://www.w3.org/2002/07/owl#'
const skos = 'http://www.w3.org/2004/02/skos/core#'
const nif = 'http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#'

export const vocabulary = {
  type: `${rdf}type`,
  label: `${rdfs}label`,
  prefLabel: `${skos}prefLabel`,
  /** Another name of the same thing. */
  altLabel: `${skos}altLabel`,
  /** From a thing to what has one of its names alone, in whatever text that stands. */
  specializationOf: `${prov}specializationOf`,
  sameAs: `${owl}sameAs`,
  differentFrom: `${owl}differentFrom`,
  definition: `${skos}definition`,
  related: `${skos}related`,
  hasPart: `${dcterms}hasPart`,
  isPartOf: `${dcterms}isPartOf`,
  wasDerivedFrom: `${prov}wasDerivedFrom`,
  subjectOf: `${schema}subjectOf`,
  position: `${schema}position`,
  // Not schema.org's startOffset and endOffset: those are seconds of a clip.
  beginIndex: `${nif}beginIndex`,
  endIndex: `${nif}endIndex`,
  text: `${schema}text`,
  articleSection: `${schema}articleSection`,
  /** From a document to what it is about. */
  mainEntity: `${schema}mainEntity`,
  pageStart: `${schema}pageStart`,
  pageEnd: `${schema}pageEnd`,
  // What a document is called; flows write the first.
  name: `${schema}name`,
  dctermsTitle: `${dcterms}title`,
  dcTitle: 'http://purl.org/dc/elements/1.1/title',
  // In which language a document is, as the vocabularies of documents have it.
  language: `${dcterms}language`,
  inLanguage: `${schema}inLanguage`,
  dcLanguage: 'http://purl.org/dc/elements/1.1/language',
  DigitalDocument: `${schema}DigitalDocument`,
  String: `${nif}String`,
} as const

/** The core of a user that has what was merged and split: `owl:sameAs` and `owl:differentFrom`. */
export const sameThingsCore = 'urn:lorekeep:same'

const inSchema = (name: string) => [`https://schema.org/${name}`, `http://schema.org/${name}`]

/** What makes something a passage of a text, and says what belongs to it or to its document. */
export const passagePredicates = {
  text: [...inSchema('text'), `${nif}isString`],
  title: [
    ...inSchema('name'),
    ...inSchema('headline'),
    vocabulary.dctermsTitle,
    vocabulary.dcTitle,
  ],
  heading: inSchema('articleSection'),
  page: inSchema('pageStart'),
  partOf: [`${dcterms}isPartOf`, ...inSchema('isPartOf')],
  begin: [`${nif}beginIndex`],
  end: [`${nif}endIndex`],
  /** What something is called: a document beside its title, or what a passage speaks of. */
  label: [
    vocabulary.label,
    vocabulary.prefLabel,
    vocabulary.altLabel,
    ...inSchema('alternateName'),
    `${dcterms}alternative`,
    'http://xmlns.com/foaf/0.1/name',
  ],
  /** From a document to what it is about, by whose names it is called as well. */
  mainEntity: [...inSchema('mainEntity'), 'http://xmlns.com/foaf/0.1/primaryTopic'],
  /** From what speaks of a passage to the passage. */
  from: [`${prov}wasDerivedFrom`, ...inSchema('subjectOf')],
} as const
