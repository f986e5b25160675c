// The wire shapes: what a core stream carries, by the names it carries them under.

/**
 * An RDF term (https://www.w3.org/TR/rdf11-concepts/). `e` is true for an entity (an IRI, or a blank
 * node as `_:label`) and false for a literal. A literal may have a datatype or a language, never both;
 * one without is of xsd:string. Two terms are the same where all of this is, languages without case.
 */
export interface Term {
  readonly v: string
  readonly e: boolean
  /** The IRI of a literal's datatype; absent for xsd:string. */
  readonly dt?: string | undefined
  /** A literal's language tag (BCP 47), as it was written. */
  readonly ln?: string | undefined
}

/** An RDF statement: subject, predicate, object, and the graph that it is in. */
export interface Triple {
  readonly s: Term
  readonly p: Term
  readonly o: Term
  /** The IRI of a named graph, or a blank node as `_:label`; absent for the default graph. */
  readonly g?: string | undefined
}

/** What every core message says about itself: core id, metadata triples, user, collection. */
export interface CoreMetadata {
  readonly i: string
  readonly m: readonly Triple[]
  readonly u: string
  readonly c: string
}

/** One vector of an entity. Stored as MessagePack numbers; written as 64-bit doubles. */
export type Vector = readonly number[] | Float32Array | Float64Array

/** An entity and its embedding vectors. */
export interface EntityEmbedding {
  readonly e: Term
  readonly v: readonly Vector[]
}

export interface TriplesData {
  readonly m: CoreMetadata
  readonly t: readonly Triple[]
}

export interface GraphEmbeddingsData {
  readonly m: CoreMetadata
  readonly e: readonly EntityEmbedding[]
}

/** One message of a core stream: a type indicator and its data. */
export type CoreMessage = readonly ['t', TriplesData] | readonly ['ge', GraphEmbeddingsData]

/** Vectors of texts, in their order and all of one length. */
export type Embedder = (
  texts: readonly string[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly Vector[]> | readonly Vector[]

/** What JSON can say. Objects hold nothing else: no NaN, no Date, no undefined, no lone surrogate. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export type JsonObject = { readonly [key: string]: JsonValue }

/**
 * A type as far as JSON can say it: the type itself, with `never` for functions and what else has no place there. An
 * interface is no JsonObject, as it might get more members; where `T & AsJson<T>` is taken it may be of JSON.
 */
export type AsJson<T> = T extends JsonValue
  ? T
  : T extends (...given: never) => unknown
    ? never
    : T extends object
      ? { readonly [Name in keyof T]: AsJson<T[Name]> }
      : never
