// Where in a text of JSON the value of a path stands, written as the server writes paths: `tags[2]`, `["odd key"].x`.

import { endOfQuoted, parseJson } from '../../json-text.js'

export interface TextPlace {
  /** In UTF-16 code units. */
  readonly start: number
  readonly end: number
}

/** Of every value, `''` is the whole. @param text valid JSON */
export function placesIn(text: string): ReadonlyMap<string, TextPlace> {
  const places = new Map<string, TextPlace>()
  const token = /"|[{}[\],:]|[^\s{}[\],:"]+/gy
  let next = read()

  function read(): TextPlace | undefined {
    while (/\s/.test(text[token.lastIndex] ?? '')) token.lastIndex++
    const start = token.lastIndex
    if (!token.test(text)) return undefined
    if (text[start] === '"') token.lastIndex = endOfQuoted(text, start)
    return { start, end: token.lastIndex }
  }

  function take(): TextPlace {
    const taken = next
    if (taken === undefined) throw new SyntaxError('the text is no JSON')
    next = read()
    return taken
  }

  function value(path: string): void {
    const first = take()
    let { end } = first
    const letter = text[first.start]
    if (letter === '{' || letter === '[') {
      for (let at = 0; next !== undefined && !/[}\]]/.test(text[next.start] ?? ''); at++) {
        if (text[next.start] === ',') take()
        if (letter === '[') value(`${path}[${at}]`)
        else {
          const key = take()
          const name = parseJson(text.slice(key.start, key.end)) as string
          take()
          value(
            isName.test(name) ? `${path}${path && '.'}${name}` : `${path}[${JSON.stringify(name)}]`,
          )
        }
      }
      end = take().end
    }
    places.set(path, { start: first.start, end })
  }

  value('')
  return places
}

const isName = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u
