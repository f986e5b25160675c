// `lorekeep ask`: what the cores have about a question, as a tree, as Graphviz or as JSON.

import { withGraph } from '../access/access.js'
import { interruptible, note, UsageError } from '../output/failure.js'
import { formatCounted } from '../output/figures.js'
import { subgraphDot } from '../output/graphviz.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { nothingNear } from './nearest.js'
import { writeJson, writeOut } from '../output/output.js'
import { subgraphTree } from '../output/subgraph-tree.js'

export interface AskCommandOptions extends GraphFlags {
  readonly entities?: number
  readonly triples?: number
  readonly depth?: number
  readonly maxTriples?: number
  readonly dot?: true
  readonly config?: string
}

export async function ask(text: string, options: AskCommandOptions): Promise<void> {
  if (options.json && options.dot) throw new UsageError('--json cannot be used with --dot')
  const { entities, triples, depth, maxTriples } = options
  const found = await withGraph(options, (access) =>
    interruptible((signal) =>
      access.retrieve(graphOf(options), { text, entities, triples, depth, maxTriples, signal }),
    ),
  )
  if (options.json) return writeJson(found)
  await writeOut(options.dot ? subgraphDot(found) : subgraphTree(found))
  if (found.entities.length === 0) return note(nothingNear)
  const counts = [
    formatCounted(found.entities.length, 'entity', 'entities'),
    formatCounted(found.triples.length, 'triple'),
    formatCounted(found.sources.length, 'passage'),
  ]
  note(counts.join(', '))
}
