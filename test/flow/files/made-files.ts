// Files as programs write them, small and made here: PDF, ZIP, DOCX, EPUB.

import { deflateRawSync, deflateSync } from 'node:zlib'

// ── PDF ──────────────────────────────────────────────────────────────────────

export interface PdfText {
  readonly x: number
  readonly y: number
  readonly text: string
  /** 10 unless said otherwise. */
  readonly size?: number
  /** Anticlockwise, in quarters of a circle. */
  readonly turns?: number
}

interface PdfOptions {
  readonly title?: string
  /** Titles with the pages, from 1, that they lead to. */
  readonly outline?: readonly (readonly [title: string, page: number])[]
  /** More objects that the trailer names: `/Encrypt 9 0 R`. */
  readonly trailer?: string
  /** Content streams, in place of those of the texts, deflated. */
  readonly contents?: readonly Uint8Array[]
}

/** Of pages with texts at places, in Helvetica; `y` grows upwards, from 0 to 792. */
export function pdf(pages: readonly (readonly PdfText[])[], options: PdfOptions = {}): Buffer {
  const objects: Buffer[] = []
  const add = (object: string | Buffer) => objects.push(Buffer.from(object))
  const { title, outline = [], trailer = '', contents } = options
  const firstPage = 5
  const kids = pages.map((_, n) => `${firstPage + 2 * n} 0 R`).join(' ')
  const firstItem = firstPage + 2 * pages.length + 1
  add(
    `<< /Type /Catalog /Pages 2 0 R${outline.length > 0 ? ` /Outlines ${firstItem - 1} 0 R` : ''} >>`,
  )
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`)
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>')
  add(`<< /Title (${escaped(title ?? '')}) >>`)
  pages.forEach((texts, n) => {
    const content = contents?.[n] ?? deflateSync(Buffer.from(texts.map(shown).join('\n'), 'latin1'))
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${firstPage + 2 * n + 1} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    )
    const head = `<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n`
    add(Buffer.concat([Buffer.from(head), content, Buffer.from('\nendstream')]))
  })
  const item = (n: number) => `${firstItem + n} 0 R`
  add(
    outline.length === 0
      ? 'null'
      : `<< /Type /Outlines /First ${item(0)} /Last ${item(outline.length - 1)} /Count ${outline.length} >>`,
  )
  outline.forEach(([name, page], n) => {
    const next = n + 1 < outline.length ? ` /Next ${item(n + 1)}` : ''
    const dest = `[${firstPage + 2 * (page - 1)} 0 R /Fit]`
    add(`<< /Title (${escaped(name)}) /Parent ${firstItem - 1} 0 R /Dest ${dest}${next} >>`)
  })

  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = parts[0]?.length ?? 0
  objects.forEach((object, n) => {
    const part = Buffer.concat([Buffer.from(`${n + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    offsets.push(length)
    parts.push(part)
    length += part.length
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

function shown({ x, y, text, size = 10, turns = 0 }: PdfText): string {
  const matrix = ['1 0 0 1', '0 1 -1 0', '-1 0 0 -1', '0 -1 1 0'][turns & 3] ?? ''
  return `BT /F1 ${size} Tf ${matrix} ${x} ${y} Tm (${escaped(text)}) Tj ET`
}

function escaped(text: string): string {
  return text.replace(/[\\()]/g, '\\$&')
}

/** Lines below each other, as wide as a column of 240 points. */
export function column(x: number, y: number, lines: readonly string[], size = 10): PdfText[] {
  return lines.map((text, n) => ({ x, y: y - 1.2 * size * n, text, size }))
}

/** What standard security of 40 bits says of a file that needs a password: no key fits. */
export const encryption =
  '/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <' +
  'ab'.repeat(32) +
  '> /U <' +
  'cd'.repeat(32) +
  '> >> /ID [<' +
  '01'.repeat(16) +
  '> <' +
  '01'.repeat(16) +
  '>]'

// ── ZIP ──────────────────────────────────────────────────────────────────────

export type ZipContent = Readonly<Record<string, string | Uint8Array>>

export interface ZipOptions {
  /** Members that are stored as they are. */
  readonly stored?: readonly string[]
  /** Of each member: 1 is encrypted. */
  readonly flags?: number
}

export function zip(content: ZipContent, { stored = [], flags = 0 }: ZipOptions = {}): Buffer {
  const parts: Buffer[] = []
  const entries: Buffer[] = []
  let at = 0
  for (const [name, value] of Object.entries(content)) {
    const bytes = Buffer.from(value as string)
    const isStored = stored.includes(name)
    const packed = isStored ? bytes : deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags | 0x800, 2)
    common.writeUInt16LE(isStored ? 0 : 8, 4)
    common.writeUInt32LE(crcOf(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const named = Buffer.from(name)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, named, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, named]))
    parts.push(local)
    at += local.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, directory, end])
}

function crcOf(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let n = 0; n < 8; n++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

// ── DOCX ─────────────────────────────────────────────────────────────────────

const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

export interface DocxParagraph {
  readonly text: string
  /** `heading 1`, `Title`, … */
  readonly style?: string
}

export function docx(
  paragraphs: readonly DocxParagraph[],
  { title, more = {} }: { readonly title?: string; readonly more?: ZipContent } = {},
): Buffer {
  const styles = [...new Set(paragraphs.flatMap(({ style }) => style ?? []))]
  const idOf = (style: string) => style.replace(/\s/g, '')
  const body = paragraphs.map(({ text, style }) => {
    const said = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${idOf(style)}"/></w:pPr>`
    return `<w:p>${said}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
  })
  return zip({
    '[Content_Types].xml':
      '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>',
    '_rels/.rels':
      '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    'word/_rels/document.xml.rels':
      '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>',
    'word/styles.xml': `<?xml version="1.0"?><w:styles ${word}>${styles.map((style) => `<w:style w:type="paragraph" w:styleId="${idOf(style)}"><w:name w:val="${style}"/></w:style>`).join('')}</w:styles>`,
    'word/document.xml': `<?xml version="1.0"?><w:document ${word}><w:body>${body.join('')}</w:body></w:document>`,
    ...(title !== undefined && {
      'docProps/core.xml': `<?xml version="1.0"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title></cp:coreProperties>`,
    }),
    ...more,
  })
}

// ── EPUB ─────────────────────────────────────────────────────────────────────

/** Chapters are what is in their `<body>`. */
export function epub(title: string, chapters: readonly string[], more: ZipContent = {}): Buffer {
  const items = chapters.map((_, n) => {
    return `<item id="c${n}" href="text/c${n}.xhtml" media-type="application/xhtml+xml"/>`
  })
  const files = chapters.map((body, n) => [
    `OEBPS/text/c${n}.xhtml`,
    `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title/><script src="x.js"/></head><body>${body}</body></html>`,
  ])
  const content = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'OEBPS/book.opf': `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${title}</dc:title><meta name="cover" content="x"/></metadata><manifest>${items.join('')}</manifest><spine>${chapters.map((_, n) => `<itemref idref="c${n}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(files),
    ...more,
  } as ZipContent
  return zip(content, { stored: ['mimetype'] })
}
