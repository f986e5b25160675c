// The syntaxes of RDF that are read and written, and what they are called.

import { checkArgument } from '../door/options.js'
import { aRule, aString } from '../door/rules.js'

interface Syntax {
  readonly mediaType: string
  /** Other media types that mean it. */
  readonly alsoMediaTypes: readonly string[]
  /** What it is called on a command line, and the extensions of its files. */
  readonly aliases: readonly string[]
  /** Whether it has a place for named graphs. */
  readonly hasGraphs: boolean
  /** Whether IRIs may be abbreviated by prefixes. */
  readonly hasPrefixes: boolean
}

export type RdfFormat = 'n-triples' | 'n-quads' | 'turtle' | 'trig'

export const syntaxes: Readonly<Record<RdfFormat, Syntax>> = {
  'n-triples': {
    mediaType: 'application/n-triples',
    alsoMediaTypes: [],
    aliases: ['nt', 'ntriples'],
    hasGraphs: false,
    hasPrefixes: false,
  },
  turtle: {
    mediaType: 'text/turtle',
    alsoMediaTypes: ['application/x-turtle'],
    aliases: ['ttl'],
    hasGraphs: false,
    hasPrefixes: true,
  },
  'n-quads': {
    mediaType: 'application/n-quads',
    alsoMediaTypes: ['text/x-nquads'],
    aliases: ['nq', 'nquads'],
    hasGraphs: true,
    hasPrefixes: false,
  },
  trig: {
    mediaType: 'application/trig',
    alsoMediaTypes: ['application/x-trig'],
    aliases: [],
    hasGraphs: true,
    hasPrefixes: true,
  },
}

export const rdfFormats = Object.keys(syntaxes) as readonly RdfFormat[]

/** By its name or an alias: `nt` is `n-triples`. */
export function rdfFormatNamed(name: string): RdfFormat | undefined {
  checkArgument('the name of a format', name, aString)
  const wanted = name.toLowerCase()
  return rdfFormats.find((format) => {
    return format === wanted || syntaxes[format].aliases.includes(wanted)
  })
}

/** By the extension of a file: `books.ttl` is Turtle. */
export function rdfFormatOfFile(file: string): RdfFormat | undefined {
  const extension = /\.(nt|nq|ttl|trig)$/i.exec(file)?.[1]
  return extension === undefined ? undefined : rdfFormatNamed(extension)
}

/** By a media type without parameters. */
export function rdfFormatOfMediaType(mediaType: string): RdfFormat | undefined {
  const wanted = mediaType.trim().toLowerCase()
  return rdfFormats.find((format) => {
    return syntaxes[format].mediaType === wanted || syntaxes[format].alsoMediaTypes.includes(wanted)
  })
}

export const aFormat = aRule<string>(
  `one of ${rdfFormats.join(', ')}`,
  (format) => typeof format === 'string' && rdfFormatNamed(format) !== undefined,
)

/** Of a name that is one. */
export function formatNamed(format: string): RdfFormat {
  return rdfFormatNamed(format) as RdfFormat
}
