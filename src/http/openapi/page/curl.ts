// The example of an operation as a line for a shell.

import type { JsonValue } from '../../../types.js'
import type { Operation } from './told.js'

export function curlOf(path: string, method: string, operation: Operation): string {
  const { parameters = [], requestBody, responses, security } = operation
  const shown = parameters.filter(({ example }) => example !== undefined)
  const valueOf = (value: JsonValue | undefined) => encodeURIComponent(String(value))
  const place = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    valueOf(shown.find((parameter) => parameter.name === name)?.example ?? name.toUpperCase()),
  )
  const query = shown
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example }) => `${name}=${valueOf(example)}`)
  const parts = [`curl "$HOST"${quoted(place + (query.length > 0 ? `?${query.join('&')}` : ''))}`]
  if (method !== 'get' && !(method === 'post' && requestBody))
    parts[0] += ` -X ${method.toUpperCase()}`
  if (security?.length !== 0) parts.push('-H "Authorization: Bearer $TOKEN"')
  const accepted = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.keys(content))[0]
  if (accepted !== undefined && accepted !== 'application/json')
    parts.push(`-H 'Accept: ${accepted}'`)
  const bodies = Object.entries(requestBody?.content ?? {})
  const [type, media] = bodies.find(([, { example }]) => example !== undefined) ?? bodies[0] ?? []
  if (type !== undefined) {
    parts.push(`-H ${quoted(`Content-Type: ${type}`)}`)
    const { example } = media ?? {}
    if (example === undefined) parts.push('--data-binary @FILE')
    else
      parts.push(
        `--data-binary ${quoted(typeof example === 'string' ? example : JSON.stringify(example))}`,
      )
  }
  return parts.join(' \\\n  ')
}

/** For a shell: nothing in it means anything. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
