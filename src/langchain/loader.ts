// A document loader of LangChain: the texts of cores, as passages or whole.

import { BaseDocumentLoader } from '@langchain/core/document_loaders/base'
import { Document } from '@langchain/core/documents'
import { checkOptions } from '../door/options.js'
import { aListOfTexts, aText, neverUndefined, oneOf } from '../door/rules.js'
import { hasCode } from '../errors.js'
import { passagePredicates } from '../vocabulary.js'
import { aKnowledgeStore, within, type LangchainKnowledge } from './stores.js'

export interface LorekeepLoaderOptions {
  readonly knowledge: Pick<LangchainKnowledge, 'graph' | 'corePage'>
  readonly user: string
  /** Ids of cores. All of the user's by default. */
  readonly cores?: readonly string[]
  readonly collection?: string
  /** What becomes a document: each passage (the default), or all passages of a text together. */
  readonly as?: 'passages' | 'texts'
}

const loaderRules = {
  knowledge: aKnowledgeStore,
  user: aText,
  cores: neverUndefined(aListOfTexts),
  collection: neverUndefined(aText),
  as: oneOf('passages', 'texts'),
}

interface TextPassage {
  readonly chunk: string
  readonly source: string
  readonly core: string
  readonly title?: string
  readonly heading?: string
  readonly page?: number
  readonly start?: number
  readonly end?: number
  readonly text: string
}

export class LorekeepLoader extends BaseDocumentLoader {
  readonly #options: LorekeepLoaderOptions

  /** @throws TypeError for options that cannot be */
  constructor(options: LorekeepLoaderOptions) {
    super()
    checkOptions('LorekeepLoader()', options, loaderRules, 'knowledge', 'user')
    this.#options = { ...options }
  }

  /** @throws LorekeepError as questions to graphs */
  override async load(): Promise<Document[]> {
    const documents: Document[] = []
    for await (const document of this.lazyLoad()) documents.push(document)
    return documents
  }

  /** Core by core, each of which is held: in the order of their ids, and of their texts. */
  async *lazyLoad(): AsyncGenerator<Document, void, undefined> {
    const { as = 'passages' } = this.#options
    for await (const core of this.#cores()) {
      const passages = await this.#passagesOf(core)
      if (as === 'passages') yield* passages.map(documentOfPassage)
      else yield* textsOf(passages)
    }
  }

  async *#cores(): AsyncGenerator<string, void, undefined> {
    const { knowledge, user, cores } = this.#options
    if (cores !== undefined) return yield* cores
    let after: string | undefined
    do {
      const page = await knowledge.corePage({ user, ...(after !== undefined && { after }) })
      yield* page.cores.map(({ id }) => id)
      after = page.next
    } while (after !== undefined)
  }

  async #passagesOf(core: string): Promise<TextPassage[]> {
    const said = await this.#saidIn(core)
    const passages = [...said.text].map(([chunk, { value: text }]): TextPassage => {
      const of = (role: Role, s = chunk) => said[role].get(s)?.value
      const source = of('partOf') ?? chunk
      return {
        ...{ source, chunk, core },
        ...member('title', of('title') ?? of('title', source)),
        ...member('heading', of('heading')),
        ...member('page', numberOf(of('page'))),
        ...member('start', numberOf(of('begin'))),
        ...member('end', numberOf(of('end'))),
        text,
      }
    })
    return passages.sort(inOrder)
  }

  /** All of it by one question, whose answer is of one moment. */
  async #saidIn(core: string): Promise<Said> {
    const { knowledge, user, cores, collection } = this.#options
    const said = Object.fromEntries(roles.map((role) => [role, new Map()])) as unknown as Said
    try {
      const graph = knowledge.graph({ user, ...within({ cores: [core], collection }) })
      if (!(await hasTexts(graph))) return said
      for await (const { s, p, o } of graph.match()) {
        const { role, rank } = (p.e && predicates.get(p.v)) || {}
        if (role === undefined || rank === undefined) continue
        const known = said[role].get(s.v)
        if (known === undefined || rank < known.rank) said[role].set(s.v, { value: o.v, rank })
      }
    } catch (error) {
      // Of all of the user's this one was deleted since they were listed.
      if (cores !== undefined || !hasCode(error, 'LK_CORE_NOT_FOUND')) throw error
    }
    return said
  }
}

/** What was imported as RDF may have millions of triples, and no passage. */
async function hasTexts(graph: ReturnType<LangchainKnowledge['graph']>): Promise<boolean> {
  for (const p of passagePredicates.text) {
    for await (const _ of graph.match({ p: { v: p, e: true } }, { limit: 1 })) return true
  }
  return false
}

const roles = ['text', 'partOf', 'title', 'heading', 'page', 'begin', 'end'] as const
type Role = (typeof roles)[number]
/** By role and subject. Of several predicates of a role the first in its list counts. */
type Said = Readonly<Record<Role, Map<string, { readonly value: string; readonly rank: number }>>>

const predicates: ReadonlyMap<string, { readonly role: Role; readonly rank: number }> = new Map(
  roles.flatMap((role) => passagePredicates[role].map((v, rank) => [v, { role, rank }] as const)),
)

function member<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: Value }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || Number.isNaN(Number(text)) ? undefined : Number(text)
}

function inOrder(a: TextPassage, b: TextPassage): number {
  if (a.source !== b.source) return a.source < b.source ? -1 : 1
  return (a.start ?? 0) - (b.start ?? 0) || (a.chunk < b.chunk ? -1 : 1)
}

function documentOfPassage({ text, ...metadata }: TextPassage): Document {
  return new Document({ id: metadata.chunk, pageContent: text, metadata })
}

/** They lie together. */
function* textsOf(passages: readonly TextPassage[]): Generator<Document, void, undefined> {
  for (let from = 0, to = 0; from < passages.length; from = to) {
    while (to < passages.length && passages[to]?.source === passages[from]?.source) to++
    yield whole(passages.slice(from, to))
  }
}

/** Between passages, where the text had white space that is none of theirs, is a line feed. */
function whole(passages: readonly TextPassage[]): Document {
  let [text, at] = ['', 0]
  for (const { text: own, start, end = at } of passages) {
    const isApart = start === undefined || start > at
    text += (text !== '' && isApart ? '\n' : '') + own.slice(Math.max(0, at - (start ?? at)))
    at = end
  }
  const { source, core, title } = passages[0] as TextPassage
  const metadata = { source, core, ...member('title', title) }
  return new Document({ id: source, pageContent: text, metadata })
}
