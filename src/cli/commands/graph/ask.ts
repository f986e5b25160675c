// `lorekeep ask`: what the cores have about a question, as a screen of it, as a tree, as Graphviz or as
// JSON.

import { withGraph } from '../../access/access.js'
import { answerOf } from '../../output/answer.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import { subgraphDot } from '../../output/graphviz.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { whyNothing } from './nearest.js'
import { writeJson, writeOut } from '../../output/output.js'
import { screenOf } from '../../output/screen.js'
import { subgraphTree } from '../../output/subgraph-tree.js'

interface AskCommandOptions extends GraphFlags {
  readonly entities?: number
  readonly triples?: number
  readonly depth?: number
  readonly maxTriples?: number
  readonly language?: readonly string[]
  readonly all?: true
  readonly dot?: true
  readonly config?: string
  readonly model?: string
  readonly modelUrl?: string
  readonly maxPromptLength?: number
}

export async function ask(words: readonly string[], options: AskCommandOptions): Promise<void> {
  const text = words.join(' ')
  const form = (['json', 'dot', 'all'] as const).filter((name) => options[name])
  if (form.length > 1) throw new UsageError(`--${form[0]} cannot be used with --${form[1]}`)
  const { entities, triples, depth, maxTriples, language: languages, model } = options
  if (model !== undefined) {
    if (options.dot || options.all) {
      throw new UsageError(`--${form[0]} cannot be used with --model`)
    }
    const { answerQuestion } = await import('./answer.js')
    return answerQuestion(
      { text, entities, triples, depth, maxTriples, languages },
      { ...options, model },
    )
  }
  for (const name of ['modelUrl', 'maxPromptLength'] as const) {
    if (options[name] === undefined) continue
    const flag = name === 'modelUrl' ? '--model-url' : '--max-prompt-length'
    throw new UsageError(`${flag} is for --model, which is missing`)
  }
  const { found, why } = await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const question = { text, entities, triples, depth, maxTriples, languages, signal }
      const found = await access.retrieve(graphOf(options), question)
      const isNothing = found.entities.length === 0 && !options.json
      return { found, why: isNothing ? await whyNothing(access, options, true) : undefined }
    }),
  )
  if (options.json) return writeJson(found)
  if (why !== undefined) {
    if (options.dot) await writeOut(subgraphDot(found))
    return note(why)
  }
  if (options.dot || options.all) {
    await writeOut(options.dot ? subgraphDot(found) : subgraphTree(found))
    const counts = [
      formatCounted(found.entities.length, 'entity', 'entities'),
      formatCounted(found.triples.length, 'triple'),
      formatCounted(found.sources.length, 'passage'),
    ]
    return note(counts.join(', '))
  }
  const answer = answerOf(text, found, screenOf(process.stdout))
  await writeOut(answer.text)
  note(answer.summary)
}
