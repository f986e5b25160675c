import { LorekeepError } from '../../errors.js'
import type { DocumentRef, FlowDefinition } from '../../flow/types.js'
import type { Lorekeep } from '../../lorekeep.js'
import type { FlowAccess } from './flow-access.js'
import { openLocalStore } from './local-store.js'

export async function openLocalFlows(
  data: string,
  flow: string,
  create: boolean,
  configFile?: string,
): Promise<FlowAccess> {
  return flowsIn(await openLocalStore(data, create, configFile), flow)
}

export function flowsIn({ flows, knowledge, close }: Lorekeep, flow: string): FlowAccess {
  const found = async (id: string) => {
    const job = await flows.job(id)
    // As a server has it, where the flow is a part of the path.
    if (job?.flow === flow) return job
    throw new LorekeepError('LK_JOB_NOT_FOUND', `'${id}' in the flow '${flow}'`)
  }

  return {
    define: (_id, definition) => flows.define(definition as FlowDefinition),
    list: () => flows.list(),
    get: async (id) => (await flows.get(id)) ?? noFlow(id),
    stats: (id) => flows.stats(id),
    setActive: (id, active) => (active ? flows.start(id) : flows.stop(id)),
    async remove(id) {
      if (!(await flows.remove(id))) noFlow(id)
    },

    load: (document) => flows.load(flow, document),
    run: () => flows.run({ flows: [flow] }),
    async watch({ user, signal, onConnected, onEvent }) {
      const events = flows.watch({ flow, signal, ...(user !== undefined && { user }) })
      await onConnected()
      for await (const event of events) onEvent(event)
    },

    jobs: (query) => flows.jobs({ flow, ...query }),
    jobPage: (query) => flows.jobPage({ flow, ...query }),
    job: found,
    retry: async (id) => flows.retry((await found(id)).id),
    cancel: async (id) => flows.cancel((await found(id)).id),

    documents: (user) => flows.documents({ user }),
    documentPage: (query) => flows.documentPage(query),
    async document(ref) {
      const status = (await flows.document(ref)) ?? noDocument(ref)
      const core = await knowledge.stat({ user: ref.user, id: ref.document })
      return { ...status, ...(core !== undefined && { core }) }
    },
    async removeDocument(ref) {
      if (!(await flows.removeDocument(ref))) noDocument(ref)
    },
    close,
  }
}

function noFlow(id: string): never {
  throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${id}'`)
}

function noDocument({ user, document }: DocumentRef): never {
  const detail = `user '${user}' has no document '${document}'`
  throw new LorekeepError('LK_DOCUMENT_NOT_FOUND', detail, { details: { document } })
}
