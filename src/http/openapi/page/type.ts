// What a parameter may be, in words.

import type { JsonObject, JsonValue } from '../../../types.js'
import { markup, type Html } from './html.js'

/** Nothing of any text; as JSON where there are no words for it. */
export function typeOf(schema: JsonObject): Html {
  const { type, enum: choices, default: otherwise, items, format, pattern, ...bounds } = schema
  const { minLength, minimum, maximum, ...more } = bounds
  if (typeof type !== 'string' || Object.keys(more).length > 0) {
    return markup`<code>${JSON.stringify(schema)}</code>`
  }
  const parts: Html[] = []
  if (Array.isArray(choices)) parts.push(either(choices))
  else if (type === 'array') parts.push(markup`May be there several times`)
  else if (type !== 'string') parts.push(markup`${capital(type)}`)
  else if (typeof format === 'string') parts.push(markup`<code>${format}</code>`)
  if (type === 'array') parts.push(typeOf(items as JsonObject))
  if (minLength === 1) parts.push(markup`${parts.length === 0 ? 'Not' : 'not'} empty`)
  if (minimum !== undefined) parts.push(markup`from ${String(minimum)} to ${String(maximum)}`)
  if (typeof pattern === 'string') {
    parts.push(markup`${parts.length === 0 ? 'As' : 'as'} <code>${pattern}</code>`)
  }
  if (otherwise !== undefined) parts.push(markup`<code>${shown(otherwise)}</code> by default`)
  const said = parts.filter(({ text }) => text !== '')
  if (said.length === 0) return markup``
  return markup`<span class="quiet">${said.map((part, n) => markup`${n === 0 ? '' : ', '}${part}`)}.</span>`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function either(choices: readonly JsonValue[]): Html {
  const last = choices.length - 1
  const between = (n: number) => (n === 0 ? '' : n === last ? ' or ' : ', ')
  return markup`${choices.map((choice, n) => markup`${between(n)}<code>${shown(choice)}</code>`)}`
}

function shown(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
