// Cores, and what is asked of them.

import {
  anyObject,
  count,
  described,
  flag,
  list,
  mapOf,
  number,
  object,
  page,
  ref,
  text,
  time,
  words,
} from '../schema.js'

const counts = {
  bytes: count,
  messages: count,
  triples: count,
  entities: count,
  vectors: count,
}
const term = ref('Term')
const place = described('A term, or a variable such as `?who`.', {
  anyOf: [term, { type: 'string', pattern: '^\\?' }],
})
const graphName = { anyOf: [text, { type: 'null' }] }
const pattern = {
  's?': term,
  'p?': term,
  'o?': term,
  'g?': described(
    'A graph; null is the default one, a variable each named one, a list their union.',
    {
      anyOf: [...graphName.anyOf, list(graphName)],
    },
  ),
  'filter?': ref('ValueFilter'),
}
/** What every question may say of what it is about. */
const asked = {
  'cores?': described('Ids of the cores that are asked; all of the user by default.', list(text)),
  'collection?': text,
}
const retrieval = {
  'use?': object({ 'words?': flag, 'names?': flag, 'walk?': flag, 'vectors?': flag }),
  'entities?': { type: 'integer', minimum: 1 },
  'triples?': count,
  'depth?': count,
  'maxTriples?': count,
  'languages?': list(text),
}
const legScore = object({ rank: { type: 'integer', minimum: 1 }, score: number })
const source = {
  chunk: term,
  'document?': term,
  'title?': text,
  'language?': text,
  core: text,
  'heading?': text,
  'page?': { type: 'integer' },
  'start?': count,
  'end?': count,
  score: number,
  legs: object({
    'words?': legScore,
    'names?': legScore,
    'walk?': legScore,
    'vectors?': legScore,
    'rerank?': legScore,
  }),
  via: list(object({ name: text, 'from?': term })),
  entities: list(term),
}
const filterValue = { anyOf: [number, text, term] }
const indexTotals = {
  triples: count,
  vectors: count,
  passages: count,
  approximate: count,
  parts: count,
  bytes: count,
}
const indexed = words('none', 'partial', 'complete')
const truncated = described('True where there is more.', { const: true })

export const coreSchemas = {
  Term: object({
    v: described('The IRI, the blank node as `_:label`, or the text of the literal.', text),
    e: described('True for an entity, false for a literal.', flag),
    'dt?': described("The IRI of a literal's datatype.", text),
    'ln?': described("A literal's language tag.", text),
  }),
  Triple: object({
    s: term,
    p: term,
    o: term,
    'g?': described('The name of a graph; absent for the default one.', text),
  }),
  ImportSummary: object({
    ...counts,
    digest: described('SHA-256 of the stored bytes.', text),
    version: described('Of the whole core, as its `ETag` names it.', text),
    duplicate: described('The core held this already, and nothing was stored.', flag),
    dialect: text,
    skipped: described('What a core has no place for, by type.', mapOf(count)),
    'kept?': ref('RdfExtras'),
    'lost?': ref('RdfExtras'),
    'reified?': ref('RdfExtras'),
  }),
  RdfExtras: described(
    'What of RDF is more than texts.',
    object({
      statements: count,
      datatypes: count,
      languages: count,
      directions: count,
      graphs: count,
    }),
  ),
  CoreStat: object({
    user: text,
    id: text,
    ...counts,
    segments: count,
    digest: text,
    createdAt: time,
    updatedAt: time,
  }),
  CorePage: object({ cores: list(ref('CoreStat')), ...page }),
  ValueFilter: object({
    'gt?': filterValue,
    'gte?': filterValue,
    'lt?': filterValue,
    'lte?': filterValue,
  }),
  MatchQuestion: object({ ...pattern, 'limit?': count, ...asked }),
  CountQuestion: object({ ...pattern, ...asked }),
  QueryPattern: object({
    s: place,
    p: place,
    o: place,
    'g?': graphName,
    'filter?': ref('ValueFilter'),
  }),
  EntityPattern: object({
    's?': place,
    'p?': place,
    'o?': place,
    'filter?': ref('ValueFilter'),
  }),
  SolveQuestion: object({
    patterns: list(ref('QueryPattern')),
    'select?': list(text),
    'distinct?': flag,
    'limit?': count,
    ...asked,
  }),
  NearestQuestion: object({
    vector: list(number),
    'k?': count,
    'exact?': flag,
    'where?': { anyOf: [ref('EntityPattern'), list(ref('EntityPattern'))] },
    ...asked,
  }),
  RetrieveQuestion: object({ 'vector?': list(number), 'text?': text, ...retrieval, ...asked }),
  SearchQuestion: object({
    text,
    'k?': { type: 'integer', minimum: 1 },
    'document?': text,
    'languages?': list(text),
    'explain?': flag,
    ...asked,
  }),
  DuplicatesQuestion: object({
    'limit?': count,
    'least?': { type: 'number', minimum: 0, maximum: 1 },
    'after?': described('The last pair of the page before.', anyObject),
    ...asked,
  }),
  AnswerQuestion: object({ text, 'maxPromptLength?': count, ...retrieval, ...asked }),
  Pair: object({ a: term, b: term, 'collection?': asked['collection?'] }),
  Matches: object({ triples: list(ref('Triple')), 'truncated?': truncated }),
  Count: object({ count }),
  Bindings: described('Terms by the names of variables, without the `?`.', mapOf(term)),
  Solutions: object({ bindings: list(ref('Bindings')), 'truncated?': truncated }),
  NearEntity: object({ entity: term, score: number, core: text }),
  NearEntities: object({ entities: list(ref('NearEntity')) }),
  Source: object({ ...source, 'text?': text }),
  AnswerSource: object({ ...source, text }),
  Subgraph: object({
    entities: list(ref('NearEntity')),
    triples: list(ref('Triple')),
    labels: mapOf(text),
    sources: list(ref('Source')),
  }),
  FoundPassage: object({
    chunk: term,
    'document?': term,
    'title?': text,
    'heading?': text,
    'page?': { type: 'integer' },
    core: text,
    'start?': count,
    'end?': count,
    text,
    score: number,
    highlights: list({ type: 'array', items: count, minItems: 2, maxItems: 2 }),
    'explanation?': list(
      object({ word: text, passages: count, idf: number, frequency: number, score: number }),
    ),
  }),
  FoundPassages: object({ passages: list(ref('FoundPassage')), 'truncated?': truncated }),
  Duplicate: object({
    a: term,
    b: term,
    names: list(text),
    score: number,
    reasons: list(words('form', 'words', 'acronym', 'initials', 'part', 'alias', 'neighbours')),
  }),
  Duplicates: object({ duplicates: list(ref('Duplicate')), 'truncated?': truncated }),
  Answer: object({
    text,
    citations: list(object({ n: count, source: ref('AnswerSource'), start: count, end: count })),
    unknown: list(object({ n: count, start: count, end: count })),
    sources: list(ref('AnswerSource')),
    triples: list(ref('Triple')),
    labels: mapOf(text),
  }),
  AnswerEvent: {
    anyOf: [
      object({ sources: list(ref('AnswerSource')) }),
      object({ text }),
      ref('Answer'),
      ref('Problem'),
    ],
  },
  IndexState: object({ state: indexed, segments: count, indexedSegments: count, ...indexTotals }),
  LibraryIndexState: object({
    state: indexed,
    waiting: object({ segments: count, bytes: count }),
    ...indexTotals,
  }),
} as const
