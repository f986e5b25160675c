import { parseJson } from '../../../json-text.js'
import { isRecord } from '../../../door/wording.js'
// What a model was asked for, and whether that is what it gave. Its words are data like any other.

export interface Findings {
  readonly definitions: readonly { readonly entity: string; readonly definition: string }[]
  readonly relationships: readonly {
    readonly subject: string
    readonly predicate: string
    readonly object: string
    readonly objectEntity: boolean
  }[]
}

/** What is wrong with an answer, in words for the model and for people. */
export class Flaw extends Error {
  /** The answer, as far as it came. */
  readonly content: string

  constructor(message: string, content = '') {
    super(message)
    this.content = content
  }
}

const maxFindings = 200
const maxNameLength = 200
const maxTextLength = 2000

export const cutOff = 'was cut off at the limit of tokens: give fewer definitions and relationships'

/** Of an answer of chat/completions. */
export function contentOf(answer: unknown): string {
  const { choices } = record(answer, 'is not a completion')
  const choice = record(Array.isArray(choices) ? choices[0] : undefined, 'has no choices')
  const { content } = record(choice['message'], 'has no message')
  if (choice['finish_reason'] === 'length') {
    const came = typeof content === 'string' ? content : ''
    throw new Flaw(cutOff, came)
  }
  if (typeof content !== 'string') throw new Flaw('has no content')
  return content
}

export function findingsOf(content: string): Findings {
  const { definitions, relationships } = record(parsed(content), 'is not a JSON object')
  return {
    definitions: list(definitions, 'definitions', (member) => ({
      entity: member.text('entity', maxNameLength),
      definition: member.text('definition', maxTextLength),
    })),
    relationships: list(relationships, 'relationships', (member) => {
      const objectEntity = member.flag('object-entity')
      return {
        subject: member.text('subject', maxNameLength),
        predicate: member.text('predicate', maxNameLength),
        object: member.text('object', objectEntity ? maxNameLength : maxTextLength),
        objectEntity,
      }
    }),
  }
}

/** What some servers leave before the answer. */
const thoughts = /^\s*<think>.*?<\/think>/s

/** From the first brace to the last: models like to put fences and greetings around. */
function parsed(content: string): unknown {
  const answer = content.replace(thoughts, '')
  const json = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)
  try {
    return parseJson(json)
  } catch (error) {
    throw new Flaw(`is not JSON (${(error as SyntaxError).message.slice(0, 100)})`)
  }
}

function list<Finding>(value: unknown, name: string, read: (member: Member) => Finding): Finding[] {
  if (!Array.isArray(value)) throw new Flaw(`has no list \`${name}\``)
  if (value.length > maxFindings) {
    throw new Flaw(`has ${value.length} ${name}, at most ${maxFindings} are wanted`)
  }
  return value.map((item, index) => read(new Member(item, `${name}[${index}]`)))
}

class Member {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #path: string

  constructor(item: unknown, path: string) {
    this.#fields = record(item, `is wrong: ${path} is not an object`)
    this.#path = path
  }

  text(name: string, maxLength: number): string {
    const value = this.#fields[name]
    const text = typeof value === 'string' ? value.trim().replace(/\s+/g, ' ') : ''
    if (text !== '' && text.length <= maxLength && text.isWellFormed()) return text
    const rule = `must be a string of 1 to ${maxLength} characters`
    throw new Flaw(`is wrong: ${this.#path}.${name} ${rule}`)
  }

  flag(name: string): boolean {
    const value = this.#fields[name]
    if (typeof value === 'boolean') return value
    throw new Flaw(`is wrong: ${this.#path}.${name} must be true or false`)
  }
}

function record(value: unknown, flaw: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value
  throw new Flaw(flaw)
}
