// HTML: its headings, paragraphs, lists and tables, without what is not for reading, by parse5.

import { peer } from './peer.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'

/** Of the parser's tree, what is used. */
export interface HtmlNode {
  readonly nodeName: string
  readonly value?: string
  readonly attrs?: readonly { readonly name: string; readonly value: string }[]
  readonly childNodes?: readonly HtmlNode[]
}

const parse5 = { name: 'parse5', version: 8, files: 'reading HTML, DOCX and EPUB' }

export async function parseHtml(text: string): Promise<HtmlNode> {
  const { parse } = await peer(() => import('parse5'), parse5)
  return parse(text, { scriptingEnabled: false }) as unknown as HtmlNode
}

export async function readHtml(
  text: string,
  { maxTextLength }: Pick<ReadLimits, 'maxTextLength'>,
): Promise<StructuredText> {
  const tree = await parseHtml(text)
  const builder = new TextBuilder(maxTextLength)
  addHtml(builder, tree)
  return builder.finish(titleIn(tree))
}

/** What its `<title>` says, outside of pictures. */
function titleIn(tree: HtmlNode): string | undefined {
  for (const node of nodesOf(tree, ({ nodeName }) => nodeName !== 'svg')) {
    if (node.nodeName === 'title') return textOf(node)
  }
  return undefined
}

export function textOf(node: HtmlNode): string {
  return [...nodesOf(node)]
    .map(({ value, nodeName }) => (nodeName === '#text' ? value : ''))
    .join('')
}

/** In the order of the text; not into those of which `enters` says no. */
export function* nodesOf(
  tree: HtmlNode,
  enters: (node: HtmlNode) => boolean = () => true,
): Generator<HtmlNode, void, undefined> {
  const waiting: HtmlNode[] = [tree]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node
    const children = enters(node) ? (node.childNodes ?? []) : []
    // Not by spreading it: there may be more children than a call has arguments.
    for (let n = children.length - 1; n >= 0; n--) waiting.push(children[n] as HtmlNode)
  }
}

export function attributeOf({ attrs }: HtmlNode, name: string): string | undefined {
  return attrs?.find((attribute) => attribute.name === name)?.value
}

/** Not for reading. What a ruby has beside its words would stand in the middle of them. */
const left = new Set(
  'head script style noscript template nav svg math iframe object embed canvas audio video map button select datalist textarea input dialog rt rp rtc'.split(
    ' ',
  ),
)
/** A page that is hidden as a whole is shown by a script, when it is loaded. */
const pages = new Set(['html', 'body'])
const leftRoles = new Set(['navigation', 'search', 'menu', 'menubar', 'toolbar', 'dialog'])
const blocks = new Set(
  'html body main article section aside header footer address div p blockquote center details summary dd dl dt fieldset figcaption figure form hgroup hr li ol ul menu table caption tbody thead tfoot tr'.split(
    ' ',
  ),
)
const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'])
const cells = new Set(['td', 'th'])
/** A footer in them is theirs: of a page, it is its foot. */
const footed = new Set('article section blockquote aside figure details td'.split(' '))
/** Their content stands on lines right below each other. */
const lined = new Set(['li', 'tr', 'dd', 'dt'])

/** The page's main part where it says which that is, else all of it but its foot. */
export function addHtml(builder: TextBuilder, tree: HtmlNode): void {
  const mains = [...nodesOf(tree, ({ nodeName }) => nodeName !== 'main')].filter(
    (node) => node.nodeName === 'main' && !isLeft(node),
  )
  if (mains.length > 0) for (const main of mains) new HtmlWalk(builder).walk(main)
  else new HtmlWalk(builder).walk(tree)
}

function isLeft(node: HtmlNode): boolean {
  if (left.has(node.nodeName)) return true
  if (node.attrs === undefined || node.attrs.length === 0) return false
  return (
    attributeOf(node, 'hidden') !== undefined ||
    attributeOf(node, 'aria-hidden') === 'true' ||
    leftRoles.has(attributeOf(node, 'role') ?? '') ||
    (!pages.has(node.nodeName) && isHiddenBy(attributeOf(node, 'style') ?? ''))
  )
}

/** Of each of the two properties the last declaration counts, or the last one that is important. */
function isHiddenBy(style: string): boolean {
  if (!/display|visibility/i.test(style)) return false
  const said = new Map<string, { readonly value: string; readonly isImportant: boolean }>()
  for (const declaration of style.replace(/\/\*.*?(?:\*\/|$)/gs, ' ').split(';')) {
    const at = declaration.indexOf(':')
    const name = declaration.slice(0, at).trim().toLowerCase()
    const given = declaration.slice(at + 1).toLowerCase()
    const value = given.replace(/!\s*important\s*$/, '').trim()
    const isImportant = value.length < given.trim().length
    if (at > 0 && (isImportant || said.get(name)?.isImportant !== true)) {
      said.set(name, { value, isImportant })
    }
  }
  const visibility = said.get('visibility')?.value
  return (
    said.get('display')?.value === 'none' || visibility === 'hidden' || visibility === 'collapse'
  )
}

/** Tables that put a page together: a heading stands in a cell of theirs, another table, or a listing. */
function layoutTablesIn(tree: HtmlNode): ReadonlySet<HtmlNode> {
  const found = new Set<HtmlNode>()
  /** What is open of tables, and of the heads of their columns, where headings are names. */
  const open: HtmlNode[] = []
  const waiting: Visit[] = [{ node: tree, isEnd: false }]
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const { node, isEnd } = visit
    if (isEnd) {
      open.pop()
      continue
    }
    const name = node.nodeName
    const around =
      name === 'table' ? open.findLast(({ nodeName }) => nodeName === 'table') : open.at(-1)
    const isOfPages = headings.has(name) || name === 'table' || name === 'pre'
    if (isOfPages && around?.nodeName === 'table') found.add(around)
    if (name === 'table' || name === 'th') {
      open.push(node)
      waiting.push({ node, isEnd: true })
    }
    const children = node.childNodes ?? []
    for (let n = children.length - 1; n >= 0; n--) {
      waiting.push({ node: children[n] as HtmlNode, isEnd: false })
    }
  }
  return found
}

type Visit = { readonly node: HtmlNode; readonly isEnd: boolean }

/** One after the other, without recursion: a tree may be as deep as it is long. */
class HtmlWalk {
  readonly #builder: TextBuilder
  /** Of the block under way. */
  #text = ''
  /** Whether the text under way ends in a line that is begun: to look at its end each time would copy all of it. */
  #isLineOpen = false
  /** Of the row under way: its cells. */
  #row: string[] | undefined
  /** The kind of the block that the text under way belongs to. */
  #open: string[] = []
  #heading: { readonly level: number; text: string } | undefined
  #preformatted = 0
  /** Of what has a foot of its own, how many are open. */
  #footed = 0
  #isLineBefore = false
  /** Of the tables that are open, whether each puts a page together. */
  readonly #layouts: boolean[] = []
  #layoutTables: ReadonlySet<HtmlNode> = new Set()

  constructor(builder: TextBuilder) {
    this.#builder = builder
  }

  walk(tree: HtmlNode): void {
    this.#layoutTables = layoutTablesIn(tree)
    const waiting: Visit[] = [{ node: tree, isEnd: false }]
    for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
      const { node, isEnd } = visit
      if (isEnd) {
        this.#leave(node.nodeName)
        continue
      }
      if (node.nodeName === '#text') this.#add((node.value ?? '').toWellFormed())
      else if (node.nodeName === '#document' || !node.nodeName.startsWith('#')) {
        if (isLeft(node) || (node.nodeName === 'footer' && this.#footed === 0)) continue
        this.#enter(node)
        waiting.push({ node, isEnd: true })
        const children = node.childNodes ?? []
        for (let n = children.length - 1; n >= 0; n--) {
          waiting.push({ node: children[n] as HtmlNode, isEnd: false })
        }
      }
    }
    this.#flush()
  }

  #enter(node: HtmlNode): void {
    this.#pageBreak(node)
    if (node.nodeName === 'table') this.#layouts.push(this.#layoutTables.has(node))
    const name = this.#roleOf(node.nodeName)
    if (name === 'br') this.#add(this.#row === undefined ? '\u2028' : ' ')
    else if (name === 'img') this.#add(' ')
    else if (headings.has(name) && this.#row === undefined) {
      this.#flush()
      this.#heading = { level: Number(name[1]), text: '' }
    } else if (name === 'pre') {
      this.#flush()
      this.#preformatted++
    } else if (name === 'tr') {
      this.#flush()
      this.#row ??= []
    } else if (cells.has(name)) {
      if (this.#row === undefined) this.#flush()
    } else if (blocks.has(name)) this.#flush()
    if (footed.has(name)) this.#footed++
    if (lined.has(name)) this.#open.push(name)
    if (name === 'ul' || name === 'ol' || name === 'table' || name === 'dl') {
      if (this.#open.length === 0) this.#isLineBefore = false
    }
  }

  /** Rows and cells of a table that puts a page together are blocks. */
  #roleOf(name: string): string {
    const isOfTable = name === 'tr' || cells.has(name)
    return isOfTable && this.#layouts.at(-1) === true ? 'div' : name
  }

  #leave(nodeName: string): void {
    const name = this.#roleOf(nodeName)
    if (name === 'table') this.#layouts.pop()
    if (headings.has(name) && this.#row === undefined) {
      const { level } = this.#heading ?? { level: 1 }
      this.#heading = undefined
      const text = this.#taken()
      const add = () => this.#builder.heading(text.replace(pageMarks, ''), level)
      // It is one piece: a page that begins in it begins behind it.
      this.#addByPage(text, add, () => {})
      this.#isLineBefore = false
    } else if (name === 'pre') {
      const text = settled(this.#took()).replaceAll('\u2028', '\n')
      this.#preformatted--
      this.#addByPage(text, (first) => this.#builder.preformatted(first))
    } else if (cells.has(name) && this.#row !== undefined) {
      this.#row.push(this.#taken())
    } else if (name === 'tr') {
      const row = this.#row ?? []
      this.#row = undefined
      const isEmpty = row.every((cell) => cell.replace(pageMarks, '').trim() === '')
      this.#text = row.join(isEmpty ? '' : ' | ')
      this.#isLineOpen = !isEmpty
      this.#flush()
    } else if (blocks.has(name)) this.#flush()
    if (footed.has(name)) this.#footed--
    if (lined.has(name)) this.#open.pop()
  }

  #add(text: string): void {
    this.#text += text
    if (text !== '') this.#isLineOpen = !/[\n\u2028]/.test(text.slice(-1))
  }

  #took(): string {
    const text = this.#text
    this.#text = ''
    this.#isLineOpen = false
    return text
  }

  /** What is under way, on one line. */
  #taken(): string {
    return settled(this.#took()).replace(/\s+/gu, ' ').trim()
  }

  #flush(): void {
    // Blocks in a heading, or in the cell of a row, are parts of it.
    if (this.#heading !== undefined || this.#row !== undefined) {
      this.#add(' ')
      return
    }
    if (this.#preformatted > 0) {
      if (this.#isLineOpen) this.#add('\n')
      return
    }
    const lines = settled(this.#took())
      .split('\u2028')
      .map((line) => line.replace(/\s+/gu, ' ').trim())
    const text = lines.join('\n').trim()
    if (text === '') return
    const kind = this.#open.at(-1)
    const add = (first: string) => {
      const marked = kind === 'li' ? `- ${first.trim()}` : first
      if (kind !== undefined && this.#isLineBefore) this.#builder.line(marked)
      else this.#builder.paragraph(marked)
    }
    if (this.#addByPage(text, add)) this.#isLineBefore = kind !== undefined
  }

  /** `add` gets what comes first of the text, `goOn` the rest. Whether there was more than marks of pages. */
  #addByPage(
    marked: string,
    add: (first: string) => void,
    goOn = (more: string) => this.#builder.goOn(more),
  ): boolean {
    let isAdded = false
    for (const [n, piece] of marked.split(pageMark).entries()) {
      if (n % 2 === 1) this.#builder.page(Number(piece))
      else if (isAdded) goOn(piece)
      else if (piece.trim() !== '') {
        add(piece)
        isAdded = true
      }
    }
    return isAdded
  }

  /** Books say where the pages of their printed edition begin. */
  #pageBreak(node: HtmlNode): void {
    if (node.attrs === undefined || node.attrs.length === 0) return
    const isBreak =
      (attributeOf(node, 'epub:type') ?? '').split(/\s+/).includes('pagebreak') ||
      attributeOf(node, 'role') === 'doc-pagebreak'
    if (!isBreak) return
    const label = attributeOf(node, 'title') ?? attributeOf(node, 'aria-label') ?? labelIn(node)
    const page = /^\D*(\d{1,6})\D*$/.exec(label)?.[1]
    if (page !== undefined) this.#text += `\uD800${page}\uD800`
  }
}

/** Where a page begins in the text under way: its number between halves of surrogate pairs, which no text has. */
const pageMark = /\uD800(\d+)\uD800/
const pageMarks = new RegExp(pageMark, 'g')
const pageMarksInGaps = /(?<!\s)\s*(?:\uD800\d+\uD800\s*)+/g

/** The marks right behind what is before them, so that white space around them is one gap. */
function settled(text: string): string {
  if (!text.includes('\uD800')) return text
  return text.replace(pageMarksInGaps, (found) => {
    return (found.match(pageMarks) ?? []).join('') + found.replace(pageMarks, '')
  })
}

const mostNodesOfLabel = 20
const mostLengthOfLabel = 1000

/** What stands in it, where that is short: they may be in each other, and all the text in them. */
function labelIn(tree: HtmlNode): string {
  let text = ''
  let count = 0
  for (const { nodeName, value = '' } of nodesOf(tree)) {
    if (nodeName === '#text') text += value
    if (++count > mostNodesOfLabel || text.length > mostLengthOfLabel) return ''
  }
  return text
}
