// The configuration file of `lorekeep serve`. Everything wrong with it is told at once.

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { LorekeepError } from '../errors.js'
import type { KnowledgeLimits } from '../knowledge/store.js'

export interface Config {
  readonly host?: string
  readonly port?: number
  /** Absolute: a relative one is meant from where the file is. */
  readonly data?: string
  /** token → user */
  readonly tokens: ReadonlyMap<string, string>
  readonly limits: Partial<KnowledgeLimits>
  /** Keys that are right, and do nothing in this version. */
  readonly withoutEffect: readonly string[]
}

export const noConfig: Config = { tokens: new Map(), limits: {}, withoutEffect: [] }

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
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new LorekeepError('LK_CONFIG', `${file} is not JSON: ${(cause as Error).message}`, {
      cause,
    })
  }
  return parseConfig(value, file)
}

/** @throws LorekeepError `LK_CONFIG` */
export function parseConfig(value: unknown, file: string): Config {
  const reader = new ConfigReader()
  const config = reader.config(value, dirname(file))
  if (reader.errors.length > 0) {
    const list = reader.errors.map(({ message }) => message).join('; ')
    throw new LorekeepError('LK_CONFIG', `${file}: ${list}`, { details: { errors: reader.errors } })
  }
  return config
}

type Fields = Readonly<Record<string, unknown>>

const keys = ['host', 'port', 'data', 'tokens', 'limits', 'schemas', 'flows', 'defaultUser']

const limitKeys: readonly (keyof KnowledgeLimits)[] = [
  'maxCoreBytes',
  'maxMessageBytes',
  'maxStringBytes',
  'maxDepth',
  'maxVectorLength',
  'maxMapEntries',
]

/** Limits of the object and flow stores, which are not there yet. */
const laterLimitKeys = ['maxJsonBytes', 'maxBatchObjects', 'maxTextBytes', 'maxQueryLimit']

class ConfigReader {
  readonly errors: { readonly key: string; readonly message: string }[] = []
  readonly #withoutEffect: string[] = []

  config(value: unknown, directory: string): Config {
    const fields = this.#object('the configuration', value)
    this.#checkKeys('', fields, keys)
    const host = this.#text(fields, 'host')
    const port = this.#port(fields)
    const data = this.#text(fields, 'data')
    const tokens = this.#tokens(fields)
    const limits = this.#limits(fields)
    this.#later(fields)
    return {
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      ...(data !== undefined && { data: resolve(directory, data) }),
      tokens,
      limits,
      withoutEffect: this.#withoutEffect,
    }
  }

  #text(fields: Fields, key: string): string | undefined {
    const { [key]: value } = fields
    if (value === undefined) return undefined
    if (typeof value === 'string' && value !== '') return value
    this.#fail(key, 'must be a string that is not empty', value)
    return undefined
  }

  #port({ port }: Fields): number | undefined {
    if (port === undefined) return undefined
    if (Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535) return Number(port)
    this.#fail('port', 'must be an integer from 0 to 65535', port)
    return undefined
  }

  #tokens({ tokens = {} }: Fields): ReadonlyMap<string, string> {
    const users = new Map<string, string>()
    for (const [token, principal] of Object.entries(this.#object('tokens', tokens))) {
      // Tokens are secrets: the messages say where, not what.
      const key = `tokens[${users.size}]`
      if (!isToken(token)) {
        this.errors.push({ key, message: `${key}: a token is ${tokenRule}` })
      }
      const fields = this.#object(key, principal)
      this.#checkKeys(`${key}.`, fields, ['user'])
      const { user } = fields
      const isUser = typeof user === 'string' && user !== ''
      if (!isUser && isObject(principal)) {
        this.#fail(`${key}.user`, "must be a string that is not empty ('*' is any user)", user)
      }
      users.set(token, isUser ? user : '')
    }
    return users
  }

  #limits({ limits = {} }: Fields): Partial<KnowledgeLimits> {
    const fields = this.#object('limits', limits)
    this.#checkKeys('limits.', fields, [...limitKeys, ...laterLimitKeys])
    const found: Record<string, number> = {}
    for (const key of [...limitKeys, ...laterLimitKeys]) {
      const { [key]: value } = fields
      if (value === undefined) continue
      const [least, most] = key === 'maxDepth' ? [6, 1024] : [1, Number.MAX_SAFE_INTEGER]
      if (!Number.isSafeInteger(value) || Number(value) < least || Number(value) > most) {
        const range = key === 'maxDepth' ? 'an integer from 6 to 1024' : 'a positive integer'
        this.#fail(`limits.${key}`, `must be ${range}`, value)
      } else if (laterLimitKeys.includes(key)) {
        this.#withoutEffect.push(`limits.${key}`)
      } else {
        found[key] = Number(value)
      }
    }
    return found
  }

  /**
   * What belongs to stores that are not there yet. A configuration that counts on them is refused:
   * a schema or a flow that is silently not there would be found out about with the data.
   */
  #later(fields: Fields): void {
    const { schemas, flows } = fields
    if (schemas !== undefined) {
      if (!Array.isArray(schemas)) this.#fail('schemas', 'must be an array', schemas)
      else if (schemas.length > 0) {
        this.#fail('schemas', 'must be empty: this version has no object store', schemas)
      } else this.#withoutEffect.push('schemas')
    }
    if (flows !== undefined) {
      if (!Array.isArray(flows)) this.#fail('flows', 'must be an array', flows)
      else if (!isDefaultFlows(flows)) {
        const rule = 'must be empty or [{"id":"default","active":true}]: this version runs no flows'
        this.#fail('flows', rule, flows)
      } else this.#withoutEffect.push('flows')
    }
    if (this.#text(fields, 'defaultUser') !== undefined) this.#withoutEffect.push('defaultUser')
  }

  #object(key: string, value: unknown): Fields {
    if (isObject(value)) return value
    this.#fail(key, 'must be an object', value)
    return {}
  }

  #checkKeys(prefix: string, fields: Fields, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (known.includes(key)) continue
      const message = `unknown key ${prefix}${key}; known are ${known.join(', ')}`
      this.errors.push({ key: `${prefix}${key}`, message })
    }
  }

  #fail(key: string, rule: string, found: unknown): void {
    this.errors.push({ key, message: `${key} ${rule}, not ${show(found)}` })
  }
}

/** What fits behind `Bearer` in a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

export const tokenRule = 'one or more printable ASCII characters without spaces'

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isDefaultFlows(flows: readonly unknown[]): boolean {
  return flows.length === 0 || JSON.stringify(flows) === '[{"id":"default","active":true}]'
}

function show(value: unknown): string {
  if (value === undefined) return 'left out'
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`
}
