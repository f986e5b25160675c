import type { CompletedDocument } from '../../flow/types.js'
import type { CoreStat } from '../../knowledge/types.js'
import type { SchemaDefinition } from '../../objects/types.js'
import { after, wrongArgument } from '../asking.js'
import { listing } from '../bounds.js'
import { choice, needed, text } from '../fields.js'
import { jsonLine } from '../passages.js'
import type { UserStores } from '../stores.js'
import { ofLists, tool } from '../tool.js'
import { plainJob } from './job.js'

const kinds = ['documents', 'cores', 'schemas', 'jobs'] as const
const itemsOfPage = 100

type Kind = (typeof kinds)[number]

interface Asked {
  readonly prefix: string | undefined
  readonly after: string | undefined
  readonly limit: number
}

interface Listed {
  readonly items: readonly object[]
  readonly next: string | undefined
}

export const list = tool({
  name: 'list',
  description:
    'What there is: documents that were processed, cores (graphs), schemas of objects, jobs (the newest first).',
  fields: {
    what: needed(choice(kinds)),
    prefix: text(1024, 'of ids; not of jobs'),
    after,
  },
  output: { items: { type: 'array', items: { type: 'object' } }, ...ofLists },
  always: ['items', 'truncated'],
  async run({ what, prefix, after }, { stores }) {
    const page = (limit: number) => pages[what](stores, { prefix, after, limit })
    const { items, next } = await page(itemsOfPage)
    return listing({
      name: 'items',
      items,
      textOf: jsonLine,
      heading: `${what}:`,
      nothing: `There are no ${what}.`,
      // A cursor stands behind the last of a page.
      next: async (shown) => (shown === items.length ? next : (await page(shown)).next),
    })
  },
})

const pages: Readonly<Record<Kind, (stores: UserStores, asked: Asked) => Promise<Listed>>> = {
  async documents(stores, asked) {
    const { documents, next } = await stores.documents(optionsOf(asked))
    return { items: documents.map(plainDocument), next }
  },
  async cores(stores, asked) {
    const { cores, next } = await stores.cores(optionsOf(asked))
    return { items: cores.map(plainCore), next }
  },
  async schemas(stores, asked) {
    const { schemas, next } = await stores.schemas(optionsOf(asked))
    return { items: schemas.map(plainSchema), next }
  },
  async jobs(stores, { prefix, after, limit }) {
    if (prefix !== undefined) throw wrongArgument('prefix', 'is not for jobs')
    const { jobs, next } = await stores.jobs({ limit, ...(after !== undefined && { after }) })
    return { items: jobs.map(plainJob), next }
  },
}

function optionsOf({ prefix, after, limit }: Asked) {
  return {
    limit,
    ...(prefix !== undefined && { prefix }),
    ...(after !== undefined && { after }),
  }
}

function plainDocument({ document, completed }: CompletedDocument) {
  return { document, at: completed.at, collection: completed.collection }
}

function plainCore({ id, triples, entities, updatedAt }: CoreStat) {
  return { core: id, triples, entities, updatedAt }
}

function plainSchema({ name, description, fields }: SchemaDefinition) {
  const types = Object.entries(fields).map(([field, { type }]) => [field, type])
  return {
    schema: name,
    ...(description !== undefined && { description }),
    fields: Object.fromEntries(types) as object,
  }
}
