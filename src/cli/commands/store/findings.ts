// How findings are printed, of `lorekeep verify` with and without --salvage.

import type { FileDamage } from '../../../../adapters/level/files.js'
import type { Finding, VerifyProgress } from '../../../verify/finding.js'
import { keyText } from '../../../verify/report.js'
import { printable } from '../../output/figures.js'
import { writeJson, writeOut } from '../../output/output.js'
import { createProgress, units } from '../../output/progress.js'

export async function printFinding(finding: Finding, json: true | undefined): Promise<void> {
  if (json) return writeJson(finding)
  const { severity, partition, code, what, message } = finding
  const line = [severity, partition, code, what, message].map(printable).join('\t')
  await writeOut(`${line}\n`)
}

export function findingOf({ partition, file, key, message }: FileDamage): Finding {
  const of = key === undefined ? '' : `, for the value of ${keyText(key)}`
  return { severity: 'error', partition, code: 'damaged', what: file, message: message + of }
}

export function shownProgress() {
  const progress = createProgress(undefined, units.entries)
  let last: VerifyProgress = { partition: 'cores', entries: 0, bytes: 0 }
  return {
    onProgress: (next: VerifyProgress) => {
      progress.bytes(next.bytes - last.bytes)
      progress.count(next.entries)
      last = next
    },
    read: () => last,
    /** A line on stdout would stand behind the bar. */
    pause: () => {
      if (process.stdout.isTTY && process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    },
    stop: () => progress.stop(),
  }
}
