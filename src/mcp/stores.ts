// What tools ask: the stores as one user has them. Of a process, narrowed by a scope; of a server, by its token.

import type { RemoteGraph } from '../client/index.js'
import { LorekeepError } from '../errors.js'
import type {
  CompletedDocumentPage,
  DocumentStatus,
  FlowQueue,
  Job,
  JobPage,
  JobState,
  PlainDocument,
} from '../flow/types.js'
import type { CorePage, CoreStat, KnowledgeStore } from '../knowledge/types.js'
import type {
  FoundFields,
  ObjectPage,
  ObjectQuery,
  ObjectStore,
  SchemaDefinition,
  SchemaPage,
} from '../objects/types.js'
import type { NamedPageOptions, PageOptions } from '../paging.js'
import type { Scope } from '../scope.js'

export interface UserStores {
  /** Of the cores that are named, or all of the user's. */
  graph(asked: AskedGraph): UserGraph
  cores(page: NamedPageOptions): Promise<CorePage>
  core(id: string): Promise<CoreStat | undefined>
  query(query: ObjectQuery): Promise<ObjectPage<FoundFields>>
  schemas(page: NamedPageOptions): Promise<SchemaPage>
  schema(name: string): Promise<SchemaDefinition | undefined>
  job(id: string): Promise<Job | undefined>
  /** The newest first. */
  jobs(page: PageOptions & { readonly state?: JobState }): Promise<JobPage>
  documents(page: NamedPageOptions): Promise<CompletedDocumentPage>
  document(id: string): Promise<DocumentStatus | undefined>
  /** Resolves when it is durable. */
  load(document: Omit<PlainDocument, 'user'>): Promise<{ readonly job: string }>
}

export interface AskedGraph {
  readonly cores?: readonly string[]
  readonly collection?: string
}

export type UserGraph = Pick<RemoteGraph, 'search' | 'retrieve' | 'match' | 'neighbours' | 'solve'>

interface Owner {
  readonly user: string
  /** The flow that texts go to. */
  readonly flow: string
}

/** Of a process, or of a server, which has its scope by the token. */
export interface AskedStores {
  readonly knowledge: Pick<KnowledgeStore, 'corePage' | 'stat'> & {
    graph(asked: { readonly user: string } & AskedGraph): UserGraph
  }
  readonly objects: Pick<ObjectStore, 'query' | 'schemaPage' | 'schema'>
  readonly flows: Pick<FlowQueue, 'job' | 'jobPage' | 'documentPage' | 'document'> & {
    load(
      flow: string,
      document: PlainDocument,
      options?: { readonly scope?: Scope; readonly signal?: AbortSignal },
    ): Promise<{ readonly job: string }>
  }
}

interface Asker extends Owner {
  /** What lies outside of it is not there; of a server none is given. */
  readonly scope?: Scope
  /** The collection that is asked where that one is named; whichever may be by default. */
  readonly collectionOf?: (named: string | undefined) => string | undefined
}

export function userStores(
  { knowledge, objects, flows }: AskedStores,
  { user, flow, scope, collectionOf = (named) => named }: Asker,
): UserStores {
  const within = scope === undefined ? {} : { scope }
  return {
    graph({ cores, collection: named }) {
      const collection = collectionOf(named)
      return knowledge.graph({
        user,
        ...(cores !== undefined && { cores }),
        ...(collection !== undefined && { collection }),
      })
    },
    cores: (page) => knowledge.corePage({ user, ...page }),
    core: (id) => knowledge.stat({ user, id }),
    query: (query) => objects.query(query, scope),
    schemas: (page) => objects.schemaPage(page),
    schema: (name) => objects.schema(name),
    job: async (id) => ownJob(await flows.job(id, within), user),
    jobs: (page) => flows.jobPage({ user, ...within, order: 'desc', ...page }),
    documents: (page) => flows.documentPage({ user, ...within, ...page }),
    document: (document) => flows.document({ user, document }, within),
    load: (document) => flows.load(flow, { user, ...document }, within),
  }
}

/** The core of a document, in the collection that a flow put it in: a token for several has to name one. */
export async function graphOfDocument(
  stores: UserStores,
  document: string,
): Promise<AskedGraph & Required<Pick<AskedGraph, 'cores'>>> {
  const collection = (await stores.document(document))?.completed?.collection
  return { cores: [document], ...(collection !== undefined && { collection }) }
}

/** A token that acts for any user sees the jobs of all. */
function ownJob(job: Job | undefined, user: string): Job | undefined {
  return job?.user === user ? job : undefined
}

/** @throws LorekeepError `LK_JOB_NOT_FOUND` */
export function foundJob(job: Job | undefined, id: string): Job {
  if (job !== undefined) return job
  throw new LorekeepError('LK_JOB_NOT_FOUND', `'${id}'`, { details: { job: id } })
}
