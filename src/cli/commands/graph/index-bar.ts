// A progress bar on stderr while a core is indexed, where that is a terminal.

import cliProgress from 'cli-progress'
import type { IndexProgress } from '../../../graph/types.js'
import { barStyle } from '../../output/bar-style.js'
import { formatBytes, formatCounted } from '../../output/figures.js'

interface IndexBar {
  update(progress: IndexProgress): void
  /** Takes the bar away; call it before anything else is printed. */
  stop(): void
}

export function createIndexBar(): IndexBar {
  if (!process.stderr.isTTY) return { update() {}, stop() {} }
  const bar = new cliProgress.SingleBar({
    ...barStyle,
    format: '{bar} {percentage}% | {what} | {eta_formatted} left',
  })
  let shown: IndexProgress['stage'] | undefined
  return {
    update({ stage, done, total }) {
      const what =
        stage === 'triples'
          ? `triples: ${formatBytes(done)} of ${formatBytes(total)}`
          : `nearest vectors: ${formatCounted(done, 'vector')}`
      // Each stage has its own time that is left.
      if (stage !== shown) {
        if (shown !== undefined) bar.stop()
        bar.start(total, done, { what })
        shown = stage
      } else {
        bar.setTotal(total)
        bar.update(done, { what })
      }
    },
    stop() {
      if (shown !== undefined) bar.stop()
    },
  }
}
