// Documents and ids as programs give them to a vector store.

import { randomUUID } from 'node:crypto'
import type { DocumentInterface } from '@langchain/core/documents'
import { checkArgument } from '../door/options.js'
import { aName, aRule, aSignal } from '../door/rules.js'
import { checkDocuments, type NamedDocument } from './stored-document.js'

export const ids = aRule<readonly string[]>('an array of strings of 1 to 1,024 bytes', (value) => {
  return Array.isArray(value) && value.every((id) => aName(1024).holds(id))
})

export interface AddOptions {
  /** One for each document; by default the document's own, or a new one. What has it is replaced. */
  readonly ids?: readonly string[]
  /** Ends it: what was stored until then stays. */
  readonly signal?: AbortSignal
}

export interface DeleteOptions {
  readonly ids?: readonly string[]
  /** Deletes all that the store has. */
  readonly deleteAll?: true
}

export const addRules = { ids, signal: aSignal }
export const deleteRules = { ids, deleteAll: aRule<true>('true', (value) => value === true) }

/** @throws TypeError for other than one id for each; LorekeepError `LK_DOCUMENT_INVALID` */
export function namedDocuments(
  documents: readonly DocumentInterface[],
  given: readonly string[] | undefined,
  collection: string,
): NamedDocument[] {
  if (given !== undefined && given.length !== documents.length) {
    throw new TypeError(`there are ${given.length} ids for ${documents.length} documents`)
  }
  const named = documents.map((document, at): NamedDocument => {
    return { id: given?.[at] ?? document?.id ?? randomUUID(), document }
  })
  checkArgument(
    'the ids of documents',
    named.map(({ id }) => id),
    ids,
  )
  checkDocuments(named, collection)
  return named
}

/** With its place in the list. */
export function lastOfEach(named: readonly NamedDocument[]): (readonly [NamedDocument, number])[] {
  const last = new Map(named.map((document, at) => [document.id, [document, at] as const]))
  return [...last.values()]
}
