// Where an OpenAI-compatible server is, and the key for it. Both may come from the environment,
// which is read when a request is made: a flow is stored without them.

import { aText, secret } from '../door/rules.js'
import { LorekeepError } from '../errors.js'

const publicUrl = 'https://api.openai.com/v1'
const urlVariable = 'OPENAI_BASE_URL'
const defaultKeyVariable = 'OPENAI_API_KEY'

export interface ServerOptions {
  /** By default what OPENAI_BASE_URL says, else OpenAI's own. */
  readonly url?: string
  /** By default what the environment variable `keyVariable` says; without either, no key is sent. */
  readonly key?: string
  /** OPENAI_API_KEY by default. */
  readonly keyVariable?: string
}

export class ModelServer {
  readonly #url: string | undefined
  readonly #key: string | undefined
  readonly #keyVariable: string

  constructor(options: ServerOptions) {
    const { url, key, keyVariable = defaultKeyVariable } = options
    this.#url = url
    this.#key = key
    this.#keyVariable = keyVariable
  }

  /** @throws LorekeepError `LK_CONFIG` if the environment names no server, as key() for its key */
  url(path: string): string {
    // An empty variable is one that somebody wanted to be rid of.
    const fromEnvironment = process.env[urlVariable] || publicUrl
    if (this.#url === undefined && !isServerUrl(fromEnvironment)) {
      throw new LorekeepError('LK_CONFIG', `the environment variable ${urlVariable} ${urlRule}`)
    }
    return `${(this.#url ?? fromEnvironment).replace(/\/+$/, '')}/${path}`
  }

  key(): string | undefined {
    if (this.#key !== undefined) return this.#key
    const key = process.env[this.#keyVariable]?.trim()
    if (key === undefined || key === '') return undefined
    if (isKey(key)) return key
    // Checked here because fetch would name the header's value in its error.
    const detail = `the environment variable ${this.#keyVariable} holds no key: it has to be visible ASCII`
    throw new LorekeepError('LK_CONFIG', detail)
  }

  /** For whoever has to put a refused key right. */
  keySource(): string {
    if (this.#key !== undefined) return 'the key is that of the option `key`'
    const found = this.key() === undefined ? 'which is not set' : 'which is set'
    return `the key is that of the environment variable ${this.#keyVariable}, ${found}`
  }
}

export const urlRule =
  'must be an http or https URL without credentials, query or fragment, such as http://localhost:11434/v1'

export function isServerUrl(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text) || /[?#\s]/.test(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

function isKey(key: unknown): boolean {
  return typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)
}

// A key, or a URL with a password, is not for messages.
export const serverRules = {
  url: secret<string>(urlRule.replace(/^must be /, ''), isServerUrl),
  key: secret<string>('visible ASCII', isKey),
  keyVariable: aText,
}
