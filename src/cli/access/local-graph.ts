import type { GraphAccess } from './graph-access.js'
import { openLocalStore } from './local-store.js'

export async function openLocalGraph(
  data: string,
  configFile: string | undefined,
): Promise<GraphAccess> {
  const { knowledge, close } = await openLocalStore(data, false, configFile)
  return {
    match: (graph, pattern, options) => knowledge.graph(graph).match(pattern, options),
    count: (graph, pattern, options) => knowledge.graph(graph).count(pattern, options),
    nearest: (graph, vector, options) => knowledge.graph(graph).nearest(vector, options),
    retrieve: (graph, query) => knowledge.graph(graph).retrieve(query),
    async search(graph, query) {
      return { passages: await knowledge.graph(graph).search(query), truncated: false }
    },
    duplicates: (graph, options) => knowledge.graph(graph).duplicates(options),
    change: (how, graph, [a, b], options) => knowledge.graph(graph)[how](a, b, options),
    async sparql(graph, text, { accept, signal }) {
      const { createSparql } = await import('../../sparql/index.js')
      const answer = await createSparql().execute(knowledge.graph(graph), text, { accept, signal })
      if (answer.type === 'answer') return answer
      throw new Error(`the answer comes only as ${answer.offered.join(', ')}`)
    },
    index: (ref, options) => knowledge.index(ref, options),
    indexAll: (user, options) => knowledge.index({ user }, options),
    indexState: (ref) => knowledge.indexState(ref),
    indexStateOfAll: (user) => knowledge.indexState({ user }),
    async hasCores(user) {
      for await (const _core of knowledge.list({ user, limit: 1 })) return true
      return false
    },
    close,
  }
}
