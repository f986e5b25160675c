// DOCX: its headings, paragraphs, lists and tables, by mammoth, which makes HTML of it.

import { addHtml, parseHtml } from './html.js'
import { peer } from './peer.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { zipShare, ZipReader } from './zip.js'

/** Of mammoth, what is used. */
interface Mammoth {
  convertToHtml(
    input: { readonly buffer: Buffer },
    options: object,
  ): Promise<{ readonly value: string }>
  readonly images: { imgElement(image: () => Promise<{ readonly src: string }>): object }
}

const mammothPeer = { name: 'mammoth', version: 1, files: 'reading DOCX' }

const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"]

export async function readDocx(
  bytes: Uint8Array,
  { maxTextLength, maxFileMemoryMb }: ReadLimits,
): Promise<StructuredText> {
  // The package takes archives apart as large as they become.
  const archive = new ZipReader(bytes, zipShare(maxFileMemoryMb))
  for (const member of archive.members) archive.inflate(member)
  const { default: mammoth } = (await peer(() => import('mammoth'), mammothPeer)) as unknown as {
    readonly default: Mammoth
  }
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes) },
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
