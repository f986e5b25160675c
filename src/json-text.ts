// JSON.parse, where it can be trusted. From V8 13.6 on (Node 24 and 26; https://github.com/nodejs/node/issues/63785)
// a key that is written with an escape may come out as another key: after a text with the key `\\`
// was parsed, `{"h":1,"\n":2}` has the keys `h` and `\`, without an error, and two keys may become
// one. So there keys with escapes, which are rare, do not reach JSON.parse.

const isTrusted = keepsEscapedKeys()

/** @throws SyntaxError as JSON.parse does */
export function parseJson(text: string): unknown {
  return isTrusted || !text.includes('\\') ? JSON.parse(text) : parseEscapedKeys(text)
}

/** As JSON.parse should: it gets names without escapes for such keys, which are put back afterwards. */
export function parseEscapedKeys(text: string): unknown {
  let mark = '\ue000'
  while (text.includes(mark)) mark += '\ue000'
  const names: string[] = []
  const marked = text.replace(stringOrKey, (found, key: string | undefined) => {
    if (key === undefined || !key.includes('\\')) return found
    try {
      names.push(JSON.parse(key) as string)
    } catch {
      // JSON.parse says below what is wrong with it.
      return found
    }
    return `"${mark}${names.length - 1}"${found.slice(key.length)}`
  })
  if (names.length === 0) return JSON.parse(text)
  let value: unknown
  try {
    value = JSON.parse(marked)
  } catch {
    // Its places are those of `marked`.
    return JSON.parse(text)
  }
  return restored(value, (key) =>
    key.startsWith(mark) ? names[Number(key.slice(mark.length))] : key,
  )
}

/** A key, up to its colon and captured, or any other string. */
const stringOrKey = /("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"/gs

function restored(value: unknown, nameOf: (key: string) => string | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => restored(item, nameOf))
  const result = {}
  for (const [key, member] of Object.entries(value)) {
    // Not an assignment: `__proto__` is a key like any other.
    Object.defineProperty(result, nameOf(key) ?? key, {
      value: restored(member, nameOf),
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return result
}

function keepsEscapedKeys(): boolean {
  JSON.parse('{"h":[],"\\\\":0}')
  return '\n' in (JSON.parse('{"h":1,"\\n":2}') as object)
}
