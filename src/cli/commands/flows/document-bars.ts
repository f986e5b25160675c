// A progress bar on stderr for each document under way, where that is a terminal.

import cliProgress from 'cli-progress'
import type { JobEvent } from '../../../flow/types.js'
import { barStyle } from '../../output/bar-style.js'
import { note } from '../../output/failure.js'
import { printable } from '../../output/figures.js'

interface DocumentBars {
  show(event: JobEvent): void
  /** A line among the bars. */
  print(line: string): void
  /** Takes the job's bar away. */
  end(job: string): void
  /** Takes all bars away; call it before anything is printed in other ways. */
  stop(): void
}

const longestName = 40

/** Without `enabled`, or a terminal, lines alone. */
export function createDocumentBars(enabled: boolean): DocumentBars {
  if (!enabled || !process.stderr.isTTY) return { show() {}, print: note, end() {}, stop() {} }
  const all = new cliProgress.MultiBar({
    ...barStyle,
    format: '{bar} {step} | {name}',
    // The command ends by itself on a signal, and takes them away.
    gracefulExit: false,
    emptyOnZero: true,
  })
  const bars = new Map<string, cliProgress.SingleBar>()

  const end = (job: string) => {
    const bar = bars.get(job)
    if (bar === undefined) return
    all.remove(bar)
    bars.delete(job)
    if (bars.size === 0) all.stop()
  }
  return {
    show(event) {
      const { job, document, state } = event
      if (state !== 'active') {
        // It waits for its next attempt.
        end(job)
        return
      }
      const bar = bars.get(job) ?? all.create(0, 0, { name: nameOf(document), step: 'started' })
      bars.set(job, bar)
      draw(bar, event)
    },
    print(line) {
      if (bars.size === 0) note(line)
      // Printed with the next drawing.
      else all.log(`lorekeep: ${printable(line)}\n`)
    },
    end,
    stop() {
      if (bars.size === 0) return
      all.update()
      all.stop()
    },
  }
}

function draw(bar: cliProgress.SingleBar, event: JobEvent): void {
  if (event.type === 'progress') {
    const { step, done, total } = event
    bar.setTotal(total)
    bar.update(done, { step: `${step} ${done} of ${total}` })
  } else if (event.type === 'step') {
    bar.update(bar.getTotal(), { step: `${event.step} done` })
  }
}

/** Its end tells more of a URL than its beginning. */
function nameOf(document: string): string {
  const name = printable(document)
  return name.length <= longestName ? name : `…${name.slice(1 - longestName)}`
}
