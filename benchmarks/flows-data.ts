// The documents that all queues get: texts of words as base64, one metadata triple, users in turn.

import type { EncodedDocument } from '../src/flow/types.js'
import { Random } from '../test/fixtures/random.js'

export interface DocumentShape {
  /** Of the text, before base64. */
  readonly textBytes: number
  readonly users: number
}

const words =
  'the river ran between old houses and gardens where people of many trades worked at their ease in summer and told each other what they had seen on the way from market bridge or forest with nothing to hurry them'.split(
    ' ',
  )

export function createDocuments(count: number, shape: DocumentShape): EncodedDocument[] {
  return Array.from({ length: count }, (_, n) => createDocument(n, shape))
}

/** Always the same for the same number. */
export function createDocument(n: number, { textBytes, users }: DocumentShape): EncodedDocument {
  const id = documentId(n)
  return {
    id,
    metadata: [
      {
        s: { v: id, e: true },
        p: { v: 'http://purl.org/dc/terms/title', e: true },
        o: { v: `Document ${n}`, e: false },
      },
    ],
    charset: 'utf-8',
    text: Buffer.from(createText(n, textBytes)).toString('base64'),
    user: `user-${n % users}`,
    collection: 'default',
  }
}

export function documentId(n: number): string {
  return `http://example.org/documents/${n}`
}

/** Calls `work` for each item, so many calls being under way at once. */
export async function inFlight<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const next = async () => {
    for (let item = queue.next(); !item.done; item = queue.next()) await work(item.value)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

function createText(n: number, bytes: number): string {
  const random = new Random(n)
  let text = ''
  while (text.length < bytes) text += `${random.pick(words)} `
  return text.slice(0, bytes)
}
