// `lorekeep index`: what is asked of a user's cores, or of one, is indexed or looked at.

import { performance } from 'node:perf_hooks'
import type { IndexOptions, IndexState, LibraryIndexState } from '../../../graph/types.js'
import { withGraph } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import type { GraphAccess } from '../../access/graph-access.js'
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

type State = IndexState | LibraryIndexState

export async function indexCore(
  id: string | undefined,
  options: IndexCommandOptions,
): Promise<void> {
  const { user } = options
  const stateOf = (access: GraphAccess): Promise<State> =>
    id === undefined ? access.indexStateOfAll(user) : access.indexState({ user, id })
  const index = (access: GraphAccess, how: IndexOptions): Promise<State> =>
    id === undefined ? access.indexAll(user, how) : access.index({ user, id }, how)
  if (options.state) {
    const state = await withGraph(options, stateOf)
    return options.json ? writeJson(state) : printState(state)
  }
  const start = performance.now()
  const state = await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const bar = createIndexBar()
      try {
        return await index(access, { signal, onProgress: (progress) => bar.update(progress) })
      } finally {
        bar.stop()
      }
    }),
  )
  if (options.json) await writeJson(state)
  const counts = [
    formatCounted(state.triples, 'triple'),
    formatCounted(state.vectors, 'vector'),
    formatCounted(state.passages, 'passage'),
    formatCounted(state.parts, 'part'),
    `${formatBytes(state.bytes)} in ${((performance.now() - start) / 1000).toFixed(1)} s`,
  ]
  const what = id === undefined ? `all of '${user}'` : `'${id}' of '${user}'`
  note(`indexed ${what}: ${counts.join(', ')}`)
}

async function printState(state: State): Promise<void> {
  const segments: [string, string] =
    'waiting' in state
      ? ['waiting', `${formatCounted(state.waiting.segments, 'segment')}`]
      : ['segments', `${state.indexedSegments} of ${state.segments}`]
  await printFields([
    ['state', state.state],
    segments,
    ['parts', String(state.parts)],
    ['triples', String(state.triples)],
    ['vectors', `${state.vectors}, ${state.approximate} in an approximate index`],
    ['passages', String(state.passages)],
    ['bytes', `${state.bytes} (${formatBytes(state.bytes)})`],
  ])
}
