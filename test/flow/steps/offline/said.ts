// What the offline extractor says of a text, but for what stands near each other, for its tests.

import { offlineExtractor } from '../../../../src/flow/steps/offline-extractor.js'
import type { Term } from '../../../../src/types.js'

const extractor = offlineExtractor()

/** `subject | relation | object`, in the text's words; a literal has its datatype in brackets. */
export async function saidIn(text: string, title?: string): Promise<string[]> {
  const term = (v: string): Term => ({ v, e: true })
  const named = title === undefined ? {} : { title }
  const { triples } = await extractor(
    { index: 0, start: 0, end: text.length, text },
    {
      signal: new AbortController().signal,
      document: { id: 'd', user: 'u', collection: 'c', ...named, metadata: [], text },
      source: term('document'),
      entity: term,
      relation: term,
    },
  )
  return triples
    .map(({ s, p, o }) => [s.v, localName(p.v), o.dt ? `${o.v} (${localName(o.dt)})` : o.v])
    .filter(([, relation]) => relation !== 'related' && relation !== 'mainEntity')
    .map((parts) => parts.join(' | '))
}

function localName(uri: string): string {
  return uri.slice(Math.max(uri.lastIndexOf('#'), uri.lastIndexOf('/')) + 1)
}
