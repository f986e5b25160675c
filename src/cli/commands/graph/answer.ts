// `lorekeep ask --model`: an answer in words, as it comes, and the passages that it cites.

import { StreamedAnswer } from '../../../graph/answer/answer.js'
import type { Answer, AnswerQuery } from '../../../graph/types.js'
import { withGraph } from '../../access/access.js'
import { citedSources, terminalText } from '../../output/citations.js'
import { interruptible, note } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import { writeJson, writeOut } from '../../output/output.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { whyNoCores } from './nearest.js'

interface AnswerFlags extends GraphFlags {
  readonly model: string
  readonly modelUrl?: string
  readonly maxPromptLength?: number
  readonly config?: string
}

export async function answerQuestion(question: AnswerQuery, options: AnswerFlags): Promise<void> {
  const { model, modelUrl: url, maxPromptLength } = options
  const generate = { model, ...(url !== undefined && { url }) }
  await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const query = { ...question, generate, maxPromptLength, signal }
      // The model is asked from here, also about the cores of a server.
      const stream = new StreamedAnswer(query, (asked) => access.retrieve(graphOf(options), asked))
      if (options.json) return writeJson(await stream)
      const sources = await stream.sources()
      let last = ''
      try {
        for await (const piece of stream) {
          last = piece
          await writeOut(terminalText(piece))
        }
      } finally {
        if (last !== '' && !last.endsWith('\n')) await writeOut('\n')
      }
      const answer = await stream
      if (answer.text === '' && sources.length === 0) {
        return note((await whyNoCores(access, options)) ?? 'nothing was found: no model was asked')
      }
      await writeOut(citedSources(answer))
      note(summaryOf(answer))
    }),
  )
}

function summaryOf({ citations, unknown, sources }: Answer): string {
  const cited = new Set(citations.map(({ n }) => n)).size
  const wrong = [...new Set(unknown.map(({ n }) => `[${n}]`))].join(', ')
  const count = `${cited} of ${formatCounted(sources.length, 'passage')} cited`
  return wrong === '' ? count : `${count}; no passage is ${wrong}`
}
