// N-Triples and N-Quads, read without the library that lorekeep reads and writes them with. For valid
// texts: what is none need not be noticed.

import { asSet, type Tuple } from './isomorphism.js'
import { iri, literal } from './terms.js'

const term =
  /[ \t]*(?:<([^>]*)>|(_:[^\s<">]*[^\s<">.])|"((?:[^"\\]|\\.)*)"(?:\^\^<([^>]*)>|@([a-zA-Z0-9-]+))?)/y

/** Quads, each once; '' for the default graph. */
export function readNQuads(text: string): readonly Tuple[] {
  return asSet(text.split(/[\r\n]+/).flatMap((line) => quadIn(line)))
}

function quadIn(line: string): Tuple[] {
  const terms: string[] = []
  term.lastIndex = 0
  for (;;) {
    const at = term.lastIndex
    const found = term.exec(line)
    if (found === null) {
      if (!/^[ \t]*(?:\.[ \t]*)?(?:#|$)/.test(line.slice(at)))
        throw new Error(`no N-Quads: ${line}`)
      break
    }
    terms.push(termOf(found))
  }
  if (terms.length === 0) return []
  return [terms.length === 3 ? [...terms, ''] : terms]
}

function termOf([, name, label, text, datatype, language]: RegExpExecArray): string {
  if (name !== undefined) return iri(unescaped(name))
  if (label !== undefined) return label
  const type = datatype === undefined ? undefined : unescaped(datatype)
  return literal(unescaped(text ?? ''), language, type)
}

const escapes: Readonly<Record<string, string>> = {
  t: '\t',
  b: '\b',
  n: '\n',
  r: '\r',
  f: '\f',
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g,
    (_, short?: string, long?: string, character = '') => {
      const code = short ?? long
      return code === undefined
        ? (escapes[character] ?? character)
        : String.fromCodePoint(parseInt(code, 16))
    },
  )
}
