// What `--data` names: a data directory, or a database.

import { resolve } from 'node:path'

export function isDatabase(data: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(data)
}

/** The place of a relative directory is where `from` is; a database is where it says. */
export function resolvePlace(from: string, data: string): string {
  return isDatabase(data) ? data : resolve(from, data)
}

/** As it may be shown: without a password. */
export function shownPlace(data: string): string {
  if (!isDatabase(data)) return data
  return (
    data
      // A name may have an @, and so may a password: the last one ends it.
      .replace(/^([a-z]+:\/\/[^:/?#]*):[^/?#]*@/, '$1:…@')
      .replace(/([?&]password=)[^&]*/, '$1…')
  )
}

/** The URL without its parameter `schema`, which no server knows. */
export function databaseUrl(data: string): { readonly url: string; readonly schema?: string } {
  const at = data.indexOf('?')
  if (at < 0) return { url: data }
  const parameters = data.slice(at + 1).split('&')
  const [schema] = parameters.filter((parameter) => parameter.startsWith('schema='))
  if (schema === undefined) return { url: data }
  const rest = parameters.filter((parameter) => parameter !== schema).join('&')
  const url = data.slice(0, at) + (rest === '' ? '' : `?${rest}`)
  return { url, schema: decodeURIComponent(schema.slice('schema='.length)) }
}
