// The library that knows the syntaxes: an optional peer.

import type * as RDF from '@rdfjs/types'
import { LorekeepError } from '../errors.js'
import type { TermFactory } from './factory.js'

/** Those parts of n3 that are used. */
export interface N3 {
  readonly Parser: new (options: {
    readonly format: string
    readonly factory: TermFactory
    readonly blankNodePrefix: string
    readonly baseIRI?: string
  }) => N3Parser
  readonly Writer: new (
    output: { write(text: string): void; end(): void },
    options: { readonly format: string },
  ) => N3Writer
}

interface N3Parser {
  /** Takes from the input what the functions are that it wants to be called for `data` and `end`. */
  parse(
    input: { on(event: string, listener: (text: string) => void): void },
    callbacks: {
      onQuad(error: Error | null, quad: RDF.Quad | null): void
      onPrefix(name: string, iri: { readonly value: string }): void
      onToken(token: N3Token): void
    },
  ): void
}

interface N3Token {
  readonly type: string
  readonly value: string
  readonly line: number
}

export interface N3Writer {
  addQuad(quad: RDF.Quad, done: (error?: Error | null) => void): void
  addPrefixes(prefixes: Readonly<Record<string, string>>): void
  end(): void
}

/** @throws LorekeepError `LK_PEER_MISSING` */
export async function loadN3(): Promise<N3> {
  try {
    // Its published types are those of an older version.
    return (await import('n3')) as unknown as N3
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const detail = "RDF is read and written by 'n3': npm install n3"
    throw new LorekeepError('LK_PEER_MISSING', detail, { cause, details: { package: 'n3' } })
  }
}
