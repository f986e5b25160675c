// Bytes to statements, by n3, and what n3 does not look at: UTF-8, relative IRIs, quoted triples, how
// much of a text may be open at a time, and how much a short text may stand for.

import type * as RDF from '@rdfjs/types'
import { LorekeepError } from '../errors.js'
import { rdfFactory } from './factory.js'
import type { TermFactory } from './factory.js'
import type { RdfFormat } from './format.js'
import type { N3 } from './n3.js'
import { isAbsoluteIri } from './terms.js'

// n3 holds what is open. Without bounds a text without an end would be held as a whole.
const maxOpenBytes = 16 * 1024 * 1024
const maxDepth = 1000
const maxPrefixes = 100_000
const maxPrefixCharacters = 16 * 1024 * 1024
// Two bytes of a text stand for all of a prefix or base, as often as the text says them.
const maxIriLength = 4096

const opening = new Set(['[', '(', '{', '<<', '<<(', '{|'])
const closing = new Set([']', ')', '}', '>>', ')>>', '|}'])
const hasScheme = /^[a-z][a-z0-9+.-]*:/i

/** Blank nodes without a label are called `.1`, `.2` and so on, which no label can be. */
export class RdfReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #push: (text: string) => void
  readonly #end: () => void
  #quads: RDF.Quad[] = []
  #line = 1
  #decodedLines = 0
  #openBytes = 0
  #depth = 0
  #prefixes = 0
  #prefixCharacters = 0
  #isBase = false
  /** With all that it is relative to. */
  #baseLength = 0

  constructor(
    { Parser }: N3,
    format: RdfFormat,
    base: string | undefined,
    defaultGraph: string | undefined,
  ) {
    this.#beginBase(base ?? '')
    const parser = new Parser({
      format,
      factory: this.#factory(defaultGraph),
      blankNodePrefix: '',
      ...(base !== undefined && { baseIRI: base }),
    })
    const listeners = new Map<string, (text: string) => void>()
    parser.parse(
      { on: (event, listener) => void listeners.set(event, listener) },
      {
        onToken: ({ type, value, line }) => {
          this.#line = line
          if (opening.has(type)) this.#depth++
          else if (closing.has(type)) this.#depth--
          if (this.#depth > maxDepth) this.#fail(`more than ${maxDepth} brackets are open`)
          if (this.#isBase) this.#beginBase(value)
          this.#isBase = type === '@base' || type === 'BASE'
        },
        onPrefix: (name, { value }) => {
          this.#checkLength('prefix', value.length)
          if (++this.#prefixes > maxPrefixes) this.#fail(`more than ${maxPrefixes} prefixes`)
          this.#prefixCharacters += name.length + value.length
          if (this.#prefixCharacters > maxPrefixCharacters) {
            this.#fail(`prefixes of more than ${maxPrefixCharacters} characters`)
          }
        },
        onQuad: (error, quad) => {
          if (error) throw syntaxError(error, this.#line)
          if (quad) this.#quads.push(quad)
        },
      },
    )
    const listener = (event: string) => listeners.get(event) ?? (() => {})
    this.#push = listener('data')
    this.#end = () => listener('end')('')
  }

  /** The statements that ended in this chunk. @throws LorekeepError `LK_RDF_FORMAT` */
  push(chunk: Uint8Array): readonly RDF.Quad[] {
    this.#openBytes += chunk.length
    this.#push(this.#decode(chunk))
    const quads = this.#take()
    if (quads.length > 0) this.#openBytes = 0
    if (this.#openBytes > maxOpenBytes) {
      this.#fail(`no statement ends within ${maxOpenBytes} bytes`)
    }
    return quads
  }

  /** What was still open. @throws LorekeepError `LK_RDF_FORMAT` */
  end(): readonly RDF.Quad[] {
    try {
      this.#decoder.decode()
    } catch {
      throw notUtf8(this.#decodedLines + 1)
    }
    this.#end()
    return this.#take()
  }

  #beginBase(iri: string): void {
    this.#baseLength = hasScheme.test(iri) ? iri.length : this.#baseLength + iri.length
    this.#checkLength('base, with what it is relative to,', this.#baseLength)
  }

  #checkLength(what: string, length: number): void {
    if (length > maxIriLength) {
      this.#fail(`a ${what} of ${length} characters, where ${maxIriLength} are accepted`)
    }
  }

  #take(): readonly RDF.Quad[] {
    const quads = this.#quads
    this.#quads = []
    return quads
  }

  #decode(chunk: Uint8Array): string {
    let text: string
    try {
      text = this.#decoder.decode(chunk, { stream: true })
    } catch {
      throw notUtf8(this.#decodedLines + lineOfFault(chunk))
    }
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) this.#decodedLines++
    return text
  }

  #factory(defaultGraph: string | undefined): TermFactory {
    let unnamed = 0
    return {
      ...rdfFactory,
      namedNode: (iri) => {
        if (!isAbsoluteIri(iri)) {
          this.#fail(
            `<${iri.slice(0, 100)}> is relative, and there is no base that it is relative to`,
          )
        }
        return rdfFactory.namedNode(iri)
      },
      blankNode: (label) => rdfFactory.blankNode(label ?? `.${++unnamed}`),
      quad: (subject, predicate, object, graph) => {
        const quoted = [subject, object].some(({ termType }) => termType === 'Quad')
        if (quoted) this.#fail('a triple as a term (RDF 1.2) is nothing that a core can hold')
        const isDefault = graph?.termType === 'NamedNode' && graph.value === defaultGraph
        return rdfFactory.quad(subject, predicate, object, isDefault ? undefined : graph)
      },
    }
  }

  #fail(reason: string): never {
    throw formatError(reason, this.#line)
  }
}

function syntaxError(error: Error, lineBefore: number): LorekeepError {
  const { context } = error as { context?: { line?: unknown } }
  const line = typeof context?.line === 'number' ? context.line : lineBefore
  // The second is how n3 names terms that are not its own.
  const reason = error.message.replace(/ on line \d+\.$/, '').replace(/ to follow "undefined"$/, '')
  return formatError(reason, line)
}

/** Counted from 1. */
function lineOfFault(chunk: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  let from = 0
  // The rest of a character that the chunk before began.
  while (from < 3 && ((chunk[from] ?? 0) & 0xc0) === 0x80) from++
  for (; ; line++) {
    const end = chunk.indexOf(10, from)
    if (end < 0) return line
    try {
      decoder.decode(chunk.subarray(from, end))
    } catch {
      return line
    }
    from = end + 1
  }
}

function notUtf8(line: number): LorekeepError {
  return formatError('the bytes are not UTF-8', line)
}

function formatError(reason: string, line: number): LorekeepError {
  return new LorekeepError('LK_RDF_FORMAT', `line ${line}: ${reason}`, { details: { line } })
}
