import { decodeKey, type KeyElement } from '../keys.js'
import type { PartitionName } from '../storage.js'
import type { Finding, FindingCode, VerifyOptions } from './finding.js'

/** What was told is remembered up to here, so that a second look at it does not tell it again. */
const maxTold = 10_000

const bytesBetweenProgress = 1024 * 1024
const entriesBetweenProgress = 1000

/** Collects what a verification finds until it is given out, and counts what it reads. */
export class Report {
  readonly deep: boolean
  readonly signal: AbortSignal | undefined
  /** While something is looked at a second time, for one question alone. */
  isMuted = false
  readonly #onProgress: VerifyOptions['onProgress']
  #found: Finding[] = []
  readonly #told = new Set<string>()
  #entries = 0
  #bytes = 0
  #next = { entries: 0, bytes: 0 }

  constructor({ deep = false, signal, onProgress }: VerifyOptions) {
    this.deep = deep
    this.signal = signal
    this.#onProgress = onProgress
  }

  error(partition: PartitionName, code: FindingCode, what: string, message: string): void {
    this.#tell({ severity: 'error', partition, code, what, message })
  }

  leftover(partition: PartitionName, what: string, message: string): void {
    this.#tell({ severity: 'info', partition, code: 'leftover', what, message })
  }

  /** What was found since the last call. */
  take(): readonly Finding[] {
    if (this.#found.length === 0) return this.#found
    const found = this.#found
    this.#found = []
    return found
  }

  /** @throws the signal's reason */
  read(partition: PartitionName, entries: number, bytes: number): void {
    this.signal?.throwIfAborted()
    this.#entries += entries
    this.#bytes += bytes
    if (this.#onProgress === undefined) return
    if (this.#entries < this.#next.entries && this.#bytes < this.#next.bytes) return
    this.#next = {
      entries: this.#entries + entriesBetweenProgress,
      bytes: this.#bytes + bytesBetweenProgress,
    }
    this.#onProgress({ partition, entries: this.#entries, bytes: this.#bytes })
  }

  /** What was read in all. */
  end(partition: PartitionName): void {
    this.#onProgress?.({ partition, entries: this.#entries, bytes: this.#bytes })
  }

  #tell(finding: Finding): void {
    if (this.isMuted) return
    const { partition, code, what, message } = finding
    const text = `${partition} ${code} ${what} ${message}`
    if (this.#told.has(text)) return
    if (this.#told.size < maxTold) this.#told.add(text)
    this.#found.push(finding)
  }
}

/** What `run` finds, while it goes on: it yields now and then, for that to be given out. */
export async function* givenOut(
  run: AsyncIterable<unknown>,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  for await (const _ of run) yield* report.take()
  yield* report.take()
}

/** A key as docs/format.md writes it; in hexadecimal where it is none of ours. */
export function keyText(key: Uint8Array): string {
  try {
    return tupleText(...decodeKey(key))
  } catch {
    return Buffer.from(key).toString('hex')
  }
}

/** `("page", 17)` */
export function tupleText(...elements: readonly KeyElement[]): string {
  const texts = elements.map((element) =>
    element instanceof Uint8Array ? Buffer.from(element).toString('hex') : JSON.stringify(element),
  )
  return `(${texts.join(', ')})`
}
