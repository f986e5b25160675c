// A stream of any dialect into a core. The specification's own goes through the scanner alone. From
// the first message that the scanner refuses in its head the transcoder takes over, and hands the
// scanner what it makes of that message and of all that follows.

import { hasCode } from '../../errors.js'
import { keepShape } from '../../kept-shapes.js'
import { defaultLimits, type CodecLimits } from '../limits.js'
import { CoreScanner, type ScanSink, type ScanTarget } from '../scanner.js'
import { ByteWriter } from './byte-writer.js'
import type { ImportDialect } from './names.js'
import { Transcoder, type Skipped } from './transcoder.js'

interface CoreReaderOptions {
  readonly sink: ScanSink
  readonly target: ScanTarget
  readonly limits?: CodecLimits
  readonly dialect?: ImportDialect
}

export class CoreReader {
  readonly #scanner: CoreScanner
  readonly #limits: CodecLimits
  readonly #isStrict: boolean
  /** Of the message under way, what earlier chunks had, while it may still be of another dialect. */
  readonly #head = new ByteWriter()
  #transcoder: Transcoder | undefined
  /** Triples or embeddings came before the transcoder. */
  #isAfter = false

  constructor({ sink, target, limits = defaultLimits, dialect = 'any' }: CoreReaderOptions) {
    this.#scanner = new CoreScanner(sink, target, limits)
    this.#limits = limits
    this.#isStrict = dialect === 'specification'
  }

  /** Messages that were handed on, and what they hold. */
  get messages(): number {
    return this.#scanner.messages
  }

  get triples(): number {
    return this.#scanner.triples
  }

  get entities(): number {
    return this.#scanner.entities
  }

  get vectors(): number {
    return this.#scanner.vectors
  }

  /** The bytes read so far. */
  get offset(): number {
    return this.#transcoder?.offset ?? this.#scanner.offset
  }

  get dialect(): string {
    return this.#transcoder?.dialect(this.#isAfter) ?? 'specification'
  }

  get skipped(): Skipped {
    return this.#transcoder?.skipped ?? {}
  }

  /**
   * Takes a chunk. A message may become much longer and take long to convert, so it stops whenever the
   * sink was given about a MiB, and every few milliseconds; the chunk has to stay as it is until the end.
   * @throws LorekeepError as CoreScanner does
   */
  *push(chunk: Uint8Array): Generator<void, void, undefined> {
    if (this.#transcoder) return yield* this.#transcode(this.#transcoder, chunk)
    const scanner = this.#scanner
    const head = this.#head
    const { offset } = scanner
    try {
      scanner.push(chunk)
    } catch (refusal) {
      const start = scanner.headStart
      if (start === undefined || this.#isStrict || !isOfTheStream(refusal)) throw refusal
      const transcoder = this.#handOver(refusal)
      if (start < offset) yield* this.#transcode(transcoder, head.bytes)
      return yield* this.#transcode(transcoder, chunk.subarray(Math.max(0, start - offset)))
    }
    const start = scanner.headStart
    if (start === undefined || start >= offset) head.clear()
    if (start !== undefined) head.copy(chunk, Math.max(0, start - offset))
    yield
  }

  /** Call at the end of the stream. @throws LorekeepError as CoreScanner does */
  finish(): void {
    if (this.#transcoder) this.#transcoder.finish()
    else this.#scanner.finish()
  }

  #handOver(refusal: unknown): Transcoder {
    const scanner = this.#scanner
    scanner.rewind()
    const limits = this.#limits
    const { messages: messageIndex, offset } = scanner
    this.#isAfter = scanner.triples + scanner.entities > 0
    this.#transcoder = new Transcoder({ limits, messageIndex, offset, refusal })
    return this.#transcoder
  }

  *#transcode(transcoder: Transcoder, bytes: Uint8Array): Generator<void, void, undefined> {
    for (const piece of transcoder.push(bytes)) {
      this.#scanner.push(piece)
      yield
    }
  }
}

keepShape(new CoreReader({ sink: { copy: () => undefined }, target: { id: '', user: '' } }))

/** Not a fault of the sink. */
function isOfTheStream(error: unknown): boolean {
  return hasCode(error, 'LK_CORE_FORMAT') || hasCode(error, 'LK_CORE_TYPE')
}
