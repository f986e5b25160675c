// JSON.parse, where it can be trusted. From V8 13.6 on (Node 24 and 26; https://github.com/nodejs/node/issues/63785)
// a key that is written with an escape may come out as another key: after a text with the key `\\`
// was parsed, `{"h":1,"\n":2}` has the keys `h` and `\`, without an error, and two keys may become
// one. So there keys with escapes, which are rare, do not reach JSON.parse.

const isTrusted = keepsEscapedKeys()

const quote = 0x22
const backslash = 0x5c
const colon = /[ \t\n\r]*:/y

/** @throws SyntaxError as JSON.parse does */
export function parseJson(text: string): unknown {
  return isTrusted || !text.includes('\\') ? JSON.parse(text) : parseEscapedKeys(text)
}

/** As JSON.parse should: it gets names without escapes for such keys, which are put back afterwards. */
export function parseEscapedKeys(text: string): unknown {
  // Short, and in no text that somebody makes for it: to try one after the other, 240 kB took 15 s.
  let mark
  do mark = `\ue000${Math.random()}`
  while (text.includes(mark))
  const names = new Map<string, string>()
  let marked = ''
  let copied = 0
  let value: unknown
  try {
    for (let at = text.indexOf('"'); at >= 0;) {
      const end = endOfQuoted(text, at)
      const key = text.slice(at, end)
      colon.lastIndex = end
      if (key.includes('\\') && colon.test(text)) {
        const name = mark + String(names.size)
        names.set(name, JSON.parse(key) as string)
        marked += `${text.slice(copied, at)}"${name}"`
        copied = end
      }
      at = text.indexOf('"', end)
    }
    value = JSON.parse(marked + text.slice(copied))
  } catch {
    // What is wrong, and where, is said of the text itself.
    return JSON.parse(text)
  }
  return names.size > 0 ? restored(value, names) : value
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

/** Not by recursion: JSON.parse reads what is nested deeper than any stack. */
function restored(value: unknown, names: ReadonlyMap<string, string>): unknown {
  const root: Record<string, unknown> = { value }
  const open = [root]
  for (let parent; (parent = open.pop());) {
    for (const [key, member] of Object.entries(parent)) {
      if (typeof member !== 'object' || member === null) continue
      const named = Array.isArray(member)
        ? member
        : Object.fromEntries(Object.entries(member).map(([key, m]) => [names.get(key) ?? key, m]))
      // A key of its own, even `__proto__`.
      parent[key] = named
      open.push(named as Record<string, unknown>)
    }
  }
  return root['value']
}

function keepsEscapedKeys(): boolean {
  JSON.parse('{"h":[],"\\\\":0}')
  return '\n' in (JSON.parse('{"h":1,"\\n":2}') as object)
}
