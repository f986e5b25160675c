import { readPdf } from './pdf.js'
import { readHtml } from './html.js'
import { readMarkdown } from './markdown.js'
import { readCsv } from './csv.js'
import { readJson } from './json.js'
import { readDocx } from './docx.js'
import { readEpub } from './epub.js'
import { memoryMessage } from './buffers.js'
import type { StructuredText } from './structured-text.js'
import type { FileType, ReadLimits, ReadRequest } from './types.js'
import { Unreadable } from './unreadable.js'

type Reader = (bytes: Uint8Array, limits: ReadLimits) => StructuredText | Promise<StructuredText>

/** Texts have come to UTF-8 before. */
const ofText =
  (read: (text: string, limits: ReadLimits) => StructuredText | Promise<StructuredText>): Reader =>
  (bytes, limits) => {
    // As a string they may be twice as much, in one piece.
    const { maxFileMemoryMb } = limits
    if (4 * bytes.byteLength > maxFileMemoryMb * 1024 ** 2) {
      throw new Unreadable('memory', memoryMessage(maxFileMemoryMb))
    }
    return read(new TextDecoder('utf-8').decode(bytes), limits)
  }

const readers: Readonly<Record<FileType, Reader>> = {
  'text/markdown': ofText(readMarkdown),
  'text/html': ofText(readHtml),
  'text/csv': ofText((text, limits) => readCsv(text, ',', limits)),
  'text/tab-separated-values': ofText((text, limits) => readCsv(text, '\t', limits)),
  'application/json': ofText(readJson),
  'application/pdf': readPdf,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': readDocx,
  'application/epub+zip': readEpub,
}

/** @throws Unreadable, PackageMissing, PackageBroken, and what the parsers throw */
export async function readFile({ type, bytes, limits }: ReadRequest): Promise<StructuredText> {
  return readers[type](bytes, limits)
}
