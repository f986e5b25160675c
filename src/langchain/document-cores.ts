// The cores that the documents of one vector store are.

import type { Document } from '@langchain/core/documents'
import { hasCode, LorekeepError } from '../errors.js'
import type { EntityPattern, NearEntity } from '../graph/types.js'
import type { Triple, Vector } from '../types.js'
import { decodeDocument, documentOf, encodeDocument, iri } from './stored-document.js'
import {
  isNamed,
  nameOf,
  prefixOf,
  type DecodedDocument,
  type NamedDocument,
} from './stored-document.js'
import { someAtOnce, type LangchainKnowledge } from './stores.js'

/** Of one page. */
const listed = 1000

export class DocumentCores {
  readonly #knowledge: LangchainKnowledge
  readonly #user: string
  readonly #collection: string
  /** Of each vector that is stored, once it is known. */
  #dimensions: number | undefined

  constructor(knowledge: LangchainKnowledge, user: string, collection: string) {
    this.#knowledge = knowledge
    this.#user = user
    this.#collection = collection
  }

  /** Each in the place of what has its id. @throws LorekeepError, and the signal's reason */
  async put(
    documents: readonly NamedDocument[],
    vectors: readonly Vector[],
    signal: AbortSignal,
  ): Promise<void> {
    if (vectors[0] !== undefined) await this.#checkLength(vectors[0].length)
    const collection = this.#collection
    await someAtOnce(documents, async (document, at) => {
      signal.throwIfAborted()
      const name = nameOf(collection, document.id)
      const bytes = encodeDocument(document, { name, collection, vector: vectors[at] as Vector })
      await this.#knowledge.import({ user: this.#user, id: name }, bytes, { mode: 'replace' })
    })
  }

  /** Those that are there. */
  async delete(ids: readonly string[]): Promise<void> {
    const collection = this.#collection
    const possible = [...new Set(ids)].filter((id) => isNamed(collection, id))
    await this.#remove(possible.map((id) => nameOf(collection, id)))
  }

  async deleteAll(): Promise<void> {
    for (let names = await this.#names(listed); names.length > 0;) {
      await this.#remove(names)
      names = await this.#names(listed)
    }
    this.#dimensions = undefined
  }

  /** Of each way the nearest, best first, as many as `k` in all. */
  async nearest(
    query: Vector,
    k: number,
    ways: readonly EntityPattern[][],
  ): Promise<readonly NearEntity[]> {
    await this.#checkLength(query.length)
    const graph = this.#graph()
    const found = await someAtOnce(ways, (where) =>
      graph.nearest(query, { k, ...(where.length > 0 && { where }) }),
    )
    if (found.length === 1) return found[0] as NearEntity[]
    const each = new Map(found.flat().map((near) => [near.entity.v, near]))
    return [...each.values()].sort((a, b) => b.score - a.score).slice(0, k)
  }

  /** Undefined where there is none of that name. */
  async read(name: string): Promise<Document | undefined> {
    const triples: Triple[] = []
    for await (const triple of this.#graph().match({ s: iri(name) })) triples.push(triple)
    return documentOf(triples)
  }

  readId(id: string): Promise<Document | undefined> {
    return this.read(nameOf(this.#collection, id))
  }

  /** With its vector. */
  async decode(id: string): Promise<DecodedDocument | undefined> {
    try {
      return await decodeDocument(await this.#knowledge.export({ user: this.#user, id }))
    } catch (error) {
      // Somebody deleted it since it was found.
      if (hasCode(error, 'LK_CORE_NOT_FOUND')) return undefined
      throw error
    }
  }

  /** A model with other vectors would find nothing, and nobody would know why. */
  async #checkLength(length: number): Promise<void> {
    if (length === this.#dimensions) return
    const [name] = await this.#names(1)
    const { vector } = (name === undefined ? undefined : await this.decode(name)) ?? {}
    this.#dimensions = vector?.length
    if (vector === undefined || length === vector.length) return
    const message = `vectors have ${length} dimensions, and those that are stored ${vector.length}`
    throw new LorekeepError('LK_STEP_OUTPUT', message)
  }

  async #remove(names: readonly string[]): Promise<void> {
    await someAtOnce(names, (id) => this.#knowledge.delete({ user: this.#user, id }))
  }

  #graph() {
    return this.#knowledge.graph({ user: this.#user, collection: this.#collection })
  }

  async #names(limit: number): Promise<string[]> {
    const prefix = prefixOf(this.#collection)
    const { cores } = await this.#knowledge.corePage({ user: this.#user, prefix, limit })
    return cores.map(({ id }) => id)
  }
}
