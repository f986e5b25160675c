// The configuration file of `lorekeep serve`. Everything wrong with it is told at once.

import { constants } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ErrorList } from '../../error-list.js'
import { LorekeepError } from '../../errors.js'
import { embedFrom } from '../../flow/steps/embed.js'
import { OptionReader } from '../../flow/steps/options.js'
import type { Problem } from '../../flow/steps/options.js'
import type { FlowLimits } from '../../flow/types.js'
import type { HandlerOptions, Principal } from '../../http/index.js'
import { parseJson } from '../../json-text.js'
import type { KnowledgeLimits } from '../../knowledge/core-import.js'
import type { JsonObject, ObjectLimits } from '../../objects/types.js'
import type { SparqlEngineOptions } from '../../sparql/index.js'
import type { Embedder } from '../../types.js'
import { ConfigReader, isObject, isText } from './config-reader.js'
import type { Fields } from './config-reader.js'
import { isToken, tokenRule } from './token.js'

export type StoreLimits = Partial<KnowledgeLimits & ObjectLimits & FlowLimits>

export interface Config {
  readonly host?: string
  readonly port?: number
  /** Absolute: a relative one is meant from where the file is. */
  readonly data?: string
  /** Whom each token stands for. */
  readonly tokens: ReadonlyMap<string, Principal>
  readonly limits: StoreLimits
  /** What is the handler's to bound. */
  readonly handlerLimits: HandlerLimits
  /** What the threads may take that answer SPARQL. */
  readonly sparql: SparqlEngineOptions
  /** Whether collections are there on first use, or have to be made. */
  readonly collections?: 'open' | 'declared'
  /** To be defined at the start. What is in them is for the store to check. */
  readonly schemas: readonly NamedSchema[]
  /** To be defined at the start, too. */
  readonly flows: readonly NamedFlow[]
  /** Makes vectors of questions that come as a text. */
  readonly embedder?: Embedder
  /** Whose a document is that names no user, and comes with a token for any. */
  readonly defaultUser?: string
  readonly compat: Compat
}

export type HandlerLimits = Pick<
  HandlerOptions,
  | 'maxJsonBytes'
  | 'maxBufferedBytes'
  | 'maxGraphResults'
  | 'maxConcurrentImports'
  | 'maxConcurrentExports'
  | 'maxConcurrentQueries'
  | 'maxEventStreams'
>

export interface NamedSchema {
  readonly name: string
}

export interface NamedFlow {
  readonly id: string
  readonly active?: unknown
}

/** What some clients need. */
export interface Compat {
  /** An answer without a body becomes `{}`. */
  readonly emptyJson?: boolean
}

export const noConfig: Config = {
  tokens: new Map(),
  limits: {},
  handlerLimits: {},
  sparql: {},
  schemas: [],
  flows: [],
  compat: {},
}

/** @throws LorekeepError `LK_CONFIG` with `details.errors`, a list of `{ key, message }` */
export async function readConfig(file: string): Promise<Config> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new LorekeepError('LK_CONFIG', `${file}: ${(cause as Error).message}`, { cause })
  }
  let value: unknown
  try {
    value = parseJson(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new LorekeepError('LK_CONFIG', `${file} is not JSON: ${(cause as Error).message}`, {
      cause,
    })
  }
  return parseConfig(value, file)
}

const keys = [
  'host',
  'port',
  'data',
  'tokens',
  'limits',
  'collections',
  'schemas',
  'flows',
  'embedder',
  'defaultUser',
  'compat',
]

/** @throws LorekeepError `LK_CONFIG` */
export function parseConfig(value: unknown, file: string): Config {
  const reader = new ConfigReader()
  const fields = reader.object('the configuration', value)
  reader.checkKeys('', fields, keys)
  const host = reader.text('host', fields['host'])
  const port = reader.integer('port', fields['port'], 0, 65_535)
  const data = reader.text('data', fields['data'])
  const tokens = readTokens(reader, fields)
  const {
    maxJsonBytes,
    maxBufferedBytes,
    maxGraphResults,
    maxConcurrentImports,
    maxConcurrentExports,
    maxConcurrentQueries,
    maxEventStreams,
    sparqlThreads,
    sparqlThreadMb,
    ...limits
  } = readLimits(reader, fields)
  const collections = readCollections(reader, fields)
  const schemas = readSchemas(reader, fields)
  const flows = readFlows(reader, fields)
  const embedder = readEmbedder(reader, fields)
  const defaultUser = reader.text('defaultUser', fields['defaultUser'])
  const compat = readCompat(reader, fields)

  const { problems } = reader
  if (problems.count > 0) {
    const list = problems.sentence(({ message }) => message)
    throw new LorekeepError('LK_CONFIG', `${file}: ${list}`, { details: problems.details })
  }
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(data !== undefined && { data: resolve(dirname(file), data) }),
    tokens,
    limits,
    handlerLimits: {
      ...(maxJsonBytes !== undefined && { maxJsonBytes }),
      ...(maxBufferedBytes !== undefined && { maxBufferedBytes }),
      ...(maxGraphResults !== undefined && { maxGraphResults }),
      ...(maxConcurrentImports !== undefined && { maxConcurrentImports }),
      ...(maxConcurrentExports !== undefined && { maxConcurrentExports }),
      ...(maxConcurrentQueries !== undefined && { maxConcurrentQueries }),
      ...(maxEventStreams !== undefined && { maxEventStreams }),
    },
    sparql: {
      ...(sparqlThreads !== undefined && { threads: sparqlThreads }),
      ...(sparqlThreadMb !== undefined && { threadMb: sparqlThreadMb }),
    },
    ...(collections !== undefined && { collections }),
    schemas,
    flows,
    ...(embedder !== undefined && { embedder }),
    ...(defaultUser !== undefined && { defaultUser }),
    compat,
  }
}

function readTokens(reader: ConfigReader, { tokens = {} }: Fields): ReadonlyMap<string, Principal> {
  const principals = new Map<string, Principal>()
  for (const [token, principal] of Object.entries(reader.object('tokens', tokens))) {
    // Tokens are secrets: the messages say where, not what.
    const key = `tokens[${principals.size}]`
    if (!isToken(token)) reader.problems.add({ key, message: `${key}: a token is ${tokenRule}` })
    const fields = reader.object(key, principal)
    reader.checkKeys(`${key}.`, fields, ['user', 'collections', 'shared', 'access'])
    const { user, collections, shared, access } = fields
    if (!isText(user) && isObject(principal)) {
      reader.fail(`${key}.user`, "must be a string that is not empty ('*' is any user)", user)
    }
    const names = reader.list(`${key}.collections`, collections)
    if (!names.every(isText)) {
      reader.fail(`${key}.collections`, 'must be an array of names', collections)
    }
    const open = reader.list(`${key}.shared`, shared)
    if (!open.every(isText)) reader.fail(`${key}.shared`, 'must be an array of names', shared)
    if (access !== undefined && access !== 'read') {
      reader.fail(`${key}.access`, "must be 'read', or left out", access)
    }
    principals.set(token, {
      user: isText(user) ? user : '',
      ...(shared !== undefined && { shared: open.filter(isText) }),
      ...(access === 'read' && { access }),
      ...(collections !== undefined && { collections: names.filter(isText) }),
    })
  }
  return principals
}

/** Each limit, and the least and the most that it may be. */
const limitRanges = {
  maxCoreBytes: [1, Number.MAX_SAFE_INTEGER],
  maxMessageBytes: [1, Number.MAX_SAFE_INTEGER],
  maxStringBytes: [1, Number.MAX_SAFE_INTEGER],
  maxDepth: [6, 1024],
  maxVectorLength: [1, Number.MAX_SAFE_INTEGER],
  maxMapEntries: [1, Number.MAX_SAFE_INTEGER],
  maxExtraValues: [1, Number.MAX_SAFE_INTEGER],
  // A body of JSON becomes one string.
  maxJsonBytes: [1, constants.MAX_STRING_LENGTH],
  maxBufferedBytes: [1, Number.MAX_SAFE_INTEGER],
  maxBatchObjects: [1, Number.MAX_SAFE_INTEGER],
  maxObjectBytes: [1, Number.MAX_SAFE_INTEGER],
  maxQueryLimit: [1, Number.MAX_SAFE_INTEGER],
  maxQueryObjects: [1, Number.MAX_SAFE_INTEGER],
  // A timer past it would fire at once.
  maxQueryMs: [1, 2 ** 31 - 1],
  maxGraphResults: [1, Number.MAX_SAFE_INTEGER],
  maxConcurrentImports: [1, Number.MAX_SAFE_INTEGER],
  maxConcurrentExports: [1, Number.MAX_SAFE_INTEGER],
  maxConcurrentQueries: [1, Number.MAX_SAFE_INTEGER],
  maxEventStreams: [1, Number.MAX_SAFE_INTEGER],
  sparqlThreads: [1, 1024],
  sparqlThreadMb: [64, 65_536],
  maxTextBytes: [1, Number.MAX_SAFE_INTEGER],
  maxMetadataTriples: [1, Number.MAX_SAFE_INTEGER],
} as const satisfies Readonly<Record<string, readonly [number, number]>>

function readLimits(
  reader: ConfigReader,
  { limits = {} }: Fields,
): Readonly<Partial<Record<keyof typeof limitRanges, number>>> {
  const fields = reader.object('limits', limits)
  reader.checkKeys('limits.', fields, Object.keys(limitRanges))
  const found: Partial<Record<string, number>> = {}
  for (const [key, [least, most]] of Object.entries(limitRanges)) {
    const limit = reader.integer(`limits.${key}`, fields[key], least, most)
    if (limit !== undefined) found[key] = limit
  }
  return found
}

function readCollections(
  reader: ConfigReader,
  { collections }: Fields,
): 'open' | 'declared' | undefined {
  if (collections === undefined || collections === 'open' || collections === 'declared') {
    return collections
  }
  reader.fail('collections', "must be 'open' or 'declared'", collections)
  return undefined
}

function readSchemas(reader: ConfigReader, { schemas }: Fields): readonly NamedSchema[] {
  return reader.list('schemas', schemas).flatMap((schema, index) => {
    const key = `schemas[${index}]`
    const fields = reader.object(key, schema)
    const { name } = fields
    if (isText(name)) return [{ ...fields, name }]
    if (isObject(schema)) reader.fail(`${key}.name`, 'must be a string that is not empty', name)
    return []
  })
}

function readFlows(reader: ConfigReader, { flows }: Fields): readonly NamedFlow[] {
  const ids = new Set<string>()
  return reader.list('flows', flows).flatMap((flow, index) => {
    const key = `flows[${index}]`
    const fields = reader.object(key, flow)
    const { id } = fields
    if (!isText(id)) {
      if (isObject(flow)) reader.fail(`${key}.id`, 'must be a string that is not empty', id)
      return []
    }
    if (ids.has(id)) reader.fail(`${key}.id`, 'must be an id of its own', id)
    ids.add(id)
    return [{ ...fields, id }]
  })
}

/** It has the options of the step `embed`. */
function readEmbedder(reader: ConfigReader, { embedder }: Fields): Embedder | undefined {
  if (embedder === undefined) return undefined
  const problems = new ErrorList<Problem>()
  // What was read from JSON is JSON.
  const options = new OptionReader(
    reader.object('embedder', embedder) as JsonObject,
    'embedder',
    problems,
  )
  const step = embedFrom(options)
  options.end()
  for (const { path, message } of problems.details.errors) {
    reader.problems.add({ key: path, message: `${path} ${message}` })
  }
  return step.embedder
}

function readCompat(reader: ConfigReader, { compat = {} }: Fields): Compat {
  const fields = reader.object('compat', compat)
  reader.checkKeys('compat.', fields, ['emptyJson'])
  const { emptyJson } = fields
  if (emptyJson === undefined) return {}
  if (typeof emptyJson === 'boolean') return { emptyJson }
  reader.fail('compat.emptyJson', 'must be true or false', emptyJson)
  return {}
}
