// A progress bar on stderr, where that is a terminal.

import { performance } from 'node:perf_hooks'
import cliProgress from 'cli-progress'
import { barStyle } from './bar-style.js'
import { formatBytes, formatCount, formatCounted } from './figures.js'

/** What is counted beside the bytes. */
interface Unit {
  readonly one: string
  readonly many: string
  /** Whether it is of interest how many there are in a second. */
  readonly withRate: boolean
}

export const units = {
  triples: { one: 'triple', many: 'triples', withRate: false },
  entries: { one: 'entry', many: 'entries', withRate: false },
  objects: { one: 'object', many: 'objects', withRate: true },
} satisfies Readonly<Record<string, Unit>>

export interface Progress {
  bytes(added: number): void
  /** How many units there have been. */
  count(total: number): void
  /** Takes the bar away; call it before anything else is printed. */
  stop(): void
}

/** `totalBytes` is undefined where it is not known before the end. */
export function createProgress(totalBytes: number | undefined, unit: Unit): Progress {
  if (!process.stderr.isTTY) return { bytes() {}, count() {}, stop() {} }
  const known = totalBytes !== undefined && totalBytes > 0
  const bar = new cliProgress.SingleBar({
    ...barStyle,
    format: known
      ? '{bar} {percentage}% | {read} of {size} | {rate}/s{counted} | {eta_formatted} left'
      : '{read} | {rate}/s{counted} | {duration_formatted}',
  })
  const start = performance.now()
  let read = 0
  let counted = ''
  const perSecond = (amount: number) =>
    Math.round((amount * 1000) / Math.max(performance.now() - start, 1))
  const payload = () => ({
    read: formatBytes(read),
    size: formatBytes(totalBytes ?? 0),
    rate: formatBytes(perSecond(read)),
    counted,
  })
  // A file that grows while it is read would take the bar past its end.
  const position = () => (known ? Math.min(read, totalBytes) : 0)
  bar.start(known ? totalBytes : 1, 0, payload())
  return {
    bytes(added) {
      read += added
      bar.update(position(), payload())
    },
    count(total) {
      counted = ` | ${formatCounted(total, unit.one, unit.many)}`
      if (unit.withRate) counted += `, ${formatCount(perSecond(total))}/s`
      bar.update(position(), payload())
    },
    stop: () => bar.stop(),
  }
}

/** The chunks of a source, each counted when it is taken. */
export async function* counted(
  source: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of source) {
    progress.bytes(chunk.byteLength)
    yield chunk
  }
}
