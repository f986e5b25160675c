// `lorekeep index`: the index of a core, built or looked at.

import { performance } from 'node:perf_hooks'
import type { IndexState } from '../../../graph/types.js'
import { withGraph } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { interruptible, note } from '../../output/failure.js'
import { formatBytes, formatCounted } from '../../output/figures.js'
import { createIndexBar } from './index-bar.js'
import { printFields } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'

interface IndexCommandOptions extends AccessOptions {
  readonly user: string
  readonly state?: true
  readonly json?: true
}

export async function indexCore(id: string, options: IndexCommandOptions): Promise<void> {
  const ref = { user: options.user, id }
  if (options.state) {
    const state = await withGraph(options, (access) => access.indexState(ref))
    return options.json ? writeJson(state) : printState(state)
  }
  const start = performance.now()
  const state = await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const bar = createIndexBar()
      try {
        return await access.index(ref, { signal, onProgress: (progress) => bar.update(progress) })
      } finally {
        bar.stop()
      }
    }),
  )
  if (options.json) await writeJson(state)
  const counts = [
    formatCounted(state.triples, 'triple'),
    formatCounted(state.terms, 'term'),
    formatCounted(state.vectors, 'vector'),
    `${formatBytes(state.bytes)} in ${((performance.now() - start) / 1000).toFixed(1)} s`,
  ]
  note(`indexed '${id}' of '${options.user}': ${counts.join(', ')}`)
}

async function printState(state: IndexState): Promise<void> {
  await printFields([
    ['state', state.state],
    ['segments', `${state.indexedSegments} of ${state.segments}`],
    ['parts', String(state.parts)],
    ['triples', String(state.triples)],
    ['terms', String(state.terms)],
    ['vectors', `${state.vectors}, ${state.approximate} in an approximate index`],
    ['bytes', `${state.bytes} (${formatBytes(state.bytes)})`],
  ])
}
