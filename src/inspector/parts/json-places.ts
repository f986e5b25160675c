// Where in a text of JSON the value of a path stands, written as the server writes paths: `tags[2]`, `["odd key"].x`.

import { parseJson } from '../../json-text.js'

export interface TextPlace {
  /** In UTF-16 code units. */
  readonly start: number
  readonly end: number
}

/** Of every value, `''` is the whole. @param text valid JSON */
export function placesIn(text: string): ReadonlyMap<string, TextPlace> {
  const places = new Map<string, TextPlace>()
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gy
  let next = read()

  function read(): RegExpExecArray | undefined {
    while (/\s/.test(text[token.lastIndex] ?? '')) token.lastIndex++
    return token.exec(text) ?? undefined
  }

  function take(): RegExpExecArray {
    const taken = next
    if (taken === undefined) throw new SyntaxError('the text is no JSON')
    next = read()
    return taken
  }

  function value(path: string): void {
    const first = take()
    let end = first.index + first[0].length
    if (first[0] === '{' || first[0] === '[') {
      const isList = first[0] === '['
      for (let at = 0; next !== undefined && !/^[}\]]$/.test(next[0]); at++) {
        if (next[0] === ',') take()
        if (isList) value(`${path}[${at}]`)
        else {
          const key = parseJson(take()[0]) as string
          take()
          value(
            isName.test(key) ? `${path}${path && '.'}${key}` : `${path}[${JSON.stringify(key)}]`,
          )
        }
      }
      const last = take()
      end = last.index + last[0].length
    }
    places.set(path, { start: first.index, end })
  }

  value('')
  return places
}

const isName = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u
