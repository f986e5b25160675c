// What a graph over stored cores takes and gives.

import type { Quad, Source, Stream } from '@rdfjs/types'
import type { ModelOptions } from '../openai/client.js'
import type { ChatMessage } from '../openai/completion.js'
import type { Reads } from '../reads.js'
import type { Term, Triple, Vector } from '../types.js'

/** Which cores are seen as one graph: those named, or all of the user's. */
export interface GraphQuery {
  readonly user: string
  /** Ids of cores. All of the user's by default, whichever those are when a question is asked. */
  readonly cores?: readonly string[]
  /** Only what messages of this collection say. */
  readonly collection?: string
  /** How new that has to be which a question sees: what the store was opened with by default. */
  readonly reads?: Reads
}

/**
 * What a value is compared with: a number, which numbers of every datatype are; a Date, or a literal of
 * a type of dates, by the moment at which it begins, in UTC where it has no time zone; a string, which
 * literals without a datatype are, in any language, by their code points.
 */
export type FilterValue = number | bigint | string | Date | Term

/** Conditions, all of which hold of a value; of one kind of values. No other kind is in order with it. */
export interface ValueFilter {
  readonly gt?: FilterValue | undefined
  readonly gte?: FilterValue | undefined
  readonly lt?: FilterValue | undefined
  readonly lte?: FilterValue | undefined
}

/** A triple of which any part may be open. */
export interface TriplePattern {
  readonly s?: Term | undefined
  readonly p?: Term | undefined
  readonly o?: Term | undefined
  /**
   * The name of a graph; null is the default graph alone, a variable such as `?g` each of the named
   * ones. Any by default. A list of names is their union, in which a triple is one, whichever of them
   * it is in.
   */
  readonly g?: string | null | readonly (string | null)[] | undefined
  /** What an open object has to be: `{ gte: 9, lt: 100 }`. */
  readonly filter?: ValueFilter | undefined
}

/** A variable of a query: `?` and a name. */
export type Variable = `?${string}`

/** A triple pattern as in SPARQL: each place a term or a variable. */
export interface QueryPattern {
  readonly s: Term | Variable
  readonly p: Term | Variable
  readonly o: Term | Variable
  /**
   * The name of a graph, null for the default graph, or a variable for each of the named ones. By
   * default a triple in any graph will do, and is one.
   */
  readonly g?: string | null | undefined
  /** What the variable of the object has to be: `{ gte: 9, lt: 100 }`. */
  readonly filter?: ValueFilter | undefined
}

/** What each variable stands for, by its name without the `?`. */
export type Bindings = Readonly<Record<string, Term>>

export interface AskOptions {
  /** Ends the question; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface MatchOptions extends AskOptions {
  /** At most so many results. No limit by default. */
  readonly limit?: number | undefined
}

export interface PatternOptions extends MatchOptions {
  /**
   * A literal of the pattern is every literal of its text, whatever its datatype or language: what
   * somebody asks for who knows texts alone. False by default.
   */
  readonly byText?: boolean | undefined
}

export interface SolveOptions extends MatchOptions {
  /** Only these variables, in the names that results have. All of them by default. */
  readonly select?: readonly Variable[] | undefined
  /** Each solution once. False by default, as in SPARQL; it matters where `select` leaves some out. */
  readonly distinct?: boolean | undefined
  /**
   * The most memory that `distinct` may take to know what was told, in bytes; then `LK_QUERY_BUDGET`.
   * No limit by default.
   */
  readonly maxDistinctBytes?: number | undefined
}

export interface NearestOptions extends AskOptions {
  /** How many entities. 10 by default. */
  readonly k?: number | undefined
  /** True compares with every vector, also where an approximate index could answer. */
  readonly exact?: boolean | undefined
  /**
   * Only entities of which these patterns hold. `?entity` stands for the entity, and in a pattern
   * that leaves it out the subject does: `{ p: type, o: person }`.
   */
  readonly where?: EntityPattern | readonly EntityPattern[] | undefined
}

/** A pattern about `?entity`; an open subject is the entity, any other open place is anything. */
export interface EntityPattern {
  readonly s?: Term | Variable | undefined
  readonly p?: Term | Variable | undefined
  readonly o?: Term | Variable | undefined
  readonly filter?: ValueFilter | undefined
}

export interface NearEntity {
  readonly entity: Term
  /**
   * Cosine of the angle between the question and the entity's best vector, -1 to 1. 0 where either
   * is all zeros. Of an entity that retrieve() found without vectors: 0 to 1, half by how much of the question
   * its name has, half by how much of what was found speaks of it.
   */
  readonly score: number
  /** The id of the core that has this vector, or says that a passage speaks of the entity. */
  readonly core: string
}

/** What passages are ranked by. */
export interface RetrieveLegs {
  /** The words of the question: BM25F. True by default. */
  readonly words?: boolean | undefined
  /** Names in the question: to what is called so. True by default. */
  readonly names?: boolean | undefined
  /** Names in the passages that were found first: to what says the rest. True by default. */
  readonly walk?: boolean | undefined
  /** Vectors of passages and of what they speak of. By default where the host configured an embedder. */
  readonly vectors?: boolean | undefined
}

/**
 * Scores passages for a question: as many numbers as passages, the higher the better. What it throws, retrieve()
 * rejects with.
 */
export type Reranker = (
  question: string,
  passages: readonly GraphSource[],
  options: { readonly signal: AbortSignal },
) => readonly number[] | Promise<readonly number[]>

/**
 * A question for the part of a graph that speaks of it. The limits are those of the reference
 * system's GraphRAG: https://docs.trustgraph.ai
 */
export interface RetrieveQuery extends AskOptions {
  /** What to look for, as a vector of the length that the stored ones have. */
  readonly vector?: Vector | undefined
  /** What to look for, in words. */
  readonly text?: string | undefined
  /** What passages are ranked by, where the question is a text. */
  readonly use?: RetrieveLegs | undefined
  /** Has the last word on the order of the passages, where the question is a text. */
  readonly rerank?: Reranker | undefined
  /** The most entities to start from: the nearest ones. 50 by default. */
  readonly entities?: number | undefined
  /** The most triples that one term contributes in each of its places. 30 by default. */
  readonly triples?: number | undefined
  /** How far to go from the entities, in triples. 2 by default. */
  readonly depth?: number | undefined
  /** The most triples in all. 150 by default. */
  readonly maxTriples?: number | undefined
  /**
   * The languages that names and passages should be in, the preferred one first, as ranges of RFC 4647: `de` is
   * `de-AT`, too. Then come those without a language, then those in any other. A passage is in the
   * language that its core says of it or its document (`dcterms:language`, `schema:inLanguage`).
   */
  readonly languages?: readonly string[] | undefined
}

/** Where something in a subgraph was said: a passage of a document. */
export interface GraphSource {
  /** The chunk that entities of the subgraph were derived from. */
  readonly chunk: Term
  /** The document that the chunk is part of, where the core says so. */
  readonly document?: Term
  /** What the document is called, or a passage without one, where the core says so. */
  readonly title?: string
  /** A tag, where the core says in which language the passage or its document is. */
  readonly language?: string
  /** The id of a core that says so. */
  readonly core: string
  /** The heading that it stands under, and the page that it begins on, where the core says so. */
  readonly heading?: string
  readonly page?: number
  /** Where in the document's text the passage lies, in UTF-16 code units, where the core says so. */
  readonly start?: number
  readonly end?: number
  /** The passage itself, where the core has it (`schema:text`), as those of flows do. */
  readonly text?: string
  /** How good the passage is for the question; the best come first. Scores of two questions say nothing together. */
  readonly score: number
  /** Its place among the sources, from 1, and its score, by each of what it was found by. */
  readonly legs: Readonly<Partial<Record<keyof RetrieveLegs | 'rerank', LegScore>>>
  /**
   * The names that lead from the question to it, in their order: one that the question has, and those of
   * passages. None where its own words alone have found it.
   */
  readonly via: readonly NameOnTheWay[]
  /** Those of `entities` that were derived from it. */
  readonly entities: readonly Term[]
}

export interface LegScore {
  readonly rank: number
  readonly score: number
}

export interface NameOnTheWay {
  /** As the text has it. */
  readonly name: string
  /** The passage that has it, or whose title it is; left out where the question has it. */
  readonly from?: Term
}

export interface Subgraph {
  /** The entities that the search started from, nearest first; without vectors those that passages speak of. */
  readonly entities: readonly NearEntity[]
  /**
   * Each triple once, those about the nearest entities first. Labels and what only says where
   * something came from are not among them: that is in `labels` and `sources`.
   */
  readonly triples: readonly Triple[]
  /** The `rdfs:label` of each URI in the others that has one. */
  readonly labels: Readonly<Record<string, string>>
  /** The passages that it was derived from, best first; at most as many as entities were asked for. */
  readonly sources: readonly GraphSource[]
}

/** A question that is answered in words, from the passages that retrieve() finds. */
export interface AnswerQuery extends Omit<RetrieveQuery, 'text' | 'vector'> {
  readonly text: string
  /**
   * What makes a text of passages: a function, or a model behind an OpenAI-compatible server. Without it
   * the passages are the answer, numbered.
   */
  readonly generate?: Generate | ModelOptions | undefined
  /**
   * The most that passages and triples may take in a prompt, in UTF-16 code units. 12,000 by default, some
   * 3,000 tokens of English.
   */
  readonly maxPromptLength?: number | undefined
}

/** Gives a text, whole or in pieces. What it throws, the answer rejects with. */
export type Generate = (
  prompt: Prompt,
  options: {
    /** Aborts when the asker gives up, and when nobody reads the answer any more. */
    readonly signal: AbortSignal
  },
) => string | AsyncIterable<string> | Promise<string | AsyncIterable<string>>

/** What a model is asked, ready to be sent, and what it was made of. */
export interface Prompt {
  readonly messages: readonly ChatMessage[]
  readonly question: string
  /** The passages in it, best first: the first is `[1]`. */
  readonly sources: readonly AnswerSource[]
  /** The triples in it. */
  readonly triples: readonly Triple[]
  /** The `rdfs:label` of each URI in the others that has one. */
  readonly labels: Readonly<Record<string, string>>
}

/** A passage that an answer may cite. */
export interface AnswerSource extends GraphSource {
  readonly text: string
}

/** A place in an answer that cites a passage. */
export interface Citation {
  /** The number of the passage, from 1. */
  readonly n: number
  readonly source: AnswerSource
  /**
   * Where it stands in the text of the answer, brackets included, in UTF-16 code units. Several that stand
   * in the same brackets, `[1, 3]`, have the same place.
   */
  readonly start: number
  readonly end: number
}

/** As a citation, with a number that no passage has. */
export type UnknownCitation = Omit<Citation, 'source'>

export interface Answer {
  readonly text: string
  /** In the order of the text. */
  readonly citations: readonly Citation[]
  readonly unknown: readonly UnknownCitation[]
  /** The passages that the model was given: `sources[n - 1]` is `[n]`. */
  readonly sources: readonly AnswerSource[]
  /** The triples that it was given, and the names of what they are about. */
  readonly triples: readonly Triple[]
  readonly labels: Readonly<Record<string, string>>
}

/**
 * An answer on its way. As an async iterable it gives the text in pieces, of which none ends inside of a
 * citation; awaited it gives the whole, then or meanwhile. Nothing is asked before either. Who leaves a loop
 * ends the answer, unless somebody else reads it or waits for the whole: the signal of `generate` aborts.
 */
export interface AnswerStream extends AsyncIterable<string>, Promise<Answer> {
  /** The passages that the model is given, before it says anything. */
  sources(): Promise<readonly AnswerSource[]>
}

/** A question for passages by their words. */
export interface SearchQuery extends AskOptions {
  /**
   * What to look for. Any of the words will do, and the more and the rarer ones a passage has the better;
   * `"words in quotes"` have to stand there so, `-word` must not, and `word*` is every word that begins so.
   */
  readonly text: string
  /** How many passages. 10 by default. */
  readonly k?: number | undefined
  /** Only passages of this document, by its URI. */
  readonly document?: string | undefined
  /** Only what messages of this collection say. */
  readonly collection?: string | undefined
  /** Only these cores, of those that the graph is about. */
  readonly cores?: readonly string[] | undefined
  /**
   * The languages of the question, by which other forms of its words are found: *rowed* for *row*. Tags, or the
   * names that `$text` takes; of a language without stems there are no other forms. What the text looks like by
   * default.
   */
  readonly languages?: readonly string[] | undefined
  /** Whether each passage tells what its score is made of. */
  readonly explain?: boolean | undefined
}

/** A passage that has words of a question. */
export interface FoundPassage {
  /** The passage: the chunk of a flow. */
  readonly chunk: Term
  /** What it is part of, its title, and the heading that it stands under, where the core says so. */
  readonly document?: Term
  readonly title?: string
  readonly heading?: string
  /** The page that it begins on, where the core says so. */
  readonly page?: number
  /** The id of a core that says so. */
  readonly core: string
  /** Where in the document's text it lies, in UTF-16 code units, where the core says so. */
  readonly start?: number
  readonly end?: number
  readonly text: string
  /** BM25F: see docs/graph.md. The best come first; scores of different questions are not to be compared. */
  readonly score: number
  /** Where words of the question stand in `text`: ascending, from and to in UTF-16 code units. */
  readonly highlights: readonly (readonly [start: number, end: number])[]
  /** What the score is the sum of, where `explain` asks for it. */
  readonly explanation?: readonly ScoreOfWord[]
}

/** What a word of a question adds to the score of a passage. */
export interface ScoreOfWord {
  readonly word: string
  /** In how many passages it is, in any form. */
  readonly passages: number
  readonly idf: number
  /** How often it is in the passage, weighted by field, by length, and by form. */
  readonly frequency: number
  /** `idf · frequency / (1.5 + frequency)`; of a word that the question has again a little more. */
  readonly score: number
}

/** Why two things may be one. */
export type DuplicateReason =
  /** Names that differ in capitals, marks and spaces alone. */
  | 'form'
  /** The same words, in another order, or with other small words between. */
  | 'words'
  /** The first letters of the one are the other. */
  | 'acronym'
  /** One has letters where the other has given names. */
  | 'initials'
  /** All words of the one are in the other. */
  | 'part'
  /** A document has called the one so as well as the other. */
  | 'alias'
  /** The graph has them next to the same things. */
  | 'neighbours'

/** Two things that may be one. */
export interface Duplicate {
  /** The one whose name says more. */
  readonly a: Term
  readonly b: Term
  /** A name of each, by which they were found. */
  readonly names: readonly [a: string, b: string]
  /** From 0 to 1: how likely they are one. No probability; 0.9 and more are names that are written alike. */
  readonly score: number
  readonly reasons: readonly DuplicateReason[]
}

export interface DuplicatesOptions extends AskOptions {
  /** At most so many pairs. 100 by default, at most 10,000. */
  readonly limit?: number | undefined
  /** Only pairs with this score or more. 0.6 by default. */
  readonly least?: number | undefined
  /** Only what comes behind this pair: the last one of the page before. */
  readonly after?: Pick<Duplicate, 'a' | 'b' | 'score'> | undefined
}

/** A term next to another one in a graph. */
export interface Neighbour {
  /** The other end. */
  readonly term: Term
  readonly triple: Triple
  /** `out` where the term asked about is the subject, `in` where it is the object. */
  readonly direction: 'out' | 'in'
}

/**
 * Stored cores, asked in place. A question sees the newest version of each core when it is asked,
 * and that version to its end. Triples of several segments and cores are one set: each comes once.
 * What is not indexed yet is by the question that needs it, or in memory where it is little.
 *
 * Every question rejects with `LK_CORE_NOT_FOUND` where a core was named that does not exist,
 * `LK_STORAGE_*`, or `LK_CLOSED`; and with `LK_GRAPH_QUERY`, whose `details.errors` say where, for a
 * pattern, term, vector or option of the wrong shape.
 */
export interface Graph {
  /** The triples of a pattern, in no order that is promised. */
  match(pattern?: TriplePattern, options?: PatternOptions): AsyncIterable<Triple>

  /** How many match() gives. */
  count(pattern?: TriplePattern, options?: AskOptions): Promise<number>

  /**
   * A basic graph pattern (SPARQL 1.1, section 5.1): all ways of replacing variables by terms so
   * that every pattern is a triple of the graph. No patterns have one solution, which is empty.
   */
  solve(patterns: readonly QueryPattern[], options?: SolveOptions): AsyncIterable<Bindings>

  /**
   * The entities with the nearest vectors by cosine, nearest first, each with its best vector. Equal
   * scores come in the order of the entities' bytes. Vectors of another length are not looked at.
   */
  nearest(vector: Vector, options?: NearestOptions): Promise<NearEntity[]>

  /**
   * What the graph has about a question: the nearest entities, and the triples around them.
   * Rejects with what the embedder throws.
   */
  retrieve(query: RetrieveQuery): Promise<Subgraph>

  /**
   * An answer in words, made of passages and triples that retrieve() finds, with checked citations: read it
   * in pieces, or await it. Rejects as retrieve() does, with what `generate` throws, and for a server with
   * `LK_MODEL_UNAVAILABLE`, `LK_MODEL_REFUSED`, or `LK_MODEL_ANSWER` where the text is cut off or empty.
   */
  answer(query: AnswerQuery): AnswerStream

  /**
   * The passages of texts that have the words of a question, best first. Passages are what triples say the
   * text of, as the flows' step `store` writes them. Of equal scores the order is that of the passages'
   * URIs.
   */
  search(query: SearchQuery): Promise<FoundPassage[]>

  /**
   * Things that may be one, by their names, likeliest first: those that are one already, and those that were
   * split, are not among them. Of a graph with more than 500,000 names the first of these are looked at.
   */
  duplicates(options?: DuplicatesOptions): Promise<Duplicate[]>

  /**
   * Makes two entities one from now on, of which `a` speaks for both: what retrieve() finds, where it leads, and
   * what it calls them. Kept as a triple, `b owl:sameAs a`, in the core `urn:lorekeep:same` of the user, whatever is
   * loaded again or deleted; split() takes it back. Rejects with `LK_GRAPH_QUERY` for literals, for one entity
   * twice, for one that the graph has nothing about, where an imported core says that they are different, for a
   * graph of named cores, and for a snapshot.
   */
  merge(a: Term, b: Term, options?: AskOptions): Promise<void>

  /**
   * Takes `b` out of what `a` is one with. They are not proposed again, and no flow makes them one again. Kept as
   * `a owl:differentFrom b` where merge() keeps what it says; rejects as that does.
   */
  split(a: Term, b: Term, options?: AskOptions): Promise<void>

  /** The triples with the term as subject or object, from its side. Each triple once. */
  neighbours(term: Term, options?: MatchOptions): AsyncIterable<Neighbour>

  /** The triples with the term as subject. */
  describe(term: Term, options?: MatchOptions): AsyncIterable<Triple>

  /** The names of the named graphs that have a triple, each once, in no order that is promised. */
  graphs(options?: AskOptions): AsyncIterable<string>

  /**
   * The graph as it is now: whatever is imported or deleted meanwhile, all its questions see one
   * version. It holds that version in the storage until it is closed, and so does whatever of it is
   * still read then.
   */
  snapshot(options?: AskOptions): Promise<GraphSnapshot>

  /** The graph as a source of RDF/JS quads, such as SPARQL engines take. */
  source(): QuadSource
}

/** One version of a graph. */
export interface GraphSnapshot extends Graph {
  /** Lets go of the version. Questions that come later reject with `LK_GRAPH_QUERY`. */
  close(): void
}

/** Its streams can be iterated, too. */
export interface QuadSource extends Source {
  match(...terms: Parameters<Source['match']>): Stream & AsyncIterable<Quad>
}

/** What an index has, and takes. */
interface IndexTotals {
  /** Distinct triples in each part; the parts together may say one twice. */
  readonly triples: number
  readonly vectors: number
  /** Passages of texts, whose words can be searched. */
  readonly passages: number
  /** Vectors that an approximate index reaches. */
  readonly approximate: number
  /** Parts that a question has to look into. */
  readonly parts: number
  /** What it takes in the storage; of a core its share of the parts that it is in. */
  readonly bytes: number
}

/** How much of a core is indexed. */
export interface IndexState extends IndexTotals {
  /** `partial`: segments were added since. Questions see them all the same, or index them first. */
  readonly state: 'none' | 'partial' | 'complete'
  readonly segments: number
  readonly indexedSegments: number
}

/** How much of all that a user has is indexed. */
export interface LibraryIndexState extends IndexTotals {
  readonly state: 'none' | 'partial' | 'complete'
  /** Segments that no part has yet. Questions see them all the same, or index them first. */
  readonly waiting: { readonly segments: number; readonly bytes: number }
}

export interface IndexOptions {
  /** Ends the indexing, which leaves the index as the last step has made it. */
  readonly signal?: AbortSignal | undefined
  /** Called now and then. It may not throw. */
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
}

export interface IndexProgress {
  readonly stage: 'triples' | 'vectors'
  /** Bytes of the core that were read, or vectors that were linked. */
  readonly done: number
  readonly total: number
}
