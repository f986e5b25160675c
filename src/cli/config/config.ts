// The configuration file of `lorekeep serve`. Everything wrong with it is told at once.

import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { formatPath } from '../../door/json.js'
import { Members } from '../../door/members.js'
import { Problems } from '../../door/problems.js'
import { aCount, aList, anObject, aRule, aText, aListOfTexts, type Rule } from '../../door/rules.js'
import { quoted } from '../../door/wording.js'
import { LorekeepError } from '../../errors.js'
import { embedFrom } from '../../flow/steps/embed.js'
import { aBase } from '../../flow/steps/vocabulary.js'
import type { FlowLimits } from '../../flow/types.js'
import type { CorsOptions, HandlerOptions, Principal } from '../../http/index.js'
import { parseJson } from '../../json-text.js'
import type { ModelOptions } from '../../openai/client.js'
import { modelOptionsFrom } from '../../openai/configuration.js'
import { knowledgeLimits, type KnowledgeLimits } from '../../knowledge/limits.js'
import { objectLimits } from '../../objects/limits.js'
import type { ObjectLimits } from '../../objects/types.js'
import { flowLimits } from '../../flow/limits.js'
import { corsRules } from '../../http/cors.js'
import { locateFlaw } from '../../http/json-place.js'
import { handlerLimits, whetherAssistants } from '../../http/options.js'
import { aByteRate } from '../../http/rates.js'
import { givenLimits, rulesOf } from '../../door/limits.js'
import type { Embedder } from '../../types.js'
import type { SparqlEngineOptions } from '../../sparql/index.js'
import { resolvePlace } from './place.js'
import { isToken, tokenRule } from './token.js'

type StoreLimits = Partial<KnowledgeLimits & ObjectLimits & FlowLimits>

interface Config {
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
  /** See HandlerOptions. */
  readonly maxUserBytesPerSecond?: number
  /** What merging indexes in the background may take. */
  readonly indexing: { readonly indexThreads?: number; readonly indexBytesPerSecond?: number }
  /** Whether collections are there on first use, or have to be made. */
  readonly collections?: 'open' | 'declared'
  /** To be defined at the start. What is in them is for the store to check. */
  readonly schemas: readonly NamedSchema[]
  /** To be defined at the start, too. */
  readonly flows: readonly NamedFlow[]
  /** Makes vectors of questions that come as a text. */
  readonly embedder?: Embedder
  /** The model that answers questions in words. */
  readonly generate?: ModelOptions
  /** Whose a document is that names no user, and comes with a token for any. */
  readonly defaultUser?: string
  /** What URIs begin with that flows make. */
  readonly base?: string
  /** Which pages of other origins may read answers. */
  readonly cors?: CorsOptions
  /** Whether changes have to say of which version. */
  readonly requireConditions?: boolean
  /** Whether there is a page to look at what is stored: true by default. */
  readonly inspector?: boolean
  /** Whether assistants are answered, and may load texts. See HandlerOptions. */
  readonly mcp?: boolean | 'write'
  /** A line for all that happens, and how it looks. */
  readonly log?: 'json' | 'text'
  readonly compat: Compat
}

/** For createLorekeep(). */
export function storeOptionsOf(config: Config) {
  const { limits, indexing, collections, embedder, defaultUser, base } = config
  return {
    limits,
    ...indexing,
    ...(collections !== undefined && { collections }),
    ...(embedder !== undefined && { embedder }),
    ...(defaultUser !== undefined && { defaultUser }),
    ...(base !== undefined && { base }),
  }
}

/** For createHandler(). */
export function handlerOptionsOf(config: Config) {
  const { handlerLimits, maxUserBytesPerSecond, generate, cors, requireConditions } = config
  const { defaultUser, inspector, mcp, compat } = config
  return {
    ...handlerLimits,
    ...(maxUserBytesPerSecond !== undefined && { maxUserBytesPerSecond }),
    ...(generate !== undefined && { generate }),
    ...(cors !== undefined && { cors }),
    ...(requireConditions !== undefined && { requireConditions }),
    ...(defaultUser !== undefined && { defaultUser }),
    ...(inspector !== undefined && { inspector }),
    ...(mcp !== undefined && { mcp }),
    compat,
  }
}

type HandlerLimits = Pick<HandlerOptions, keyof typeof handlerLimits>

export interface NamedSchema {
  readonly name: string
}

export interface NamedFlow {
  readonly id: string
  readonly active?: unknown
}

/** What some clients need. */
interface Compat {
  /** An answer without a body becomes `{}`. */
  readonly emptyJson?: boolean
}

export const noConfig: Config = {
  tokens: new Map(),
  limits: {},
  handlerLimits: {},
  sparql: {},
  indexing: {},
  schemas: [],
  flows: [],
  compat: {},
}

/** @throws LorekeepError `LK_CONFIG` with `details.errors`, a list of `{ path, message }` */
export async function readConfig(file: string): Promise<Config> {
  let text: string
  try {
    text = (await readFile(file, 'utf8')).replace(/^\ufeff/, '')
  } catch (cause) {
    throw new LorekeepError('LK_CONFIG', `${file}: ${(cause as Error).message}`, { cause })
  }
  checkText(text, file)
  return parseConfig(parseJson(text), file)
}

/**
 * JSON.parse repeats what is around a flaw, which may be a token, and keeps the last of two keys.
 * @throws LorekeepError `LK_CONFIG`
 */
function checkText(text: string, file: string): void {
  const bytes = Buffer.from(text)
  locateFlaw(bytes, 0, (message, byteOffset, keys) => {
    const lines = bytes.toString('utf8', 0, byteOffset).split('\n')
    const column = (lines.at(-1) ?? '').length + 1
    const isToken = keys[0] === 'tokens' && keys.length > 1
    const isTwice = message.endsWith('twice')
    const told = isToken && keys.length === 2 && isTwice ? 'a token is there twice' : message
    const path = formatPath(isToken ? keys.slice(0, 1) : keys)
    const what = isTwice ? told : `is not JSON: ${told}`
    return new LorekeepError('LK_CONFIG', `${file}:${lines.length}:${column}: ${what}`, {
      details: { errors: [{ path, message: what }] },
    })
  })
}

/** @throws LorekeepError `LK_CONFIG` */
export function parseConfig(value: unknown, file: string): Config {
  const problems = new Problems()
  const given = new Members(value, '', problems, 'an object')
  const host = given.text('host')
  const port = given.integer('port', 0, 65_535)
  const data = given.text('data')
  const tokens = readTokens(given)
  const limits = readLimits(given)
  const { sparqlThreads, sparqlThreadMb, indexThreads, indexBytesPerSecond } = limits
  const { maxUserBytesPerSecond } = limits
  const collections = given.choice('collections', ['open', 'declared'])
  const schemas = readSchemas(given)
  const flows = readFlows(given)
  const embedder = readEmbedder(given)
  const generate = readGenerate(given)
  const defaultUser = given.text('defaultUser')
  const base = given.take('base', aBase)
  const cors = readCors(given)
  const requireConditions = given.boolean('requireConditions')
  const inspector = given.boolean('inspector')
  const mcp = given.take('mcp', whetherAssistants)
  const log = given.choice('log', ['json', 'text'])
  const compat = readCompat(given)
  given.end()

  if (problems.count > 0) {
    const { details } = problems
    throw new LorekeepError('LK_CONFIG', `${file}: ${problems.sentence()}`, { details })
  }
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(data !== undefined && { data: resolvePlace(dirname(file), data) }),
    tokens,
    limits: givenLimits(storeLimits, limits),
    handlerLimits: givenLimits(handlerLimits, limits),
    ...(maxUserBytesPerSecond !== undefined && { maxUserBytesPerSecond }),
    sparql: {
      ...(sparqlThreads !== undefined && { threads: sparqlThreads }),
      ...(sparqlThreadMb !== undefined && { threadMb: sparqlThreadMb }),
    },
    indexing: {
      ...(indexThreads !== undefined && { indexThreads }),
      ...(indexBytesPerSecond !== undefined && { indexBytesPerSecond }),
    },
    ...(collections !== undefined && { collections }),
    schemas,
    flows,
    ...(embedder !== undefined && { embedder }),
    ...(generate !== undefined && { generate }),
    ...(defaultUser !== undefined && { defaultUser }),
    ...(base !== undefined && { base }),
    ...(cors !== undefined && { cors }),
    ...(requireConditions !== undefined && { requireConditions }),
    ...(inspector !== undefined && { inspector }),
    ...(mcp !== undefined && { mcp }),
    ...(log !== undefined && { log }),
    compat,
  }
}

function readTokens(given: Members): ReadonlyMap<string, Principal> {
  const principals = new Map<string, Principal>()
  for (const [token, principal] of Object.entries(given.take('tokens', anObject) ?? {})) {
    // Tokens are secrets: the messages say where, not what.
    const path = `tokens[${principals.size}]`
    if (!isToken(token)) given.problems.fail(path, `must be ${tokenRule}`)
    const members = new Members(principal, path, given.problems)
    const user = members.need('user', aUser)
    const collections = members.take('collections', aListOfTexts)
    const shared = members.take('shared', aListOfTexts)
    const access = members.choice('access', ['read'])
    for (const name of shared ?? []) {
      if (collections === undefined || collections.includes(name)) continue
      const message = `has ${quoted(name)}, which is not among its collections: add it there, or take it away here`
      members.fail('shared', message)
    }
    members.end()
    principals.set(token, {
      user: user ?? '',
      ...(shared !== undefined && { shared }),
      ...(access !== undefined && { access }),
      ...(collections !== undefined && { collections }),
    })
  }
  return principals
}

const aUser = aRule<string>("a string that is not empty ('*' is any user)", aText.holds)

const storeLimits = { ...knowledgeLimits, ...objectLimits, ...flowLimits }

export const limitRules: Readonly<Record<string, Rule<number>>> = {
  ...rulesOf({ ...handlerLimits, ...storeLimits }),
  maxUserBytesPerSecond: aByteRate,
  sparqlThreads: aCount(1, 1024),
  sparqlThreadMb: aCount(64, 65_536),
  indexThreads: aCount(),
  indexBytesPerSecond: aCount(1),
}

function readLimits(given: Members): Readonly<Record<string, number>> {
  const members = new Members(given.take('limits', anObject) ?? {}, 'limits', given.problems)
  const found: Record<string, number> = {}
  for (const [name, rule] of Object.entries(limitRules)) {
    const limit = members.take(name, rule)
    if (limit !== undefined) found[name] = limit
  }
  members.end()
  return found
}

function readSchemas(given: Members): readonly NamedSchema[] {
  const { problems } = given
  return (given.take('schemas', aList) ?? []).flatMap((schema, index) => {
    const name = new Members(schema, `schemas[${index}]`, problems).need('name', aText)
    return name === undefined ? [] : [{ ...(schema as object), name }]
  })
}

function readFlows(given: Members): readonly NamedFlow[] {
  const ids = new Set<string>()
  return (given.take('flows', aList) ?? []).flatMap((flow, index) => {
    const members = new Members(flow, `flows[${index}]`, given.problems)
    const id = members.need('id', aText)
    if (id === undefined) return []
    if (ids.has(id)) members.fail('id', `is ${quoted(id)}, as a flow before it is called`)
    ids.add(id)
    return [{ ...(flow as object), id }]
  })
}

/** It has the options of the step `embed`. */
function readEmbedder(given: Members): Embedder | undefined {
  const options = given.take('embedder', anObject)
  if (options === undefined) return undefined
  const members = new Members(options, 'embedder', given.problems)
  const { embedder } = embedFrom(members)
  members.end()
  return embedder
}

function readGenerate(given: Members): ModelOptions | undefined {
  const options = given.take('generate', anObject)
  if (options === undefined) return undefined
  const members = new Members(options, 'generate', given.problems)
  const model = modelOptionsFrom(members)
  members.end()
  return model
}

function readCors(given: Members): CorsOptions | undefined {
  const options = given.take('cors', anObject)
  if (options === undefined) return undefined
  const members = new Members(options, 'cors', given.problems)
  const origins = members.need('origins', corsRules.origins)
  const credentials = members.boolean('credentials')
  const headers = members.take('headers', corsRules.headers)
  const maxAgeSeconds = members.take('maxAgeSeconds', corsRules.maxAgeSeconds)
  members.end()
  if (origins === '*' && credentials === true) {
    members.fail('credentials', "is for origins that are listed, not for '*'")
  }
  return {
    origins: origins ?? [],
    ...(credentials !== undefined && { credentials }),
    ...(headers !== undefined && { headers }),
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  }
}

function readCompat(given: Members): Compat {
  const members = new Members(given.take('compat', anObject) ?? {}, 'compat', given.problems)
  const emptyJson = members.boolean('emptyJson')
  members.end()
  return { ...(emptyJson !== undefined && { emptyJson }) }
}
