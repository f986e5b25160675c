// EPUB (2 and 3): its chapters in the order of the book, each of them HTML.

import { posix } from 'node:path'
import { addHtml, attributeOf, nodesOf, parseHtml, textOf, type HtmlNode } from './html.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { Unreadable } from './unreadable.js'
import { zipShare, ZipReader } from './zip.js'

export async function readEpub(
  bytes: Uint8Array,
  { maxTextLength, maxFilePages, maxFileMemoryMb }: ReadLimits,
): Promise<StructuredText> {
  const archive = new ZipReader(bytes, zipShare(maxFileMemoryMb))
  const encrypted = encryptedIn(archive.text('META-INF/encryption.xml') ?? '')
  const packagePath = await rootOf(archive)
  const opf = archive.text(packagePath)
  if (opf === undefined) throw damaged(`'${packagePath}' is missing`)
  const book = await parseHtml(openTags(opf))
  const items = new Map<string, { readonly path: string; readonly type: string }>()
  const spine: string[] = []
  let title: string | undefined
  // A parser of HTML puts each into the one before it, and keeps their order.
  for (const node of nodesOf(book)) {
    const name = localName(node)
    if (name === 'item') {
      const [id, href, type] = ['id', 'href', 'media-type'].map((name) => attributeOf(node, name))
      if (id === undefined || href === undefined) continue
      items.set(id, { path: resolved(packagePath, href), type: type ?? '' })
    } else if (name === 'itemref') spine.push(attributeOf(node, 'idref') ?? '')
    else if (node.nodeName === 'dc:title') title ??= ownTextOf(node)
  }
  const builder = new TextBuilder(maxTextLength)
  if (spine.length > maxFilePages) {
    const message = `it has ${spine.length} chapters; at most ${maxFilePages} are read (maxFilePages)`
    throw new Unreadable('pages', message)
  }
  for (const id of spine) {
    const { path, type } = items.get(id) ?? {}
    if (path === undefined || !/html|xml|^$/.test(type ?? '')) continue
    if (encrypted.has(path)) {
      throw new Unreadable('encrypted', 'it is encrypted: its chapters need a key')
    }
    const chapter = archive.text(path)
    // A book may go without a page of adverts that was left out.
    if (chapter !== undefined) addHtml(builder, await parseHtml(openTags(chapter)))
  }
  return builder.finish(title)
}

/** Without the prefix of its namespace, which is the author's to choose. */
function localName({ nodeName }: HtmlNode): string {
  return nodeName.slice(nodeName.indexOf(':') + 1)
}

/** By their paths from the root of the archive. */
function encryptedIn(xml: string): ReadonlySet<string> {
  const uris = xml.matchAll(/\bURI\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g)
  return new Set([...uris].map(([, one, other]) => resolved('', one ?? other ?? '')))
}

async function rootOf(archive: ZipReader): Promise<string> {
  const container = archive.text('META-INF/container.xml')
  if (container === undefined) throw damaged("'META-INF/container.xml' is missing")
  for (const node of nodesOf(await parseHtml(openTags(container)))) {
    const path = localName(node) === 'rootfile' ? attributeOf(node, 'full-path') : undefined
    if (path !== undefined) return path
  }
  throw damaged('it does not say where the book is')
}

/**
 * XML for a parser of HTML. `<title/>` is nothing in XML, and opens a title in HTML that swallows the
 * rest; but `</br>` is a second line break. What is marked as text would be a comment.
 */
function openTags(xml: string): string {
  return withoutMarks(xml.replace(/^\uFEFF?\s*<\?xml[^>]*\?>/, ''))
    .replace(/<\/br\s*>/gi, '')
    .replace(
      /<(?!br[\s/])([a-z][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/>/gi,
      '<$1$2></$1>',
    )
}

/** Not by an expression: it looks through the rest for the end of each that has none. */
function withoutMarks(xml: string): string {
  const mark = '<![CDATA['
  let plain = ''
  for (let at = 0; ;) {
    const start = xml.indexOf(mark, at)
    const end = start < 0 ? -1 : xml.indexOf(']]>', start + mark.length)
    if (end < 0) return plain + xml.slice(at)
    const text = xml.slice(start + mark.length, end)
    plain += xml.slice(at, start) + text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    at = end + ']]>'.length
  }
}

function resolved(from: string, href: string): string {
  const path = href.split('#', 1)[0] ?? ''
  let plain = path
  try {
    plain = decodeURIComponent(path)
  } catch {
    // It is what it says.
  }
  return posix.normalize(posix.join(posix.dirname(from), plain))
}

function ownTextOf(node: HtmlNode): string {
  return textOf({
    ...node,
    childNodes: (node.childNodes ?? []).filter((each) => each.nodeName === '#text'),
  })
}

function damaged(reason: string): Unreadable {
  return new Unreadable('damaged', `it is a damaged EPUB: ${reason}`)
}
