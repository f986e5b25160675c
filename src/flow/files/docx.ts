// DOCX: its headings, paragraphs, lists and tables, by mammoth, which makes HTML of it.

import { addHtml, parseHtml } from './html.js'
import { peer } from './peer.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { zipShare, ZipReader } from './zip.js'

/** Of mammoth, what is used. `file` is how its own tests give it a document: it asks for the members. */
interface Mammoth {
  convertToHtml(
    input: { readonly file: DocxFile },
    options: object,
  ): Promise<{ readonly value: string }>
  readonly images: { imgElement(image: () => Promise<{ readonly src: string }>): object }
}

interface DocxFile {
  exists(name: string): boolean
  read(name: string): Promise<string>
}

const mammothPeer = { name: 'mammoth', version: 1, files: 'reading DOCX' }

const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"]

export async function readDocx(
  bytes: Uint8Array,
  { maxTextLength, maxFileMemoryMb }: ReadLimits,
): Promise<StructuredText> {
  const archive = new ZipReader(bytes, zipShare(maxFileMemoryMb))
  const { default: mammoth } = (await peer(() => import('mammoth'), mammothPeer)) as unknown as {
    readonly default: Mammoth
  }
  const { value } = await mammoth.convertToHtml(
    { file: fileOf(archive) },
    {
      styleMap,
      // Pictures are not read, and nothing outside of the file is.
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      externalFileAccess: false,
    },
  )
  const builder = new TextBuilder(maxTextLength)
  addHtml(builder, await parseHtml(value))
  return builder.finish(await titleOf(archive))
}

/**
 * Not the bytes of the archive: the package would take it apart as large as it becomes, and by a reader
 * that may find other members in it than ours, which counts.
 */
function fileOf(archive: ZipReader): DocxFile {
  return {
    exists: (name) => archive.has(name),
    read: async (name) => archive.text(name) ?? '',
  }
}

async function titleOf(archive: ZipReader): Promise<string | undefined> {
  const xml = archive.text('docProps/core.xml')
  const [, title] = /<dc:title>([^<]*)<\/dc:title>/.exec(xml ?? '') ?? []
  return title === undefined ? undefined : decodeEntities(title)
}

function decodeEntities(text: string): string {
  const named: Readonly<Record<string, string>> = {
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    amp: '&',
  }
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => named[name] ?? '')
}
