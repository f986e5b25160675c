// What operators watch, as Prometheus collects it.

import { negotiate } from '../../accept.js'
import { hasCode } from '../../errors.js'
import type { FlowQueue } from '../../flow/types.js'
import type { Health } from '../../health.js'
import { checkUnlimited } from '../access.js'
import type { Call } from '../call.js'
import { exposition, formats, gauge, type Family, type Sample } from '../metrics/exposition.js'
import { processMeasures } from '../metrics/measures.js'
import { answer } from '../reply.js'
import type { Exchange, Route } from '../routes.js'

interface MetricsRoutesOptions {
  readonly access: true | 'open'
  readonly health: (() => Promise<Health>) | undefined
  readonly flows: FlowQueue | undefined
}

const states = ['queued', 'active', 'delayed', 'done', 'dead'] as const

/** Each has six series, and a look at its first queued document. */
const mostFlows = 200

export function metricsRoutes(options: MetricsRoutesOptions): readonly Route[] {
  const { access, health, flows } = options
  const media = formats.map(({ mediaType }) => mediaType)
  const place = { method: 'GET', path: '/metrics', operation: 'metrics', media } as const
  if (access === 'open') return [{ ...place, access, run: send }]
  const run = async ({ call, principal }: Exchange) => {
    checkUnlimited(principal)
    await send(call)
  }
  return [{ ...place, access: 'read', run }]

  async function send(call: Call): Promise<void> {
    const format = negotiate(call.headers.accept, formats) ?? formats[0]
    const families = [...processMeasures().families]
    if (flows !== undefined) families.push(...(await ofFlows(flows)))
    if (health !== undefined) families.push(...ofHealth(await health()))
    const body = Buffer.from(exposition(families, format.isOpenMetrics))
    const headers = {
      'Content-Type': format.contentType,
      'Content-Length': body.byteLength,
      'Cache-Control': 'no-store',
    }
    await answer(call, 200, headers, body)
  }
}

async function ofFlows(flows: FlowQueue): Promise<readonly Family[]> {
  const jobs: Sample[] = []
  const ages: Sample[] = []
  for (const { id: flow } of (await flows.list()).slice(0, mostFlows)) {
    try {
      const stats = await flows.stats(flow)
      const age = await ageOfQueue(flows, flow)
      for (const state of states) jobs.push({ labels: { flow, state }, value: stats[state] })
      ages.push({ labels: { flow }, value: age })
    } catch (error) {
      // It was removed meanwhile.
      if (!hasCode(error, 'LK_FLOW_NOT_FOUND')) throw error
    }
  }
  return [
    {
      name: 'lorekeep_jobs',
      help: 'Jobs of a flow in each state; done are all that ever were.',
      type: 'gauge',
      samples: jobs,
    },
    {
      name: 'lorekeep_oldest_queued_seconds',
      help: 'How long the first document of the queue has waited; 0 where none waits.',
      type: 'gauge',
      samples: ages,
    },
  ]
}

/** In seconds. */
async function ageOfQueue(flows: FlowQueue, flow: string): Promise<number> {
  for await (const { createdAt } of flows.jobs({ flow, state: 'queued', limit: 1 })) {
    // Another machine's clock may be ahead.
    return Math.max(0, Date.now() - Date.parse(createdAt)) / 1000
  }
  return 0
}

function ofHealth({ ready, caches, index, freeBytes }: Health): readonly Family[] {
  const fills = Object.entries(caches)
  const ofCaches = (member: 'bytes' | 'maxBytes'): readonly Sample[] =>
    fills.map(([cache, fill]) => ({ labels: { cache }, value: fill[member] }))
  return [
    gauge('lorekeep_ready', '1 while work is taken, as /readyz says.', ready ? 1 : 0),
    {
      name: 'lorekeep_cache_bytes',
      help: 'Memory that caches hold.',
      type: 'gauge',
      samples: ofCaches('bytes'),
    },
    {
      name: 'lorekeep_cache_max_bytes',
      help: 'Memory that caches may hold.',
      type: 'gauge',
      samples: ofCaches('maxBytes'),
    },
    gauge('lorekeep_index_parts', 'Parts of the library that has most.', index.parts),
    gauge('lorekeep_index_waiting_segments', 'Segments that no part has yet.', index.waiting),
    gauge(
      'lorekeep_index_behind',
      '1 while imports wait for indexes and merges.',
      index.isBehind ? 1 : 0,
    ),
    ...(freeBytes === undefined
      ? []
      : [gauge('lorekeep_disk_free_bytes', 'What is left on the disk.', freeBytes)]),
  ]
}
