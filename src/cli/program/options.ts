// Options that several commands have, and one parser per kind of value.

import { InvalidArgumentError, Option } from 'commander'
import { aLanguageRange } from '../../terms.js'
import type { Command } from 'commander'
import { referenceUser } from '../../defaults.js'
import { parseJson } from '../../json-text.js'
import { aTime } from '../../time-range.js'
import { isServerUrl } from '../../openai/server.js'
import type { SortDirection } from '../../objects/types.js'
import type { JsonObject } from '../../types.js'
import { ownUser } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { UsageError } from '../output/failure.js'
import { variable } from '../config/environment.js'
import { isToken, tokenRule } from '../config/token.js'
import { isRecord } from '../../door/wording.js'

export const defaultData = './lorekeep-data'

/** Where to work: in a directory, or behind a server. */
export function addAccess(command: Command): Command {
  return command
    .option(
      '--data <dir>',
      `the data directory (default: ${defaultData}; also: LOREKEEP_DATA)`,
      parseText,
    )
    .addOption(
      new Option('--url <url>', 'a running server, instead of a directory (also: LOREKEEP_URL)')
        .argParser(parseUrl)
        .conflicts('data'),
    )
    .option('--token <token>', 'the token for the server (also: LOREKEEP_TOKEN)', parseToken)
}

interface AccessFlags extends Partial<AccessOptions> {
  readonly config?: string
}

/**
 * All options of a command, its parents' too, and what the environment says where they do not. Not by
 * commander's env(): a variable that is empty, or of no use to this run, is none of its business.
 * @throws UsageError
 */
function accessOptions<O extends AccessOptions>(command: Command): O {
  const options = command.optsWithGlobals<O & AccessFlags>()
  const { data = variable('LOREKEEP_DATA') ?? defaultData } = options
  const url = options.url ?? (options.data === undefined ? urlVariable(options) : undefined)
  if (url === undefined) {
    if (options.token === undefined) return { ...options, data }
    throw new UsageError('--token is for a server: --url is missing')
  }
  const { token = variable('LOREKEEP_TOKEN') } = options
  if (token === undefined) return { ...options, data, url }
  if (isToken(token)) return { ...options, data, url, token }
  throw new UsageError(`LOREKEEP_TOKEN holds no token; a token is ${tokenRule}`)
}

function urlVariable({ config }: AccessFlags): URL | undefined {
  const text = variable('LOREKEEP_URL')
  if (text === undefined) return undefined
  if (config !== undefined) {
    throw new UsageError('--config is for a data directory, and LOREKEEP_URL is set: add --data')
  }
  try {
    return parseUrl(text)
  } catch (error) {
    throw new UsageError(`LOREKEEP_URL is no server's address. ${(error as Error).message}`)
  }
}

/** As accessOptions(), of a command that is about somebody's things: whoever is not named is found out. */
async function ownedOptions<O extends OwnedOptions>(command: Command): Promise<O> {
  const options = accessOptions<O>(command)
  return { ...options, user: options.user ?? (await ownUser(options)) }
}

interface OwnedOptions extends AccessOptions {
  readonly user: string
}

/** What a command does: `work` is given its arguments in their order, and then its options. */
type Load<A extends unknown[], O> = () => Promise<(...given: [...A, options: O]) => Promise<void>>
type Action = (...given: unknown[]) => Promise<void>

/** `load` imports it when the command runs. */
export function accessAction<A extends unknown[], O extends AccessOptions>(
  load: Load<A, O>,
): Action {
  return actionOf(load, accessOptions<O>)
}

/** Of a command that is about somebody's things. */
export function ownedAction<A extends unknown[], O extends OwnedOptions>(load: Load<A, O>): Action {
  return actionOf(load, ownedOptions<O>)
}

function actionOf<A extends unknown[], O>(
  load: Load<A, O>,
  optionsOf: (command: Command) => O | Promise<O>,
): Action {
  return async (...given) => {
    // Behind the arguments commander gives the command's own options, without its parents', and the command.
    const command = given.at(-1) as Command
    const work = await load()
    await work(...(given.slice(0, -2) as A), await optionsOf(command))
  }
}

/** Left out, it is the token's own user; in a directory that of whoever names none. */
export function userOption(what: string): Option {
  const description = `${what} (default: the token's; in a directory ${referenceUser}; also: LOREKEEP_USER)`
  return new Option('--user <user>', description).argParser(parseText)
}

/** Of a directory: a server has its own. `what` is what the command goes by. */
export function configOption(what: string): Option {
  return new Option('--config <file>', `a config file of 'serve', for the ${what} in it`)
    .argParser(parseText)
    .conflicts('url')
}

export function parseText(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.')
  return text
}

/** Of an option that may be given again. */
export function parseTexts(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, parseText(text)]
}

/** Several of them, as parseTexts(). */
export function parseLanguages(text: string, previous: readonly string[] = []): readonly string[] {
  if (aLanguageRange.holds(text)) return [...previous, text]
  throw new InvalidArgumentError("It is a language such as en or de-AT, or '*' for any.")
}

export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('A port is a number from 0 to 65535.')
}

export function parseSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text) * 1000
  throw new InvalidArgumentError('It is a number of seconds, such as 10 or 0.5.')
}

/** A time to filter by. */
export function parseTime(value: string): string {
  if (aTime.holds(value)) return value
  throw new InvalidArgumentError(`It must be ${aTime.expected}.`)
}

export const jobStates = ['queued', 'active', 'delayed', 'done', 'dead']

export function parseStates(value: string): string[] {
  const states = value.split(',')
  if (states.every((state) => jobStates.includes(state))) return states
  throw new InvalidArgumentError(`It must be some of ${jobStates.join(', ')}, with commas between.`)
}

export function parseCount(text: string): number {
  if (/^[1-9]\d*$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It is a positive integer.')
}

function parseToken(text: string): string {
  if (isToken(text)) return text
  throw new InvalidArgumentError(`A token is ${tokenRule}.`)
}

/** The last `=` divides: tokens in base64 end in some of their own. */
export function parseTokenOfUser(
  text: string,
  previous: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, string> {
  const at = text.lastIndexOf('=')
  const [token, user] = [text.slice(0, at), text.slice(at + 1)]
  if (at > 0 && isToken(token) && user !== '') return new Map([...previous, [token, user]])
  throw new InvalidArgumentError(`It is TOKEN=USER, and a token is ${tokenRule}.`)
}

function parseUrl(text: string): URL {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) {
    const url = new URL(text)
    if (url.search === '' && url.hash === '' && url.username === '') return url
  }
  throw new InvalidArgumentError('It is like http://127.0.0.1:8088.')
}

/** Of an OpenAI-compatible server. */
export function parseModelUrl(text: string): string {
  if (isServerUrl(text)) return text
  throw new InvalidArgumentError('It is like http://localhost:11434/v1.')
}

export function example(line: string): string {
  return `\nExample:\n  $ ${line}`
}

export function parseIndex(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It is 0 or a positive integer.')
}

/** Of a subgraph; a server takes no more, either. */
export function parseDepth(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text)
  throw new InvalidArgumentError('It is a number from 0 to 100.')
}

export function parsePairs(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 10_000) return Number(text)
  throw new InvalidArgumentError('It is a number from 0 to 10000.')
}

export function parseShare(text: string): number {
  if (/^(?:0|1|0?\.\d{1,15})$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a number from 0 to 1.')
}

export function parseJsonObject(text: string): JsonObject {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${(error as Error).message}.`)
  }
  if (isRecord(value)) return value as JsonObject
  throw new InvalidArgumentError('It is a JSON object.')
}

/** `price:desc,name` */
export function parseSort(text: string): Readonly<Record<string, SortDirection>> {
  const keys = text.split(',').map((key) => {
    // The last colon divides: one in a name needs the direction behind it.
    const [, field, direction = 'asc'] = /^(.+?)(?::([^:]*))?$/.exec(key) ?? []
    const isDirection = direction === 'asc' || direction === 'desc'
    if (field !== undefined && isDirection) return [field, direction as SortDirection] as const
    throw new InvalidArgumentError('It is like price:desc,name; a direction is asc or desc.')
  })
  return Object.fromEntries(keys)
}

/** `.txt,.md`, with or without the dots. */
export function parseExtensions(text: string): readonly string[] {
  const extensions = text
    .split(',')
    .map((part) => `.${part.trim().replace(/^\./, '').toLowerCase()}`)
  if (extensions.every((extension) => /^\.[^./\\]+$/.test(extension))) return extensions
  throw new InvalidArgumentError('It is like .txt,.md.')
}

export function parseFields(text: string): readonly string[] {
  const fields = text.split(',')
  if (!fields.includes('')) return fields
  throw new InvalidArgumentError('It is like name,price.')
}
