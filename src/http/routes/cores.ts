// Knowledge cores: bulk import and export, list, stat, delete.

import { MessageDecoder } from '../../codec/decoder.js'
import { exportDialects, importDialects } from '../../codec/dialects/names.js'
import type { ExportDialect } from '../../codec/dialects/names.js'
import { LorekeepError } from '../../errors.js'
import type { CoreExport, CoreRef, CoreStat, KnowledgeStore } from '../../knowledge/types.js'
import { syntaxes, rdfFormatOfMediaType, rdfFormats } from '../../rdf/format.js'
import type { RdfFormat } from '../../rdf/format.js'
import { importRdf } from '../../rdf/import.js'
import { rdfLosses } from '../../rdf/parse.js'
import type { RdfParseOptions } from '../../rdf/parse.js'
import { anAbsoluteIri } from '../../rdf/terms.js'
import { writeRdf } from '../../rdf/write.js'
import { negotiate } from '../../accept.js'
import { askedCollection } from '../access.js'
import { actingUser } from '../auth.js'
import type { Call } from '../call.js'
import {
  after,
  aText,
  aTimeParameter,
  aWord,
  coreId,
  filtersIn,
  limit,
  pageIn,
  prefix,
  user,
  valueOf,
} from '../parameters.js'
import {
  answerVersioned,
  changeConditions,
  entityTag,
  isKnown,
  isSameRange,
  knownTag,
  validatorHeaders,
} from '../conditions.js'
import type { Validators } from '../conditions.js'
import { rangeOf } from '../range.js'
import type { ByteRange } from '../range.js'
import { answer, answerJson } from '../reply.js'
import type { Places } from '../places.js'
import type { Exchange, Route } from '../routes.js'
import { answerStream, whileConnected } from '../stream.js'
import { requestError } from '../target.js'
import type { CoreMessage } from '../../types.js'

interface CoreRoutesOptions {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  readonly maxCoreBytes: number
  readonly requireConditions: boolean
  readonly imports: Places
  readonly exports: Places
  readonly idleTimeoutMs: number
  readonly exportIdleTimeoutMs: number
}

/** What a query says of the core that is meant. */
const named = { id: coreId, user }

const importParameters = {
  mode: aWord('Adds to the core, or puts this in its place.', 'append', 'replace'),
  index: aWord('Whether it is indexed for questions in the same pass.', 'false', 'true'),
  dialect: aWord('Which dialects of core streams are read.', ...importDialects),
}

/** What one says of RDF alone. */
const rdfParameters = {
  loss: aWord('What becomes of datatypes and languages of RDF.', ...rdfLosses),
  base: {
    description: 'What relative IRIs of RDF are relative to.',
    schema: { type: 'string', format: 'uri' },
    rule: anAbsoluteIri,
  },
  collection: aText('The collection that messages made of RDF are in.'),
}
const ofRdf = Object.keys(rdfParameters)

const filters = {
  prefix,
  createdFrom: aTimeParameter(
    'Cores that came into being then, or later: a date or time of ISO 8601.',
  ),
  createdTo: aTimeParameter('Cores that came into being before.'),
  updatedFrom: aTimeParameter('Cores that changed last then, or later.'),
  updatedTo: aTimeParameter('Cores that changed last before.'),
}

const writtenDialect = aWord('The dialect of a core stream.', ...exportDialects)

export function coreRoutes(options: CoreRoutesOptions): readonly Route[] {
  const { prefix: base, knowledge } = options

  return [
    {
      access: 'change',
      method: 'POST',
      path: `${base}/import-core`,
      operation: 'importCore',
      versions: true,
      query: { ...named, ...importParameters, ...rdfParameters },
      run: importCore,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${base}/export-core`,
      operation: 'exportCore',
      media: [],
      versions: true,
      query: { ...named, dialect: writtenDialect },
      run: exportCore,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${base}/cores`,
      operation: 'listCores',
      query: { user, ...filters, limit, after },
      run: listCores,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${base}/cores/{id}`,
      operation: 'showCore',
      versions: true,
      query: { user },
      run: showCore,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: `${base}/cores/{id}`,
      operation: 'deleteCore',
      media: [],
      versions: true,
      query: { user },
      run: deleteCore,
    },
  ]

  // A Content-Type of RDF is the only one that is looked at: curl sends a form's by default, and the
  // scanner says better than a 415 what is wrong with bytes that are no core.
  async function importCore(exchange: Exchange): Promise<void> {
    const { call, query } = exchange
    const ref = refFromQuery(exchange)
    const mode = valueOf(query, 'mode', importParameters.mode) ?? 'append'
    const index = valueOf(query, 'index', importParameters.index) === 'true'
    const dialect = valueOf(query, 'dialect', importParameters.dialect)
    // An append takes nothing away that somebody has not seen.
    const conditions = changeConditions(call, options.requireConditions && mode === 'replace')
    const rdf = rdfFrom(exchange)
    if (rdf !== undefined && dialect !== undefined) {
      throw requestError('dialect', 'is for core streams, and the Content-Type names RDF')
    }
    const body = call.openBody({
      content: 'core',
      maxBytes: options.maxCoreBytes,
      idleTimeoutMs: options.idleTimeoutMs,
    })
    await options.imports.hold(exchange.principal, async () => {
      // No signal: a client that leaves early ends the body with an error, and one that leaves
      // after its last byte has its import, and may retry to be told so.
      const summary = await (rdf === undefined
        ? knowledge.import(ref, body, { mode, index, ...conditions, ...(dialect && { dialect }) })
        : importRdf(body, rdf, (messages) =>
            knowledge.write(ref, messages, { mode, index, ...conditions }),
          ))
      await answerJson(call, 200, summary, { ETag: entityTag(summary) })
    })
  }

  async function exportCore(exchange: Exchange): Promise<void> {
    const { call, query } = exchange
    const ref = refFromQuery(exchange)
    const dialect = valueOf(query, 'dialect', writtenDialect)
    const format = formatFor(call)
    if (format !== 'core') {
      if (dialect === undefined) return exportRdf(exchange, ref, format)
      throw requestError('dialect', 'is for core streams, and Accept asks for RDF')
    }
    if (dialect === 'trustgraph-2') return exportDialect(exchange, ref, dialect)
    if (await isAnswered(call, ref, undefined, exportHeaders)) return
    // Ends the iteration too: nothing more is read for a client that left.
    await options.exports.hold(exchange.principal, () =>
      whileConnected(call, async (signal) => {
        const { core, range } = await openRange(call, ref, signal)
        if (await isOldNews(call, core, undefined)) return
        const { from, to } = range ?? { from: 0, to: core.bytes }
        const headers = { ...exportHeaders(core), 'Content-Length': String(to - from) }
        const chunks = stepsOf(core, to - from)
        const { exportIdleTimeoutMs } = options
        if (range === undefined) return answerStream(call, headers, chunks, exportIdleTimeoutMs)
        const part = { ...headers, 'Content-Range': `bytes ${from}-${to - 1}/${core.bytes}` }
        return answerStream(call, part, chunks, exportIdleTimeoutMs, undefined, 206)
      }),
    )
  }

  /** The version that is read is that of the range: one that comes in between begins anew. */
  async function openRange(
    call: Call,
    ref: CoreRef,
    signal: AbortSignal,
  ): Promise<{ core: CoreExport; range: ByteRange | undefined }> {
    const { range: asked, 'if-range': ifRange } = call.headers
    if (asked === undefined)
      return { core: await knowledge.export(ref, { signal }), range: undefined }
    for (;;) {
      const stat = (await knowledge.stat(ref)) ?? notFound(ref)
      const isWhole = isKnown(call, validatorsOf(stat)) || !isSameRange(ifRange, validatorsOf(stat))
      const range = isWhole ? undefined : rangeIn(call, asked, stat.bytes)
      const core = await knowledge.export(ref, { ...range, signal })
      if (core.digest === stat.digest) return { core, range }
      core.close()
    }
  }

  async function exportRdf(exchange: Exchange, ref: CoreRef, format: RdfFormat) {
    const { mediaType } = syntaxes[format]
    const type = mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType
    const open = (signal: AbortSignal) => knowledge.export(ref, { signal })
    await exportMade(exchange, ref, { variant: format, type, open }, (core) =>
      writeRdf(messagesOf(core), { format }),
    )
  }

  async function exportDialect(exchange: Exchange, ref: CoreRef, dialect: ExportDialect) {
    const open = (signal: AbortSignal) => knowledge.export(ref, { dialect, signal })
    const how = { variant: dialect, type: 'application/octet-stream', open }
    await exportMade(exchange, ref, how, (core) => core)
  }

  /** Made while it is sent: how long it will be is not known. */
  async function exportMade(
    { call, principal }: Exchange,
    ref: CoreRef,
    { variant, type, open }: Made,
    make: (core: CoreExport) => AsyncIterable<Uint8Array>,
  ) {
    // An unread body would keep the socket from telling that the client has gone.
    if (call.isBodyPending) throw new LorekeepError('LK_HTTP_REQUEST', 'a GET has no body')
    const headers = (stat: CoreStat) => ({ ...cacheHeaders(stat, variant), 'Content-Type': type })
    if (await isAnswered(call, ref, variant, headers)) return
    await options.exports.hold(principal, () =>
      whileConnected(call, async (signal) => {
        const core = await open(signal)
        if (await isOldNews(call, core, variant)) return
        await answerStream(call, headers(core), make(core), options.exportIdleTimeoutMs)
      }),
    )
  }

  /** Whether nothing has to be read for the answer: it is a HEAD, or a 304. */
  async function isAnswered(
    call: Call,
    ref: CoreRef,
    variant: string | undefined,
    headersOf: (stat: CoreStat) => Record<string, string>,
  ): Promise<boolean> {
    const { headers, method } = call
    const isConditional = headers['if-none-match'] ?? headers['if-modified-since']
    if (method !== 'HEAD' && isConditional === undefined) return false
    const stat = (await knowledge.stat(ref)) ?? notFound(ref)
    const isOld = isKnown(call, validatorsOf(stat, variant))
    if (!isOld && method !== 'HEAD') return false
    if (isOld) await answer(call, 304, knownHeaders(call, stat, variant))
    else await answer(call, 200, headersOf(stat))
    return true
  }

  async function listCores({ call, principal, query }: Exchange): Promise<void> {
    const page = await knowledge.corePage({
      user: actingUser(principal, query.get('user')),
      ...filtersIn(query, filters),
      ...pageIn(query),
    })
    await answerJson(call, 200, page)
  }

  async function showCore(exchange: Exchange): Promise<void> {
    const ref = refFromPath(exchange)
    const stat = (await knowledge.stat(ref)) ?? notFound(ref)
    const variant = Date.parse(stat.updatedAt).toString(36)
    await answerVersioned(exchange.call, stat, { ...validatorsOf(stat), variant })
  }

  async function deleteCore(exchange: Exchange): Promise<void> {
    const ref = refFromPath(exchange)
    const conditions = changeConditions(exchange.call, options.requireConditions)
    if (!(await knowledge.delete(ref, conditions))) notFound(ref)
    await answer(exchange.call, 204)
  }
}

/**
 * An export in small steps, so that a slow reader shows signs of life within the timeout: at the
 * default one that takes more than 4.4 kB/s stays. Steps of 128 KiB sent three quarters as much. They
 * are parts of the slice that is held anyway, and not copied. Closes the export however that ends.
 */
async function* stepsOf(
  core: CoreExport,
  length: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stepBytes = 512 * 1024
  let bytes = 0
  try {
    for await (const chunk of core) {
      for (let at = 0; at < chunk.byteLength; at += stepBytes) {
        const step = chunk.subarray(at, at + stepBytes)
        bytes += step.byteLength
        yield step
      }
    }
  } finally {
    core.close()
  }
  if (bytes !== length) throw new Error(`an export of ${length} bytes ended after ${bytes}`)
}

/** @throws LorekeepError `LK_HTTP_RANGE`, and says how long it is */
function rangeIn(call: Call, header: string, bytes: number): ByteRange | undefined {
  try {
    return rangeOf(header, bytes)
  } catch (error) {
    call.setHeader('Content-Range', `bytes */${bytes}`)
    throw error
  }
}

/** What was opened may be another version than the one that was looked at before. */
async function isOldNews(
  call: Call,
  core: CoreExport,
  variant: string | undefined,
): Promise<boolean> {
  try {
    if (!isKnown(call, validatorsOf(core, variant))) return false
  } catch (error) {
    core.close()
    throw error
  }
  core.close()
  await answer(call, 304, knownHeaders(call, core, variant))
  return true
}

async function* messagesOf(core: CoreExport): AsyncGenerator<CoreMessage, void, undefined> {
  const decoder = new MessageDecoder()
  for await (const chunk of core) yield* decoder.push(chunk)
  decoder.finish()
}

function validatorsOf({ digest, updatedAt }: CoreStat, variant?: string): Validators {
  return { version: digest, variant, updatedAt }
}

function cacheHeaders(stat: CoreStat, variant?: string): Record<string, string> {
  return {
    ...validatorHeaders(validatorsOf(stat, variant)),
    'Cache-Control': 'private, no-cache',
    // Without `user` one URL is another core under another token.
    Vary: 'Authorization, Accept',
  }
}

/** Of a 304. */
function knownHeaders(call: Call, stat: CoreStat, variant?: string): Record<string, string> {
  const ETag = knownTag(call, validatorsOf(stat, variant))
  return { ...cacheHeaders(stat, variant), ETag }
}

function exportHeaders(stat: CoreStat): Record<string, string> {
  return {
    ...cacheHeaders(stat),
    'Content-Type': 'application/octet-stream',
    'Content-Length': String(stat.bytes),
    'Accept-Ranges': 'bytes',
    // Only then is the digest that of the body.
    ...(stat.segments === 1 && {
      'Repr-Digest': `sha-256=:${Buffer.from(stat.digest, 'hex').toString('base64')}:`,
    }),
  }
}

/** An export that is made of a core. */
interface Made {
  readonly variant: string
  readonly type: string
  readonly open: (signal: AbortSignal) => Promise<CoreExport>
}

function refFromQuery({ principal, query }: Exchange): CoreRef {
  return { user: actingUser(principal, query.get('user')), id: query.get('id') ?? '' }
}

function refFromPath({ principal, query, parameters }: Exchange): CoreRef {
  return { user: actingUser(principal, query.get('user')), id: parameters.get('id') ?? '' }
}

/** A core unless the client likes a format of RDF better. */
function formatFor({ headers }: Call): RdfFormat | 'core' {
  const offered = [
    { format: 'core' as const, mediaType: 'application/octet-stream' },
    ...rdfFormats.map((format) => ({ format, mediaType: syntaxes[format].mediaType })),
  ]
  const found = negotiate(headers.accept, offered)
  if (found !== undefined) return found.format
  const types = offered.map(({ mediaType }) => mediaType).join(', ')
  throw new LorekeepError('LK_HTTP_NOT_ACCEPTABLE', `there is ${types}`)
}

/** `undefined` where the body is no RDF, but a core. */
function rdfFrom({ call, principal, query }: Exchange): RdfParseOptions | undefined {
  const [type = '', ...parameters] = (call.headers['content-type'] ?? '').split(';')
  const format = rdfFormatOfMediaType(type)
  if (format === undefined) {
    const name = ofRdf.find((name) => query.has(name))
    if (name === undefined) return undefined
    const found = type || 'it is not there'
    throw requestError(name, `is for RDF, and the Content-Type names none: ${found}`)
  }
  const charset = parameters.join(';').match(/\bcharset\s*=\s*"?([^\s";]+)/i)?.[1]
  if (charset !== undefined && !/^(?:utf-8|us-ascii)$/i.test(charset)) {
    throw new LorekeepError('LK_HTTP_REQUEST', `RDF is read as UTF-8, not as ${charset}`)
  }
  const loss = valueOf(query, 'loss', rdfParameters.loss)
  const base = valueOf(query, 'base', rdfParameters.base)
  return { format, loss, base, collection: askedCollection(principal, query.get('collection')) }
}

function notFound({ user, id }: CoreRef): never {
  throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
