// What the bytes of a file are: by their signature, else by how they read as text. A name and a type that
// somebody gives decide between kinds of text alone.

import { isUtf8 } from 'node:buffer'
import { charsetOf, noCharset } from '../charset.js'
import { delimiterOf, firstRows } from './csv.js'
import { isJson } from './json-tokens.js'
import { fileTypes, isFileType, type FileType } from './types.js'
import { Unreadable } from './unreadable.js'
import { zipMembers, ZipReader } from './zip.js'

export type FileKind =
  /** Bytes of a type that is read. */
  | { readonly kind: 'file'; readonly type: FileType }
  /** A text in this charset; `type` where it has one that says more. */
  | { readonly kind: 'text'; readonly type?: FileType; readonly charset: string }
  /** What it looks like: `a ZIP archive`. */
  | { readonly kind: 'foreign'; readonly found: string }

export interface FileHints {
  /** A media type, parameters behind it or not: that of a text may have its charset. */
  readonly type?: string | undefined
  readonly name?: string | undefined
  /** Of a text without a byte order mark, where somebody knows it. */
  readonly charset?: string | undefined
}

/** Where they begin: ASCII, or bytes in hexadecimal behind a `#`; `at` another place than 0. */
const signatures: readonly {
  readonly starts: string
  readonly at?: number
  readonly found: string
}[] = [
  { starts: '#7f454c46', found: 'an executable (ELF)' },
  { starts: '#feedface', found: 'an executable (Mach-O)' },
  { starts: '#feedfacf', found: 'an executable (Mach-O)' },
  { starts: '#cefaedfe', found: 'an executable (Mach-O)' },
  { starts: '#cffaedfe', found: 'an executable (Mach-O)' },
  { starts: '#cafebabe', found: 'an executable (Java or Mach-O)' },
  { starts: '#0061736d', found: 'a WebAssembly module' },
  { starts: '#1f8b', found: 'a gzip file' },
  { starts: 'BZh', found: 'a bzip2 file' },
  { starts: '#fd377a585a00', found: 'an xz file' },
  { starts: '#28b52ffd', found: 'a Zstandard file' },
  { starts: '#377abcaf271c', found: 'a 7z archive' },
  { starts: 'Rar!#1a07', found: 'a RAR archive' },
  { starts: 'ustar', at: 257, found: 'a tar archive' },
  {
    starts: '#d0cf11e0a1b11ae1',
    found: 'a file of an older Office program (DOC, XLS, PPT or MSG)',
  },
  { starts: '{\\rtf', found: 'an RTF document' },
  { starts: '%!PS', found: 'a PostScript file' },
  { starts: '#89504e470d0a1a0a', found: 'a PNG image' },
  { starts: '#ffd8ff', found: 'a JPEG image' },
  { starts: 'GIF87a', found: 'a GIF image' },
  { starts: 'GIF89a', found: 'a GIF image' },
  { starts: '#49492a00', found: 'a TIFF image' },
  { starts: '#4d4d002a', found: 'a TIFF image' },
  { starts: 'WEBP', at: 8, found: 'a WebP image' },
  { starts: '8BPS', found: 'a Photoshop image' },
  { starts: 'AT&TFORM', found: 'a DjVu document' },
  { starts: 'BOOKMOBI', at: 60, found: 'a Mobipocket or Kindle book' },
  { starts: 'ID3', found: 'an MP3 file' },
  { starts: 'OggS', found: 'an Ogg file' },
  { starts: 'fLaC', found: 'a FLAC file' },
  { starts: 'WAVE', at: 8, found: 'a WAV file' },
  { starts: 'AVI ', at: 8, found: 'an AVI video' },
  { starts: 'ftyp', at: 4, found: 'an MP4 video or HEIC image' },
  { starts: '#1a45dfa3', found: 'a Matroska or WebM video' },
  { starts: 'SQLite format 3#00', found: 'an SQLite database' },
  { starts: 'wOFF', found: 'a font' },
  { starts: 'wOF2', found: 'a font' },
  { starts: '#0001000000', found: 'a font' },
  { starts: 'OTTO', found: 'a font' },
  { starts: 'PAR1', found: 'a Parquet file' },
  { starts: '-----BEGIN PGP MESSAGE', found: 'an encrypted message' },
]

/** No text begins so, and these are made of characters of texts. */
const written = new Set(['{\\rtf', '%!PS', '-----BEGIN PGP MESSAGE'])

const compiled = signatures.map(({ starts, at = 0, found }) => {
  const [ascii = '', hex = ''] = starts.split('#')
  // Of letters alone: `ID3`, and OTTO von Bismarck.
  const isWord = hex === '' && !written.has(starts)
  return {
    at,
    found,
    isWord,
    bytes: Buffer.concat([Buffer.from(ascii, 'latin1'), Buffer.from(hex, 'hex')]),
  }
})

/** A PDF may have something else before it. */
const pdfWindow = 1024

export function fileKind(bytes: Uint8Array, hints: FileHints = {}): FileKind {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const binary = binaryKind(view)
  if (binary !== undefined) return binary
  if (isUtf32(view)) return foreign('a text in UTF-32')
  const charset = charsetOfHints(view, hints)
  const isWide = /^(?:u|utf|ucs|iso-10646-ucs|unicode|csunicode|x-utf)[-_ ]?(?:16|2)/i.test(
    charset ?? '',
  )
  if (!isWide && hasControls(view)) return foreign('binary data of an unknown type')
  return textKind(view, charset, hints)
}

/** By its signature alone: `a PDF`, `a ZIP archive`; `undefined` for what may be a text. */
export function binaryFound(bytes: Uint8Array): string | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const kind = binaryKind(view)
  if (kind?.kind === 'foreign') return kind.found
  if (kind?.kind !== 'file') return undefined
  return `${kind.type.endsWith('epub+zip') ? 'an' : 'a'} ${fileTypes[kind.type]}`
}

function binaryKind(view: Buffer): FileKind | undefined {
  const pdf = view.subarray(0, pdfWindow).indexOf('%PDF-')
  if (pdf === 0 || (pdf > 0 && !isUtf8(view.subarray(0, pdf))))
    return { kind: 'file', type: 'application/pdf' }
  if (pdf > 0 && view.subarray(0, pdf).toString('utf8').trim() === '') {
    return { kind: 'file', type: 'application/pdf' }
  }
  const head = view.length < 4 ? 0 : view.readUInt32BE(0)
  if (head === 0x504b0304 || head === 0x504b0506) return archiveKind(view)
  if (isPortableExecutable(view)) return foreign('an executable (Windows)')
  for (const { at, bytes, found, isWord } of compiled) {
    if (!view.subarray(at, at + bytes.length).equals(bytes)) continue
    if (!isWord || hasControls(view)) return foreign(found)
  }
  return undefined
}

function foreign(found: string): FileKind {
  return { kind: 'foreign', found }
}

/** `MZ` alone begins many a text. */
function isPortableExecutable(view: Buffer): boolean {
  if (view.length < 64 || view.toString('latin1', 0, 2) !== 'MZ') return false
  const at = view.readUInt32LE(60)
  return view.subarray(at, at + 4).equals(Buffer.from('PE\0\0', 'latin1')) || view.includes(0)
}

/** Which documents are archives, by the media type that they have in them. */
const ofArchives: Readonly<Record<string, string>> = {
  'application/vnd.oasis.opendocument.text': 'an OpenDocument text (ODT)',
  'application/vnd.oasis.opendocument.spreadsheet': 'an OpenDocument spreadsheet (ODS)',
  'application/vnd.oasis.opendocument.presentation': 'an OpenDocument presentation (ODP)',
}
const mostMediaType = 256

function archiveKind(view: Buffer): FileKind {
  try {
    const names = new Set(zipMembers(view).map(({ name }) => name))
    if ([...names].some((name) => /^word\/document\d*\.xml$/.test(name))) {
      const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
      return { kind: 'file', type }
    }
    if (names.has('xl/workbook.xml')) return foreign('a spreadsheet (XLSX)')
    if (names.has('ppt/presentation.xml')) return foreign('a presentation (PPTX)')
    if (names.has('META-INF/MANIFEST.MF')) return foreign('a Java archive')
    const mimetype = names.has('mimetype')
      ? new ZipReader(view, mostMediaType).text('mimetype')?.trim()
      : undefined
    if (mimetype === 'application/epub+zip') return { kind: 'file', type: mimetype }
    if (mimetype === undefined && names.has('META-INF/container.xml')) {
      return { kind: 'file', type: 'application/epub+zip' }
    }
    return foreign(ofArchives[mimetype ?? ''] ?? 'a ZIP archive')
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return foreign('a damaged ZIP archive')
  }
}

// ── texts ────────────────────────────────────────────────────────────────────

/**
 * A mark counts more than what is said, as in the Encoding Standard: no text begins with the characters that it would
 * be. A `charset` that is none has to be refused all the same; types are said by programs that do not look.
 */
function charsetOfHints(view: Buffer, { charset, type }: FileHints): string | undefined {
  if (charset !== undefined && typeof charsetOf(charset) === 'string') return charset
  return charsetOfMark(view) ?? charset ?? charsetOfType(type)
}

/** By its mark, which begins as that of UTF-16 does: no text in that has U+0000 behind it. */
function isUtf32(view: Buffer): boolean {
  const head = view.length < 4 ? 0 : view.readUInt32BE(0)
  return head === 0xfffe0000 || head === 0x0000feff
}

function charsetOfMark(view: Buffer): string | undefined {
  if (view[0] === 0xff && view[1] === 0xfe) return 'utf-16le'
  if (view[0] === 0xfe && view[1] === 0xff) return 'utf-16be'
  if (view[0] === 0xef && view[1] === 0xbb && view[2] === 0xbf) return 'utf-8'
  return undefined
}

/** What others are said to be in, `application/octet-stream; charset=binary`, says nothing of a text. */
function charsetOfType(type: string | undefined): string | undefined {
  const hint = typeOfHint(type)
  const isOfText = /^\s*text\//i.test(type ?? '') || (hint !== undefined && isText(hint))
  const label = isOfText ? /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type ?? '')?.[1] : undefined
  return noCharset.test(label ?? '') ? undefined : label
}

const controlWindow = 64 * 1024

/** Those that no text has: all of C0 but for tab, the ends of lines and pages, and escape. */
function hasControls(view: Buffer): boolean {
  return view
    .subarray(0, controlWindow)
    .some((byte) => byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b)
}

const window = 4096
const html = /^(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>])/i
const metaCharset = /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i
const xmlEncoding = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']\s*([\w:.-]+)/

function textKind(view: Buffer, known: string | undefined, { type, name }: FileHints): FileKind {
  const head = view.toString('latin1', 0, window)
  const isHtml = html.test(afterProlog(head))
  const said = isHtml && known === undefined ? charsetIn(head) : undefined
  // Its escapes are valid UTF-8.
  const isEscaped = said === 'iso-2022-jp' && view.includes(0x1b)
  // Nearly every text in another charset is no valid UTF-8, and every file is valid windows-1252.
  const charset = known ?? (isUtf8(view) && !isEscaped ? 'utf-8' : (said ?? 'windows-1252'))
  const hint = typeOfHint(type) ?? typeOfName(name)
  if (hint !== undefined && !isText(hint)) {
    return foreign(`a text, and not the ${fileTypes[hint]} that it is said to be`)
  }
  const found = hint ?? (isHtml ? 'text/html' : seenType(view, head))
  return { kind: 'text', charset, ...(found !== undefined && found !== plain && { type: found }) }
}

/** What a page says of itself, where that is a charset, and not Unicode, which can be seen. */
function charsetIn(head: string): string | undefined {
  for (const pattern of [metaCharset, xmlEncoding]) {
    const charset = charsetOf(pattern.exec(head)?.[1] ?? 'utf-8')
    if (typeof charset !== 'string' && !charset.name.startsWith('utf-')) return charset.name
  }
  return undefined
}

/** Behind what may stand before a document: a byte order mark, XML's declaration, comments, white space. */
function afterProlog(head: string): string {
  let rest = head.replace(/^ï»¿/, '').trimStart()
  for (;;) {
    const [start, end] = rest.startsWith('<!--') ? ['<!--', '-->'] : ['<?xml', '?>']
    const at = rest.startsWith(start) ? rest.indexOf(end, start.length) : -1
    if (at < 0) return rest
    rest = rest.slice(at + end.length).trimStart()
  }
}

/**
 * Of a text that nobody said anything of. Only what leaves no doubt: all else is a plain text. JSON that is longer
 * than what is looked at begins and ends as such.
 */
function seenType(view: Buffer, head: string): FileType | undefined {
  if (!isUtf8(view)) return undefined
  const text = view.toString('utf8', 0, beginning).replace(/^\uFEFF/, '')
  const [start] = /^\s*(?:\{(?=\s*["}])|\[)/.exec(head) ?? []
  if (start !== undefined && isJson(text.slice(0, jsonWindow), text.length <= jsonWindow)) {
    const last = view.toString('latin1', Math.max(0, view.length - window)).trimEnd()
    if (last.endsWith(start.endsWith('{') ? '}' : ']')) return 'application/json'
  }
  const delimiter = delimiterOf(text)
  const rows = firstRows(text, delimiter)
  const [header = []] = rows
  const isTable =
    !(start !== undefined && isJson(firstLineOf(text), true)) &&
    rows.length >= 3 &&
    header.length >= 3 &&
    rows.every(({ length }) => length === header.length) &&
    header.every((cell) => cell.trim() !== '' && cell.length <= 60) &&
    new Set(header).size === header.length
  if (!isTable) return undefined
  return delimiter === '\t' ? 'text/tab-separated-values' : 'text/csv'
}

function firstLineOf(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1)
  return line.slice(0, jsonWindow)
}

/** In UTF-16 code units: who loads it waits. */
const jsonWindow = 64 * 1024
/** More than windows have of characters. */
const beginning = 4 * jsonWindow

const plain = 'text/plain'

type TextType = Extract<FileType, `text/${string}` | 'application/json'>

/** `undefined` where it says nothing, as `application/octet-stream` does; `text/plain` may be anything. */
function typeOfHint(type: string | undefined): FileType | typeof plain | undefined {
  const [media = ''] = type?.split(';', 1) ?? []
  const name = media.trim().toLowerCase()
  const known = (Object.hasOwn(aliases, name) && aliases[name]) || name
  return known === plain || isFileType(known) ? known : undefined
}

const aliases: Readonly<Record<string, string>> = {
  'text/x-markdown': 'text/markdown',
  'application/xhtml+xml': 'text/html',
  'application/csv': 'text/csv',
  'text/json': 'application/json',
  'application/x-ndjson': 'application/json',
  'application/jsonl': 'application/json',
  'application/ld+json': 'application/json',
}

const ofExtensions: Readonly<Record<string, FileType | typeof plain>> = {
  txt: plain,
  text: plain,
  log: plain,
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'text/html',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  tab: 'text/tab-separated-values',
  json: 'application/json',
  jsonl: 'application/json',
  ndjson: 'application/json',
}

function typeOfName(name: string | undefined): FileType | typeof plain | undefined {
  const extension = /\.(\w+)$/.exec(name ?? '')?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(ofExtensions, extension) ? ofExtensions[extension] : undefined
}

function isText(type: FileType | typeof plain): type is TextType | typeof plain {
  return type.startsWith('text/') || type === 'application/json'
}
