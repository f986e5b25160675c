// The arguments of tools: each is declared once, as the JSON Schema that assistants read and the rule that is held
// to. What is wrong is told in one sentence: where, what was found, and what it has to be.

import { Members } from '../door/members.js'
import { Problems } from '../door/problems.js'
import { aCount, anObject, aRule, oneOf, type Rule } from '../door/rules.js'
import type { JsonObject, JsonValue } from '../types.js'

export interface Field<T> {
  readonly schema: JsonObject
  readonly rule: Rule<T>
  /** It may not be left out. */
  readonly isNeeded?: true
}

export type Fields = Readonly<Record<string, Field<unknown>>>

/** What is given, by the names of fields. */
export type Arguments<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T>
    ? F[Name] extends { readonly isNeeded: true }
      ? T
      : T | undefined
    : never
}

/** @throws LorekeepError `LK_TOOL_ARGUMENTS` with all that is wrong */
export function readArguments<F extends Fields>(given: unknown, fields: F): Arguments<F> {
  const problems = new Problems()
  const members = new Members(given ?? {}, '', problems, 'an object of arguments')
  const read = Object.entries(fields).map(([name, { rule, isNeeded }]) => [
    name,
    isNeeded === true ? members.need(name, rule) : members.take(name, rule),
  ])
  members.end()
  problems.throwIfAny('LK_TOOL_ARGUMENTS')
  return Object.fromEntries(read) as Arguments<F>
}

export function schemaOf(fields: Fields): JsonObject & { readonly type: 'object' } {
  const entries = Object.entries(fields)
  const required = entries.filter(([, { isNeeded }]) => isNeeded === true).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

export function needed<T>(field: Field<T>): Field<T> & { readonly isNeeded: true } {
  return { ...field, isNeeded: true }
}

/** `most` is in UTF-16 code units; JSON Schema counts characters, of which there are never more. */
export function text(most: number, description?: string): Field<string> {
  return {
    schema: { type: 'string', maxLength: most, ...described(description) },
    rule: aRule(`a string of 1 to ${most} characters`, (value) => isText(value, most)),
  }
}

export function texts(most: number, mostEach: number, description?: string): Field<string[]> {
  const items = { type: 'string', maxLength: mostEach }
  return {
    schema: { type: 'array', items, maxItems: most, ...described(description) },
    rule: aRule(
      `an array of 1 to ${most} strings of 1 to ${mostEach} characters`,
      (value) =>
        Array.isArray(value) &&
        value.length > 0 &&
        value.length <= most &&
        value.every((item) => isText(item, mostEach)),
    ),
  }
}

export function count(
  least: number,
  most: number,
  otherwise?: number,
  description?: string,
): Field<number> {
  const range = { minimum: least, maximum: most }
  const usual = otherwise === undefined ? {} : { default: otherwise }
  return {
    schema: { type: 'integer', ...range, ...usual, ...described(description) },
    rule: aCount(least, most),
  }
}

export function number(description?: string): Field<number> {
  return {
    schema: { type: 'number', ...described(description) },
    rule: aRule('a finite number', (value) => Number.isFinite(value)),
  }
}

export function choice<Choice extends string>(
  choices: readonly Choice[],
  description?: string,
): Field<Choice> {
  return {
    schema: { enum: choices as readonly JsonValue[], ...described(description) },
    rule: oneOf(...choices),
  }
}

/** Any members: whoever gets it checks them. */
export function object(description?: string): Field<JsonObject> {
  return {
    schema: { type: 'object', ...described(description) },
    rule: anObject as unknown as Rule<JsonObject>,
  }
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= most
}

function described(description: string | undefined): JsonObject {
  return description === undefined ? {} : { description }
}
