// The door for documents: endpoint 5's JSON, and what a program passes to load().

import type { Carrier } from './carrier.js'
import { decodeBase64, decodedLength, type Base64Reason } from './base64.js'
import { charsetOf } from './charset.js'
import { own } from '../door/members.js'
import { Problems, type Problem } from '../door/problems.js'
import { isRecord, joined, quoted, shown, type Fields } from '../door/wording.js'
import { LorekeepError } from '../errors.js'
import { binaryFound, fileKind } from './files/file-kind.js'
import { fileTypes, type FileType } from './files/types.js'
import { annotationProblem, graphProblem, termOf } from '../terms.js'
import type { Term, Triple } from '../types.js'

export interface AcceptedDocument {
  readonly id: string
  readonly user: string
  readonly collection: string
  readonly title?: string
  readonly metadata: readonly Triple[]
  /** Of the strings in it, in UTF-16 code units. */
  readonly metadataLength: number
  /** UTF-8; of a file of a type that is no text, its bytes. */
  readonly text: Uint8Array
  /** Of a file that is yet to be read: all but plain texts. */
  readonly type?: FileType
  /** Of the trace that it was loaded in. */
  readonly carrier?: Carrier
}

interface DocumentLimits {
  /** Bytes of the text before decoding from its charset; of `content`, in UTF-8. */
  readonly maxTextBytes: number
  readonly maxMetadataTriples: number
  readonly maxFileBytes: number
}

/** One thing that is wrong with a document. */
interface DocumentProblem extends Problem {
  /**
   * Of a character in a string, in UTF-16 code units; where the charset does not fit, of a byte of
   * the decoded `text`.
   */
  readonly offset?: number
}

/**
 * The document, checked: nothing of it is shared with what was passed but its strings. 3.4 µs for
 * 2 kB of plain text (Node 20, half of it is the memory for the bytes); change with numbers.
 * @throws LorekeepError `LK_DOCUMENT_INVALID` with `details.errors`, a list of DocumentProblems;
 *   `LK_DOCUMENT_TOO_LARGE` or `LK_DOCUMENT_TYPE` where nothing else is wrong
 */
export function acceptDocument(
  document: unknown,
  limits: DocumentLimits,
  defaultUser: string,
  carrier?: Carrier,
): AcceptedDocument {
  const accepted = new DocumentReader(limits).read(document, defaultUser)
  return carrier === undefined ? accepted : { ...accepted, carrier }
}

const members = ['id', 'user', 'collection', 'title', 'metadata', 'charset', 'text', 'content']
const fileMembers = [
  'id',
  'user',
  'collection',
  'title',
  'metadata',
  'charset',
  'bytes',
  'type',
  'name',
]
const tripleMembers = ['s', 'p', 'o', 'g']
const termMembers = ['v', 'e', 'dt', 'ln']

// What a core's name may have, a collection's, and a string in a core stream.
const maxNameBytes = 1024
const maxCollectionBytes = 256
const maxTermBytes = 1024 * 1024
/** In UTF-16 code units. */
const maxTitleLength = 1000
/** They stand in one message of the core, and in one record with those of other documents. */
const maxMetadataLength = 4 * 1024 * 1024

const nothing = new Uint8Array(0)

class DocumentReader {
  readonly #limits: DocumentLimits
  readonly #problems = new Problems<DocumentProblem>()
  #refusal: LorekeepError | undefined
  /** Of all its strings, in UTF-16 code units. */
  #metadataLength = 0

  constructor(limits: DocumentLimits) {
    this.#limits = limits
  }

  read(document: unknown, defaultUser: string): AcceptedDocument {
    const isFile = isRecord(document) && own(document, 'bytes') !== undefined
    const fields = this.#fields(document, 'a document', '', isFile ? fileMembers : members) ?? {}
    const title = this.#title(own(fields, 'title') ?? undefined)
    const id = own(fields, 'id') ?? undefined
    // Written out: two objects that were spread here, and one for each call, were a third of 5 us.
    const accepted: { -readonly [Name in keyof AcceptedDocument]: AcceptedDocument[Name] } = {
      id: this.#name(isFile ? (id ?? own(fields, 'name')) : id, 'id', maxNameBytes),
      user: this.#name(own(fields, 'user') ?? defaultUser, 'user', maxNameBytes),
      collection: this.#name(
        own(fields, 'collection') ?? 'default',
        'collection',
        maxCollectionBytes,
      ),
      metadata: this.#metadata(own(fields, 'metadata') ?? []),
      metadataLength: this.#metadataLength,
      text: nothing,
    }
    if (title !== undefined) accepted.title = title
    if (isFile) Object.assign(accepted, this.#file(fields))
    else accepted.text = this.#text(fields)
    this.#problems.throwIfAny('LK_DOCUMENT_INVALID')
    if (this.#refusal !== undefined) throw this.#refusal
    return accepted
  }

  /** The object itself; undefined where it is none. Its inherited members do not count. */
  #fields(
    value: unknown,
    noun: string,
    path: string,
    known: readonly string[],
  ): Fields | undefined {
    if (!isRecord(value)) {
      this.#fail(path, `must be ${noun}, an object, not ${shown(value)}`)
      return undefined
    }
    this.#problems.unknown(value, known, path)
    return value
  }

  #name(value: unknown, path: string, maxBytes: number): string {
    if (typeof value !== 'string') {
      this.#fail(path, value === undefined ? 'is missing' : `must be a string, not ${shown(value)}`)
      return ''
    }
    if (value === '') this.#fail(path, 'must not be empty')
    this.#string(value, path, maxBytes)
    return value
  }

  #title(value: unknown): string | undefined {
    if (value === undefined) return undefined
    if (typeof value !== 'string') {
      this.#fail('title', `must be a string, not ${shown(value)}`)
      return undefined
    }
    const { length } = value
    if (value.trim() === '') this.#fail('title', 'must not be empty')
    else if (length > maxTitleLength) {
      this.#fail('title', `has ${length} characters; at most ${maxTitleLength} are accepted`)
    }
    this.#string(value, 'title', Infinity)
    return value
  }

  /** Well-formed and not too long. `path` is put together only for a string that is not. */
  #string(value: string, path: string | (() => string), maxBytes: number): void {
    if (!value.isWellFormed()) {
      const place = typeof path === 'string' ? path : path()
      this.#fail(place, 'has half of a surrogate pair', loneSurrogate(value))
      return
    }
    // No character has more than three bytes of UTF-8 for each of its code units.
    if (value.length * 3 <= maxBytes) return
    const bytes = Buffer.byteLength(value, 'utf8')
    if (bytes <= maxBytes) return
    const place = typeof path === 'string' ? path : path()
    this.#fail(place, `has ${bytes} bytes; at most ${maxBytes} are accepted`)
  }

  #metadata(value: unknown): Triple[] {
    if (!Array.isArray(value)) {
      this.#fail('metadata', `must be an array of triples, not ${shown(value)}`)
      return []
    }
    const { length } = value
    const { maxMetadataTriples } = this.#limits
    if (length > maxMetadataTriples) {
      this.#refusal = new LorekeepError(
        'LK_DOCUMENT_TOO_LARGE',
        `metadata has ${length} triples; at most ${maxMetadataTriples} are accepted`,
        { details: { maxMetadataTriples, found: length } },
      )
      return []
    }
    const triples: Triple[] = []
    for (let index = 0; index < length; index++) {
      const path = `metadata[${index}]`
      const triple = this.#fields(value[index], 'a triple', path, tripleMembers)
      if (triple === undefined) continue
      const s = this.#term(triple, 's', path)
      const p = this.#term(triple, 'p', path)
      const o = this.#term(triple, 'o', path)
      const g = own(triple, 'g') ?? undefined
      const problem = graphProblem(g)
      if (problem !== undefined) this.#fail(`${path}.g`, problem)
      if (typeof g === 'string') this.#metadataLength += g.length
      triples.push({ s, p, o, ...(typeof g === 'string' && { g }) })
    }
    const found = this.#metadataLength
    if (found > maxMetadataLength) {
      this.#refusal ??= new LorekeepError(
        'LK_DOCUMENT_TOO_LARGE',
        `the strings of its metadata have ${found} characters; at most ${maxMetadataLength} are accepted`,
        { details: { maxMetadataLength, found } },
      )
    }
    return triples
  }

  /** Any of the three may be a literal: real cores have such triples. */
  #term(triple: Fields, role: string, triplePath: string): Term {
    const path = `${triplePath}.${role}`
    const term = this.#fields(own(triple, role), 'a term', path, termMembers)
    if (term === undefined) return { v: '', e: false }
    const v = own(term, 'v')
    const e = own(term, 'e')
    if (typeof v === 'string') {
      this.#string(v, () => `${path}.v`, maxTermBytes)
      this.#metadataLength += v.length
    } else this.#fail(`${path}.v`, `must be a string, not ${shown(v)}`)
    if (typeof e !== 'boolean') {
      this.#fail(`${path}.e`, `must be true (an entity) or false (a literal), not ${shown(e)}`)
    }
    const dt = own(term, 'dt') ?? undefined
    const ln = own(term, 'ln') ?? undefined
    const [member, message] = annotationProblem({ e, dt, ln }) ?? []
    if (message !== undefined) this.#fail(joined(path, member ?? ''), message)
    if (typeof dt === 'string') this.#metadataLength += dt.length
    if (typeof ln === 'string') this.#metadataLength += ln.length
    return termOf({ v, e, dt, ln } as Term)
  }

  #text(fields: Fields): Uint8Array {
    const text = own(fields, 'text') ?? undefined
    const content = own(fields, 'content') ?? undefined
    const charset = own(fields, 'charset') ?? undefined
    if (content === undefined) return this.#encoded(text, charset)
    if (text !== undefined) this.#fail('content', 'stands beside text: a document has one of them')
    if (charset !== undefined) this.#fail('charset', 'is for text in base64; content needs none')
    return this.#plain(content)
  }

  #plain(content: unknown): Uint8Array {
    if (typeof content !== 'string') {
      this.#fail('content', `must be a string, not ${shown(content)}`)
      return nothing
    }
    if (!content.isWellFormed()) {
      this.#fail('content', 'has half of a surrogate pair', loneSurrogate(content))
      return nothing
    }
    if (this.#isTooLarge(content.length * 3, () => Buffer.byteLength(content, 'utf8')))
      return nothing
    return Buffer.from(content, 'utf8')
  }

  #encoded(text: unknown, label: unknown = 'utf-8'): Uint8Array {
    const charset =
      typeof label === 'string' ? charsetOf(label) : `must be a string, not ${shown(label)}`
    if (typeof charset === 'string') {
      const found = typeof label === 'string' ? `${quoted(label)} ` : ''
      this.#fail('charset', found + charset)
    }
    if (typeof text !== 'string') {
      const missing = 'is missing: base64 of the text, or the text itself as content'
      this.#fail('text', text === undefined ? missing : `must be a string, not ${shown(text)}`)
      return nothing
    }
    // Before it is decoded.
    if (this.#isTooLarge((text.length / 4) * 3, () => decodedLength(text))) return nothing
    const bytes = decodeBase64(text)
    if (!(bytes instanceof Uint8Array)) {
      const { reason, offset } = bytes
      this.#fail('text', `${found(text, offset)}: ${advice[reason]}`, offset)
      return nothing
    }
    const binary = mayBeBinary(bytes) ? binaryFound(bytes) : undefined
    if (binary !== undefined) {
      this.#fail('text', `looks like ${binary}, which is no text: files are loaded as bytes`)
      return nothing
    }
    if (typeof charset === 'string') return nothing
    const decoded = charset.decode(bytes)
    if (decoded instanceof Uint8Array) return decoded
    const byte = (bytes[decoded] ?? 0).toString(16).padStart(2, '0')
    const { name } = charset
    this.#fail('text', `has 0x${byte} at byte ${decoded}, no character of ${name}`, decoded)
    return nothing
  }

  #file(fields: Fields): Pick<AcceptedDocument, 'text' | 'type'> {
    const [type, name, label] = ['type', 'name', 'charset'].map((member) => {
      const value = own(fields, member) ?? undefined
      if (value === undefined || typeof value === 'string') return value
      this.#fail(member, `must be a string, not ${shown(value)}`)
      return undefined
    })
    const bytes = own(fields, 'bytes')
    if (!(bytes instanceof Uint8Array)) {
      this.#fail('bytes', `must be the bytes of a file, a Uint8Array, not ${shown(bytes)}`)
      return { text: nothing }
    }
    const { maxFileBytes } = this.#limits
    if (bytes.byteLength > maxFileBytes) {
      const found = bytes.byteLength
      const detail = `the file has ${found} bytes; at most ${maxFileBytes} are accepted`
      this.#refusal ??= tooLarge(detail, { maxFileBytes, found })
      return { text: nothing }
    }
    const kind = fileKind(bytes, { type, name, charset: label })
    if (kind.kind === 'file') return { type: kind.type, text: Uint8Array.from(bytes) }
    if (kind.kind === 'foreign') {
      const { found } = kind
      const detail = `it looks like ${found}; read are plain texts, ${Object.values(fileTypes).join(', ')}`
      this.#refusal ??= new LorekeepError('LK_DOCUMENT_TYPE', detail, { details: { found } })
      return { text: nothing }
    }
    // What is to be read of it may be much shorter than what it has of markup.
    const isPlain = kind.type === undefined
    if (isPlain && this.#isTooLarge(bytes.byteLength, () => bytes.byteLength)) {
      return { text: nothing }
    }
    const text = this.#decoded(bytes, kind.charset, 'bytes', label === undefined ? '' : 'charset')
    return {
      text: text === bytes ? Uint8Array.from(text) : text,
      ...(!isPlain && { type: kind.type }),
    }
  }

  /** From a charset to UTF-8. `labelPath` is what named the charset. */
  #decoded(bytes: Uint8Array, label: string, path: string, labelPath: string): Uint8Array {
    const charset = charsetOf(label)
    if (typeof charset === 'string') {
      this.#fail(
        labelPath || path,
        `${labelPath === '' ? 'says that its charset is ' : ''}${quoted(label)}, which ${charset}`,
      )
      return nothing
    }
    const decoded = charset.decode(bytes)
    if (decoded instanceof Uint8Array) return decoded
    const byte = (bytes[decoded] ?? 0).toString(16).padStart(2, '0')
    this.#fail(path, `has 0x${byte} at byte ${decoded}, no character of ${charset.name}`, decoded)
    return nothing
  }

  /** The bytes are counted only where there may be too many. */
  #isTooLarge(atMost: number, count: () => number): boolean {
    const { maxTextBytes } = this.#limits
    if (atMost <= maxTextBytes) return false
    const bytes = count()
    if (bytes <= maxTextBytes) return false
    this.#refusal ??= new LorekeepError(
      'LK_DOCUMENT_TOO_LARGE',
      `the text has ${bytes} bytes; at most ${maxTextBytes} are accepted`,
      { details: { maxTextBytes, found: bytes } },
    )
    return true
  }

  #fail(path: string, message: string, offset?: number): void {
    this.#problems.add({ path, message, ...(offset !== undefined && { offset }) })
  }
}

const rawText = 'if it is plain text, send its base64, or the text itself as content'

const advice: Readonly<Record<Base64Reason, string>> = {
  'data-url': 'a data URL; send what follows its comma',
  base64url: "base64url; send base64 with '+' and '/' in place of '-' and '_'",
  alphabet: `not base64; ${rawText}`,
  padding: `the padding is not that of base64, which is a multiple of four characters; ${rawText}`,
  cut: `base64 with a character too many or too few; ${rawText}`,
}

/** What most texts are spared: no signature is looked for in them. */
function mayBeBinary(bytes: Uint8Array): boolean {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return true
  // `%PDF-`, `%!PS`, `{\rtf`; all else has a NUL early on.
  return bytes[0] === 0x25 || bytes[0] === 0x7b || bytes.subarray(0, 1024).includes(0)
}

function tooLarge(detail: string, details: Readonly<Record<string, number>>): LorekeepError {
  return new LorekeepError('LK_DOCUMENT_TOO_LARGE', detail, { details })
}

/** The character at the offset, for a message. */
function found(text: string, offset: number): string {
  const [character] = text.slice(offset, offset + 2)
  if (character === undefined) return `ends at character ${offset}`
  return `has ${quoted(character)} at character ${offset}`
}

/** Where half of a surrogate pair stands. */
function loneSurrogate(text: string): number {
  return text.search(/\p{Surrogate}/u)
}
