// RDF text to the messages of a core.

import type * as RDF from '@rdfjs/types'
import { LorekeepError } from '../errors.js'
import type { ByteSource } from '../byte-source.js'
import type { CoreMessage, Triple } from '../types.js'
import { Content } from './content.js'
import { extrasOf, reify } from './extras.js'
import type { Extras, RdfExtras } from './extras.js'
import { aFormat, formatNamed } from './format.js'
import { loadN3 } from './n3.js'
import { RdfReader } from './reader.js'
import { BlankNodeScope, hasBlankNode } from './scope.js'
import { anAbsoluteIri, tripleOf } from './terms.js'
import { Batches, type BatchBounds } from '../batches.js'
import { maxMessageWeight, weightOf } from '../message-weight.js'
import { checkArgument, checkOptions } from '../door/options.js'
import { anIterable, aText, oneOf } from '../door/rules.js'

/**
 * What becomes of datatypes, languages and named graphs: `keep` has them in the terms and triples of
 * the core. For readers of a core that know nothing of these, `drop` leaves them out and counts
 * them, `reify` keeps each as a reified statement, and `refuse` ends with `LK_RDF_LOSS` where there
 * is any. Base directions (RDF 1.2), for which a term has no place, are reified by `keep`, too.
 */
export type RdfLoss = 'keep' | 'drop' | 'reify' | 'refuse'

export const rdfLosses: readonly RdfLoss[] = ['keep', 'drop', 'reify', 'refuse']

export const defaultLoss: RdfLoss = 'keep'

export interface RdfParseOptions {
  /** `n-triples`, `n-quads`, `turtle`, `trig` or a short name: `nt`, `nq`, `ttl`. */
  readonly format: string
  /** `keep` by default. */
  readonly loss?: RdfLoss | undefined
  /** What relative IRIs are relative to, an absolute IRI. Without it they are refused. */
  readonly base?: string | undefined
  /** The collection of the messages. `default` by default. */
  readonly collection?: string | undefined
  /** The IRI of a named graph that is none: its statements are taken as those of the default graph. */
  readonly defaultGraph?: string | undefined
}

/** Iterate it once. */
export interface RdfMessages extends AsyncIterable<CoreMessage> {
  /** What there is beyond three texts, as far as was read: at the end, all of it. */
  readonly extras: RdfExtras
}

const triplesOfMessage: BatchBounds<Triple> = {
  most: 500,
  weigh: weightOf,
  mostWeight: maxMessageWeight,
}

const parseOptions = {
  format: aFormat,
  loss: oneOf(...rdfLosses),
  base: anAbsoluteIri,
  collection: aText,
  defaultGraph: anAbsoluteIri,
}

/**
 * The messages of a core that says what an RDF text says, 500 triples each, or fewer that are long, and
 * the same ones however the bytes come. Blank nodes are named after the whole text, which is therefore read
 * to its end before the first one goes on.
 * While iterating: @throws LorekeepError `LK_RDF_FORMAT`, `LK_RDF_LOSS`, `LK_PEER_MISSING`
 */
export function parseRdf(source: ByteSource, options: RdfParseOptions): RdfMessages {
  checkArgument('the source of parseRdf()', source, anIterable)
  checkOptions('parseRdf()', options, parseOptions, 'format')
  const format = formatNamed(options.format)
  const { loss = defaultLoss, base, collection = 'default', defaultGraph } = options
  const extras = { statements: 0, datatypes: 0, languages: 0, directions: 0, graphs: 0 }
  return { extras, [Symbol.asyncIterator]: read }

  async function* read(): AsyncGenerator<CoreMessage, void, undefined> {
    const m = { i: '', m: [], u: '', c: collection }
    const content = new Content(source)
    let scope: BlankNodeScope | undefined
    const messages = new Batches(triplesOfMessage)
    try {
      const reader = new RdfReader(await loadN3(), format, base, defaultGraph)
      for (let more = true; more;) {
        const chunk = await content.next()
        more = chunk !== undefined
        for (const quad of chunk ? reader.push(chunk) : reader.end()) {
          if (hasBlankNode(quad)) scope ??= new BlankNodeScope(await content.digest(), base)
          const t = messages.add(triplesOf(scope?.rename(quad) ?? quad))
          if (t) yield ['t', { m, t }]
        }
      }
    } finally {
      await content.close()
    }
    if (loss === 'refuse' && extras.statements > 0) throw lossError(extras)
    const t = messages.end()
    if (t) yield ['t', { m, t }]
  }

  function triplesOf(quad: RDF.Quad): readonly Triple[] {
    const extra = extrasOf(quad)
    if (extra) count(extra)
    // Nothing of it will be stored: the rest is read to count what there is.
    if (loss === 'refuse' && extras.statements > 0) return []
    const triple = tripleOf(quad)
    if (!extra) return [triple]
    if (loss === 'keep') {
      const { direction } = extra
      return direction === undefined ? [triple] : [triple, ...reify(triple, { direction })]
    }
    const { s, p, o } = triple
    const plain = { s, p, o: { v: o.v, e: o.e } }
    return loss === 'reify' ? [plain, ...reify(plain, extra)] : [plain]
  }

  function count({ datatype, language, direction, graph }: Extras): void {
    extras.statements++
    if (datatype) extras.datatypes++
    if (language !== undefined) extras.languages++
    if (direction !== undefined) extras.directions++
    if (graph) extras.graphs++
  }
}

function lossError(extras: RdfExtras): LorekeepError {
  const detail = `${describeExtras(extras)}; loss 'keep' keeps them, 'reify' as reified statements, 'drop' leaves them out`
  return new LorekeepError('LK_RDF_LOSS', detail, { details: { ...extras } })
}

/** `3 literals with a datatype, 2 with a language, 1 statement in a named graph`. */
export function describeExtras(extras: RdfExtras): string {
  const { datatypes, languages, directions, graphs } = extras
  const literals = [
    [datatypes, 'a datatype'],
    [languages, 'a language'],
    [directions, 'a direction'],
  ] as const
  const parts = literals
    .filter(([count]) => count > 0)
    .map(([count, what], n) => {
      const of = n > 0 ? '' : count === 1 ? ' literal' : ' literals'
      return `${count.toLocaleString('en-US')}${of} with ${what}`
    })
  if (graphs > 0) {
    const what = graphs === 1 ? 'statement in a named graph' : 'statements in named graphs'
    parts.push(`${graphs.toLocaleString('en-US')} ${what}`)
  }
  return parts.join(', ')
}
