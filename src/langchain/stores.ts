// What is asked of the stores: methods that those of a process and those of a server have alike.

import type { RemoteGraph, RemoteKnowledge } from '../client/index.js'
import { aRule, withMethods } from '../door/rules.js'
import type { CoreExport, CoreRef } from '../knowledge/types.js'
import type { ObjectId, ObjectImport, ObjectPage, ObjectQuery } from '../objects/types.js'

/** `knowledge` of a store in this process, or of `connect()`. */
export interface LangchainKnowledge {
  graph(query: {
    readonly user: string
    readonly cores?: readonly string[]
    readonly collection?: string
  }): Pick<RemoteGraph, 'match' | 'nearest' | 'retrieve'>
  import(ref: CoreRef, bytes: Uint8Array, options: { readonly mode: 'replace' }): Promise<unknown>
  export(ref: CoreRef): Promise<CoreExport>
  delete(ref: CoreRef): Promise<boolean>
  corePage: RemoteKnowledge['corePage']
}

/** `objects` of a store in this process, or of `connect()`. */
export interface LangchainObjects {
  defineSchema(definition: unknown): Promise<unknown>
  import(batch: ObjectImport, options: { readonly onDuplicate: 'replace' }): Promise<unknown>
  query(query: ObjectQuery): Promise<ObjectPage<object>>
  delete(collection: string, id: ObjectId): Promise<boolean>
}

export const aKnowledgeStore = withMethods<LangchainKnowledge>(
  'the knowledge of a store, or of connect()',
  ...(['graph', 'import', 'export', 'delete', 'corePage'] as const),
)

export const anObjectStore = withMethods<LangchainObjects>(
  'the objects of a store, or of connect()',
  ...(['defineSchema', 'import', 'query', 'delete'] as const),
)

/** What an asker of graphs may narrow the question to. */
export interface Within {
  readonly cores?: readonly string[] | undefined
  readonly collection?: string | undefined
}

/** Without members that are undefined. */
export function within({ cores, collection }: Within) {
  return { ...(cores !== undefined && { cores }), ...(collection !== undefined && { collection }) }
}

/** Options of theirs, which their classes look at. */
export const theirs = aRule<never>('whatever LangChain takes', () => true)

/** How much is under way at once, of a list that may be long. */
const mostAtOnce = 16

/** The results in the order of the items. After the first failure no other work is begun. */
export async function someAtOnce<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  let hasFailed = false
  const worker = async () => {
    for (const [at, item] of waiting) {
      if (hasFailed) return
      try {
        results[at] = await work(item, at)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const workers = Array.from({ length: Math.min(mostAtOnce, items.length) }, worker)
  // None is left under way when the first failure is told.
  for (const ended of await Promise.allSettled(workers)) {
    if (ended.status === 'rejected') throw ended.reason
  }
  return results
}
