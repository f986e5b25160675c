// Resources: documents, cores and schemas, under URIs that assistants can keep.

import { LorekeepError } from '../errors.js'
import { wrongArgument } from './asking.js'
import { cut } from './bounds.js'
import { textOfDocument } from './document-text.js'
import { graphOfDocument, type UserStores } from './stores.js'
import type { Asker } from './tool.js'
import { match } from './tools/match.js'

export interface ResourcePage {
  readonly resources: readonly {
    readonly uri: string
    readonly name: string
    readonly mimeType: string
  }[]
  readonly nextCursor?: string
}

export interface ResourceContents {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/** What one reading of a document or a schema gives, in UTF-16 code units: some 8,000 tokens of English. */
export const lengthOfReading = 32_000
/** Of a page of the list, whichever it comes to first. */
const [itemsOfPage, mostBytesOfPage] = [100, 32_000]
const longestName = 200

const [plain, json] = ['text/plain', 'application/json']

export const templates = [
  {
    name: 'document',
    uriTemplate: 'lorekeep://document/{id}{?from}',
    description: 'The text of a document, from an offset on.',
    mimeType: plain,
  },
  {
    name: 'core',
    uriTemplate: 'lorekeep://core/{id}{?after,collection}',
    description: 'How much a core has, and its triples, page by page.',
    mimeType: json,
  },
  {
    name: 'schema',
    uriTemplate: 'lorekeep://schema/{name}{?from}',
    description: 'A schema of objects, as JSON from an offset on.',
    mimeType: json,
  },
]

interface Kind {
  readonly mimeType: string
  ids(
    stores: UserStores,
    page: Asked,
  ): Promise<{ readonly ids: readonly string[]; readonly next?: string }>
  read(id: string, query: URLSearchParams, asker: Asker): Promise<string>
}

interface Asked {
  readonly limit: number
  readonly after?: string
}

const kinds: Readonly<Record<string, Kind>> = {
  document: {
    mimeType: plain,
    async ids(stores, page) {
      const { documents, next } = await stores.documents(page)
      return { ids: documents.map(({ document }) => document), ...(next !== undefined && { next }) }
    },
    async read(id, query, { stores, signal }) {
      const from = offsetIn(query)
      const { text, next } = await textOfDocument(stores, id, {
        from,
        most: lengthOfReading,
        signal,
      })
      return piece(text, next, uriOf('document', id))
    },
  },
  core: {
    mimeType: json,
    async ids(stores, page) {
      const { cores, next } = await stores.cores(page)
      return { ids: cores.map(({ id }) => id), ...(next !== undefined && { next }) }
    },
    async read(id, query, asker) {
      const core = await asker.stores.core(id)
      if (core === undefined)
        throw new LorekeepError('LK_CORE_NOT_FOUND', `'${cut(id, longestName)}'`)
      const [after, collection] = [query.get('after'), query.get('collection')]
      const within =
        collection === null ? await graphOfDocument(asker.stores, id) : { cores: [id], collection }
      const { object } = await match.run({ ...within, ...(after !== null && { after }) }, asker)
      const { triples, entities, createdAt, updatedAt } = core
      return JSON.stringify({
        core: id,
        counts: { triples, entities },
        createdAt,
        updatedAt,
        ...object,
      })
    },
  },
  schema: {
    mimeType: json,
    async ids(stores, page) {
      const { schemas, next } = await stores.schemas(page)
      return { ids: schemas.map(({ name }) => name), ...(next !== undefined && { next }) }
    },
    async read(name, query, { stores }) {
      const schema = await stores.schema(name)
      if (schema === undefined)
        throw new LorekeepError('LK_SCHEMA_NOT_FOUND', `'${cut(name, longestName)}'`)
      const whole = JSON.stringify(schema)
      const from = offsetIn(query)
      const end = from + lengthOfReading
      const next = end < whole.length ? end : undefined
      return piece(whole.slice(from, end).toWellFormed(), next, uriOf('schema', name))
    },
  },
}

/**
 * Documents first, then cores and schemas. The cursor is of the list of one kind, behind its name.
 * @throws LorekeepError `LK_CURSOR`
 */
export async function listResources(
  stores: UserStores,
  cursor: string | undefined,
): Promise<ResourcePage> {
  const names = Object.keys(kinds)
  const [, name = '', after = ''] = /^(\w+):(.*)$/s.exec(cursor ?? 'document:') ?? []
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (kind === undefined)
    throw new LorekeepError('LK_CURSOR', 'it is none of the list of resources')
  const page = (limit: number) => kind.ids(stores, { limit, ...(after !== '' && { after }) })
  const whole = await page(itemsOfPage)
  const all = whole.ids.map((id) => ({
    uri: uriOf(name, id),
    name: cut(id, longestName),
    mimeType: kind.mimeType,
  }))
  const resources = all.slice(0, howManyFit(all))
  // A cursor stands behind the last of a page.
  const { next } = resources.length === all.length ? whole : await page(resources.length)
  const following = next === undefined ? names[names.indexOf(name) + 1] : name
  return {
    resources,
    ...(following !== undefined && { nextCursor: `${following}:${next ?? ''}` }),
  }
}

/** At least one, which is never as long: ids have 1,024 bytes, and percent-encoded three times as many. */
function howManyFit(resources: ResourcePage['resources']): number {
  let bytes = 0
  const over = resources.findIndex((resource) => {
    bytes += Buffer.byteLength(JSON.stringify(resource)) + 1
    return bytes > mostBytesOfPage
  })
  return over === -1 ? resources.length : over
}

/** @throws LorekeepError where there is no such thing */
export async function readResource(uri: string, asker: Asker): Promise<ResourceContents> {
  const [, name = '', id = '', query] =
    /^lorekeep:\/\/(\w+)\/([^?#/]+)(?:\?([^#]*))?$/.exec(uri) ?? []
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  const decoded = decode(id)
  if (kind === undefined || decoded === undefined) {
    const message = `is none of ${templates.map(({ uriTemplate }) => uriTemplate).join(', ')}`
    throw wrongArgument('uri', message)
  }
  const text = await kind.read(decoded, new URLSearchParams(query), asker)
  return { uri, mimeType: kind.mimeType, text }
}

export function uriOf(kind: string, id: string): string {
  return `lorekeep://${kind}/${encodeURIComponent(id.toWellFormed())}`
}

function piece(text: string, next: number | undefined, uri: string): string {
  return next === undefined ? text : `${text}\n\n[it goes on: ${uri}?from=${next}]`
}

function offsetIn(query: URLSearchParams): number {
  const from = query.get('from') ?? '0'
  if (/^\d{1,15}$/.test(from)) return Number(from)
  throw wrongArgument('from', 'must be an offset in UTF-16 code units')
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
