// `lorekeep search`: passages that have the words of a question, as a screen of them or as JSON.

import { withGraph } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { writeJson, writeOut } from '../../output/output.js'
import { passagesOf } from '../../output/passages.js'
import { screenOf } from '../../output/screen.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { whyNoCores } from './nearest.js'

interface SearchCommandOptions extends GraphFlags {
  readonly k: number
  readonly document?: string
  readonly language?: readonly string[]
  readonly explain?: true
  readonly all?: true
}

export async function search(
  words: readonly string[],
  options: SearchCommandOptions,
): Promise<void> {
  if (options.json && options.all) throw new UsageError('--json cannot be used with --all')
  const { k, document, language: languages, explain } = options
  const question = { text: words.join(' '), k, document, languages, explain }
  const { found, truncated, why } = await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const { passages: found, truncated } = await access.search(graphOf(options), {
        ...question,
        signal,
      })
      const isNothing = found.length === 0 && !options.json
      const why = isNothing ? await whyNoCores(access, options) : undefined
      return { found, truncated, why: isNothing ? (why ?? 'no passage was found') : undefined }
    }),
  )
  if (options.json) {
    for (const passage of found) await writeJson(passage)
    if (truncated) note(whyCut(found.length))
    return
  }
  if (why !== undefined) return note(why)
  const { text, summary } = passagesOf(found, screenOf(process.stdout), options.all)
  await writeOut(text)
  note(summary)
  if (truncated) note(whyCut(found.length))
}

function whyCut(passages: number): string {
  return `the server's answer ends early, as the texts are long: behind these ${passages} there are more`
}
