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
  const mark = unusedMark(text)
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

/** Short, and found in one pass, whatever the text is made of. */
function unusedMark(text: string): string {
  const used = new Set([...text.matchAll(/\ue000(\d+)(?=\ue000)/g)].map(([, number]) => number))
  let number = 0
  while (used.has(String(number))) number++
  return `\ue000${number}\ue000`
}

/** Not by recursion: JSON.parse reads what is nested deeper than any stack. */
function restored(value: unknown, nameOf: (key: string) => string | undefined): unknown {
  const open: (readonly [from: object, to: object])[] = []
  const begun = (from: unknown): unknown => {
    if (typeof from !== 'object' || from === null) return from
    const to = Array.isArray(from) ? [] : {}
    open.push([from, to])
    return to
  }
  const result = begun(value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, to] = next
    if (Array.isArray(from) && Array.isArray(to)) {
      for (const item of from) to.push(begun(item))
      continue
    }
    for (const [key, member] of Object.entries(from)) {
      // Not an assignment: `__proto__` is a key like any other.
      Object.defineProperty(to, nameOf(key) ?? key, {
        value: begun(member),
        configurable: true,
        enumerable: true,
        writable: true,
      })
    }
  }
  return result
}

function keepsEscapedKeys(): boolean {
  JSON.parse('{"h":[],"\\\\":0}')
  return '\n' in (JSON.parse('{"h":1,"\\n":2}') as object)
}
