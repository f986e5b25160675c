// JSON.parse, where it can be trusted. From V8 13.6 on (Node 24 and 26; https://github.com/nodejs/node/issues/63785)
// a key that is written with an escape may come out as another key: after a text with the key `\\`
// was parsed, `{"h":1,"\n":2}` has the keys `h` and `\`, without an error, and two keys may become
// one. So there keys with escapes, which are rare, do not reach JSON.parse.

const isTrusted = keepsEscapedKeys()

const quote = 0x22
const backslash = 0x5c

/** @throws SyntaxError as JSON.parse does */
export function parseJson(text: string): unknown {
  return isTrusted || !text.includes('\\') ? JSON.parse(text) : parseEscapedKeys(text)
}

/** As JSON.parse should: it gets names without escapes for such keys, which are put back afterwards. */
export function parseEscapedKeys(text: string): unknown {
  let mark = '\ue000'
  while (text.includes(mark)) mark += '\ue000'
  const names: string[] = []
  let marked = ''
  let copied = 0
  for (let at = text.indexOf('"'); at >= 0;) {
    const end = endOfQuoted(text, at)
    const key = text.slice(at, end)
    if (key.includes('\\') && isBeforeColon(text, end)) {
      try {
        names.push(JSON.parse(key) as string)
      } catch {
        // JSON.parse says what is wrong with it, and where.
        return JSON.parse(text)
      }
      marked += `${text.slice(copied, at)}"${mark}${names.length - 1}"`
      copied = end
    }
    at = text.indexOf('"', end)
  }
  if (names.length === 0) return JSON.parse(text)
  let value: unknown
  try {
    value = JSON.parse(marked + text.slice(copied))
  } catch {
    // Its places are those of `marked`.
    return JSON.parse(text)
  }
  return restored(value, (key) =>
    key.startsWith(mark) ? names[Number(key.slice(mark.length))] : key,
  )
}

/**
 * Behind the quote that ends a text in quotes, as JSON and N-Triples have them, in UTF-16 code units; farther than the
 * end where none does. No expression: one for strings runs out of stack where they are long.
 *
 * @param start of the quote that begins it
 */
export function endOfQuoted(text: string, start: number): number {
  let end = start + 1
  for (; end < text.length && text.charCodeAt(end) !== quote; end++) {
    if (text.charCodeAt(end) === backslash) end++
  }
  return end + 1
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (/[ \t\n\r]/.test(text.charAt(at))) at++
  return text.charAt(at) === ':'
}

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
