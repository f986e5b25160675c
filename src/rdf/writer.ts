// Statements to text, by n3.

import type * as RDF from '@rdfjs/types'
import { xsdString } from '../terms.js'
import { syntaxes } from './format.js'
import type { RdfFormat } from './format.js'
import type { N3, N3Writer } from './n3.js'
import { looksPrefixed, prefixOf } from './prefixes.js'

export class RdfWriter {
  readonly #n3: N3
  readonly #format: RdfFormat
  readonly #declared = new Set<string>()
  #writer: N3Writer
  #hasPrefixes: boolean
  #text = ''

  constructor(n3: N3, format: RdfFormat) {
    this.#n3 = n3
    this.#format = format
    this.#hasPrefixes = syntaxes[format].hasPrefixes
    this.#writer = this.#open()
  }

  /** Of the text that waits to be taken. */
  get length(): number {
    return this.#text.length
  }

  take(): Uint8Array {
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    return bytes
  }

  add(quads: readonly RDF.Quad[]): void {
    if (this.#hasPrefixes) this.#declare(quads)
    for (const quad of quads) this.#writer.addQuad(quad, throwAny)
  }

  end(): void {
    this.#writer.end()
  }

  /** The prefixes that these statements are the first to use. */
  #declare(quads: readonly RDF.Quad[]): void {
    const used: Record<string, string> = {}
    for (const iri of irisOf(quads)) {
      if (looksPrefixed(iri)) return this.#abandonPrefixes()
      const [prefix, namespace] = prefixOf(iri) ?? []
      if (prefix === undefined || namespace === undefined || this.#declared.has(prefix)) continue
      this.#declared.add(prefix)
      used[prefix] = namespace
    }
    if (Object.keys(used).length > 0) this.#writer.addPrefixes(used)
  }

  // Once it knows a prefix `schema`, n3 writes the IRI `schema:name` without brackets, which makes
  // another IRI of it. A new writer knows none.
  #abandonPrefixes(): void {
    this.#writer.end()
    this.#writer = this.#open()
    this.#hasPrefixes = false
  }

  #open(): N3Writer {
    const output = { write: (text: string) => void (this.#text += text), end() {} }
    return new this.#n3.Writer(output, { format: this.#format })
  }
}

function* irisOf(quads: readonly RDF.Quad[]): Generator<string, void, undefined> {
  for (const { subject, predicate, object, graph } of quads) {
    for (const term of [subject, predicate, object, graph]) {
      if (term.termType === 'NamedNode') yield term.value
      // The types of texts with and without a language are not written.
      else if (term.termType === 'Literal' && isTyped(term)) yield term.datatype.value
    }
  }
}

function isTyped({ language, datatype }: RDF.Literal): boolean {
  return language === '' && datatype.value !== xsdString
}

function throwAny(error?: Error | null): void {
  if (error) throw error
}
