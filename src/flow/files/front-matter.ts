// What front matter says of a title: the one value of it that is used, read as YAML 1.2 reads a scalar. White
// space in a title is one space, so how YAML folds lines makes no difference but where a line break is escaped.

/** Of a value as it stands, over all its lines: escapes are six times as long as what they stand for. */
const maxLength = 8192
/** As of headings. */
const maxTitleLength = 1000
const key = /^(?:title|"title"|'title')[ \t]*:(?=[ \t]|$)/
const property = /^(?:!(?:<[^<>\s]*>|[^\s,[\]{}]*)|&[^\s,[\]{}]+)(?:[ \t]+|$)/
/** What begins no plain scalar; `-`, `?` and `:` do in front of a character. */
const indicator = /^(?:[-?:](?:[ \t]|$)|[,[\]{}#&*!|>'"%@`])/

/** The first title that the lines between the marks say; undefined where each is null, empty or no scalar. */
export function titleOfFrontMatter(lines: readonly string[]): string | undefined {
  for (let at = 0; at < lines.length; at++) {
    const first = lines[at] as string
    if (!key.test(first)) continue
    const more = linesBelow(lines, at)
    if (more === undefined) continue
    const said = scalarIn(first.replace(key, '').trim(), more)
    const title = said?.replace(/\s+/gu, ' ').trim() ?? ''
    if (title !== '' && title.length <= maxTitleLength) return title.toWellFormed()
  }
  return undefined
}

/** Down to the next key, which is not indented. Undefined where they are too long together with the key's own. */
function linesBelow(lines: readonly string[], at: number): string[] | undefined {
  const below: string[] = []
  let { length } = lines[at] as string
  if (length > maxLength) return undefined
  for (let n = at + 1; n < lines.length; n++) {
    const line = lines[n] as string
    if (/^[^ \t]/.test(line)) break
    length += line.length + 1
    if (length > maxLength) return undefined
    below.push(line)
  }
  return below
}

/** `from` says what is known of a value that stands in lines below its key. */
function scalarIn(
  line: string,
  more: readonly string[],
  from?: { readonly isTagged: boolean },
): string | undefined {
  let isTagged = from?.isTagged ?? false
  let value = line
  // A tag and an anchor.
  for (let count = 0; count < 2; count++) {
    const [found] = property.exec(value) ?? []
    if (found === undefined) break
    isTagged ||= found.startsWith('!')
    value = value.slice(found.length)
  }
  if (value === '' || value.startsWith('#')) {
    const next = more.findIndex((text) => text.trim() !== '' && !text.trim().startsWith('#'))
    if (next < 0) return undefined
    return scalarIn((more[next] as string).trim(), more.slice(next + 1), { isTagged })
  }
  if (/^[|>]/.test(value)) return blockScalar(value, more)
  if (/^["']/.test(value)) return quoted([value, ...more].join('\n'))
  // Below its key, what has a colon is a mapping.
  const isMapping = from !== undefined && /:(?:[ \t]|$)/.test(withoutComment(value))
  return isMapping ? undefined : plain([value, ...more], isTagged)
}

/** `Title: subtitle` is no YAML, and often meant: it is taken as it stands. */
function plain(lines: readonly string[], isTagged: boolean): string | undefined {
  const texts: string[] = []
  for (const line of lines) {
    const text = line.trim()
    const said = withoutComment(text)
    texts.push(said)
    if (said !== text) break
  }
  const value = texts.join(' ').trim()
  if (indicator.test(value)) return undefined
  return !isTagged && /^(?:~|null|Null|NULL)$/.test(value) ? undefined : value
}

function withoutComment(text: string): string {
  const at = text.search(/(?:^|[ \t])#/)
  return at < 0 ? text : text.slice(0, at)
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
}
const isHex: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** Behind the mark that closes it there may be a comment, and nothing else. */
function quoted(text: string): string | undefined {
  const mark = text[0]
  let value = ''
  for (let at = 1; at < text.length; at++) {
    const character = text[at] as string
    if (character === mark) {
      if (mark === "'" && text[at + 1] === "'") {
        value += "'"
        at++
        continue
      }
      return /^[ \t\n]*(?:$|[ \t\n]#)/.test(text.slice(at + 1)) ? value : undefined
    }
    if (mark === "'" || character !== '\\') {
      value += character
      continue
    }
    const name = text[++at] ?? ''
    if (name === '\n') {
      while (/[ \t]/.test(text[at + 1] ?? '')) at++
      continue
    }
    const digits = isHex[name]
    const meant = digits === undefined ? escapes[name] : ofCode(text.slice(at + 1, at + 1 + digits))
    if (meant === undefined) return undefined
    value += meant
    at += digits ?? 0
  }
  return undefined
}

function ofCode(digits: string): string | undefined {
  const code = /^[\da-f]+$/i.test(digits) ? Number.parseInt(digits, 16) : Infinity
  return code > 0x10ffff ? undefined : String.fromCodePoint(code)
}

/** It ends with what is indented less than its first line is: comments. */
function blockScalar(header: string, lines: readonly string[]): string | undefined {
  if (!/^[|>](?:[1-9][-+]?|[-+][1-9]?)?[ \t]*(?:$|[ \t]#)/.test(header)) return undefined
  const said = /\d/.exec(withoutComment(header))?.[0]
  const least =
    said === undefined ? indentOf(lines.find((line) => line.trim() !== '')) : Number(said)
  const end = lines.findIndex((line) => line.trim() !== '' && indentOf(line) < least)
  return (end < 0 ? lines : lines.slice(0, end)).join('\n')
}

function indentOf(line = ''): number {
  return line.length - line.replace(/^ +/, '').length
}
