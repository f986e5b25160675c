// One library of many kinds of text: a novel, an encyclopedia, abstracts, a vocabulary, records of a shop, and
// entries of a manual that are made here, each with an identifier that differs little from those of others.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MemoryBackend } from '../adapters/memory.js'
import { createLorekeep } from '../src/index.js'
import type { Random } from '../test/fixtures/random.js'
import { cran, hotpot } from './retrieval-data.js'

const file = (name: string) =>
  fileURLToPath(new URL(`../../../shared/data/${name}`, import.meta.url))

export interface RareText {
  readonly kind: 'novel' | 'encyclopedia' | 'abstract' | 'vocabulary' | 'record' | 'manual'
  /** Empty where nobody says it. */
  readonly title: string
  readonly text: string
  /** What alone this text is about, where it was made of such. */
  readonly identifiers: readonly string[]
}

/** Undefined where the files are not here. */
export async function rareTexts(random: Random): Promise<readonly RareText[] | undefined> {
  const [encyclopedia, abstracts] = [hotpot(), cran()]
  const [novel, terms] = [file('news-from-nowhere.txt'), file('schemaorg-30.0.nq')]
  if (!encyclopedia || !abstracts || !existsSync(novel) || !existsSync(terms)) return undefined
  const plain = (kind: RareText['kind']) => (each: { title: string; text: string }) => {
    const text = each.text.trim() === '' ? each.title : each.text
    return { kind, title: each.title, text, identifiers: [] }
  }
  const sentences = abstracts.passages.flatMap(({ text }) => text.split(/ \. +/)).filter(isSentence)
  return [
    plain('novel')({ title: 'News from Nowhere', text: readFileSync(novel, 'utf8') }),
    ...encyclopedia.passages.map(plain('encyclopedia')),
    ...abstracts.passages.map(plain('abstract')),
    ...vocabulary(readFileSync(terms, 'utf8')),
    ...(await records(['urn-products1.core', 'urn-customers1.core'].map(file))),
    ...manual(sentences, random),
  ]
}

function isSentence(text: string): boolean {
  return text.length > 60 && text.length < 300
}

const comment = /^<(https:\/\/schema\.org\/(\w+))> <\S+#comment> "((?:[^"\\]|\\.)+)"/gm

/** A term with what is said of it. */
function vocabulary(quads: string): RareText[] {
  return [...quads.matchAll(comment)].map(([, uri = '', name = '', said = '']) => {
    const text = `${name} (${uri}): ${said.replace(/\\[nrt]/g, ' ').replace(/\\(.)/g, '$1')}`
    return { kind: 'vocabulary', title: '', text, identifiers: [name, uri] }
  })
}

/** A text of each subject of a core: `name of a predicate: value`, line by line. */
async function records(paths: readonly string[]): Promise<RareText[]> {
  const lines = new Map<string, string[]>()
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  for (const path of paths) {
    await keep.knowledge.import({ user: 'rare', id: path }, readFileSync(path))
  }
  for await (const { s, p, o } of keep.knowledge.graph({ user: 'rare' }).match({})) {
    const [name = ''] = /\w+$/.exec(p.v) ?? []
    lines.set(s.v, [...(lines.get(s.v) ?? [s.v]), `${name}: ${o.v}`])
  }
  const texts = [...lines.values()].map((said) => said.join('\n'))
  return texts.map((text) => {
    const codes = [...text.matchAll(/^(?:sku|orderID|customerID|email|name): (.+)$/gm)]
    const identifiers = codes.map(([, code = '']) => code)
    return { kind: 'record', title: '', text, identifiers }
  })
}

const digits = (random: Random, length: number) =>
  Array.from({ length }, () => random.below(10)).join('')

/** Each makes an identifier of a few parts, most of which others of its kind have as well. */
const shapes: readonly ((random: Random) => string)[] = [
  (r) =>
    `LK_${r.pick(['STORAGE', 'GRAPH', 'FLOW', 'IMPORT'])}_${r.pick(['CORRUPT', 'FULL', 'LOST', 'CLOSED', 'TIMEOUT'])}`,
  (r) => `${r.below(3)}.${r.below(12)}.${r.below(12)}`,
  (r) => `v${1 + r.below(3)}.${r.below(9)}.0-rc.${r.below(9)}`,
  (r) => `978-${r.below(10)}-${digits(r, 3)}-${digits(r, 5)}-${r.below(10)}`,
  (r) =>
    `/etc/${r.pick(['lorekeep', 'nginx', 'cron'])}/${r.pick(['flows', 'users', 'backup'])}-${digits(r, 2)}.conf`,
  (r) => `C:\\Data\\${r.pick(['cores', 'objects'])}\\part${digits(r, 3)}.bin`,
  (r) =>
    `https://example.org/docs/${r.pick(['api', 'cli', 'http'])}/${r.pick(['import', 'export'])}?page=${digits(r, 2)}`,
  (r) =>
    `${r.pick(['anna', 'boris', 'chloe'])}.${r.pick(['meyer', 'smith', 'weber'])}${digits(r, 2)}@example.${r.pick(['com', 'org', 'net'])}`,
  (r) => `${r.pick(['AX', 'BX', 'CX'])}-${digits(r, 4)}-${r.pick(['A', 'B', 'C'])}`,
  (r) => `10.${r.below(4)}.${r.below(9)}.${r.below(250)}`,
  (r) => `${digits(r, 4)}-${digits(r, 4)}-4${digits(r, 3)}`,
  (r) =>
    `${r.pick(['read', 'write', 'close'])}${r.pick(['Block', 'Page', 'Core'])}${r.pick(['Async', 'Sync', 'Lazily'])}${r.below(9)}`,
  (r) =>
    `${r.pick(['max', 'min', 'first'])}_${r.pick(['block', 'page', 'core'])}_${r.pick(['bytes', 'count', 'age'])}_${r.below(9)}`,
  (r) =>
    `--${r.pick(['no', 'with', 'only'])}-${r.pick(['index', 'vectors', 'names'])}-${r.pick(['cache', 'check', 'merge'])}`,
  (r) => `${r.pick(['C++', 'C#', 'F#'])} ${1 + r.below(23)}`,
  (r) => `.NET ${1 + r.below(9)}.${r.below(9)}`,
]

const entriesOfShape = 12

/** Entries with one identifier each, among sentences that are in none of the other texts together. */
function manual(sentences: readonly string[], random: Random): RareText[] {
  const made = new Set<string>()
  for (const shape of shapes) {
    const ofShape = new Set<string>()
    while (ofShape.size < entriesOfShape) ofShape.add(shape(random))
    for (const code of ofShape) made.add(code)
  }
  return [...made].map((code) => {
    const [before, after] = [random.pick(sentences), random.pick(sentences)]
    const text = `${before}. ${random.pick(['See', 'About', 'Since', 'As in'])} ${code}, ${after}.`
    return { kind: 'manual', title: '', text, identifiers: [code] }
  })
}
