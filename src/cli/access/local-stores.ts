import type { JsonObject } from '../../types.js'
import { openLocalStore } from './local-store.js'
import type { Stores } from './stores.js'

export async function openLocalStores(
  data: string,
  create: boolean,
  configFile: string | undefined,
): Promise<Stores> {
  const { knowledge, objects, flows, close } = await openLocalStore(data, create, configFile)
  return {
    knowledge,
    objects,
    flows,
    importObjects: ({ objects: values, ...batch }, options) =>
      // The store checks what it is given; whether these are objects is for it to say.
      objects.import({ ...batch, values: values.map(({ value }) => value as JsonObject) }, options),
    load: (flow, document) => flows.load(flow, document),
    run: (flow) => flows.run({ flows: [flow] }),
    async watch(flow, { user, signal, onConnected, onEvent }) {
      const events = flows.watch({ flow, signal, ...(user !== undefined && { user }) })
      await onConnected()
      for await (const event of events) onEvent(event)
    },
    async sparql(graph, text, { accept, signal }) {
      const { createSparql } = await import('../../sparql/index.js')
      const answer = await createSparql().execute(knowledge.graph(graph), text, { accept, signal })
      if (answer.type === 'answer') return answer
      throw new Error(`the answer comes only as ${answer.offered.join(', ')}`)
    },
    close,
  }
}
