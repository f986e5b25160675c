// A stream of any dialect, or of several, as one of the specification, without ids and users.

import { LorekeepError } from '../../errors.js'
import type { CodecLimits } from '../limits.js'
import { MessageFramer } from './message-framer.js'
import { pause } from './message-view.js'
import { DOCUMENTED, EARLY, LOOSE, SpecificationConverter, TYPED } from './to-specification.js'

export interface TranscoderOptions {
  readonly limits: CodecLimits
  /** Where the stream begins that this is the rest of. */
  readonly messageIndex: number
  readonly offset: number
  /** Why the first message is none of the specification's: thrown where it is of no dialect either. */
  readonly refusal: unknown
}

/** What an import could make nothing of, by the types of messages; `members` of maps. */
export type Skipped = Readonly<Record<string, number>>

const kept = ['t', 'ge']
const libraryTypes = ['lm', 'lb']
const skipped = [...libraryTypes, 'de', 'eos']

const SPECIFICATION = 16

export class Transcoder {
  readonly #framer: MessageFramer
  readonly #converter: SpecificationConverter
  readonly #refusal: unknown
  readonly #skipped = new Map<string, number>()
  /** The first message was of a dialect. */
  #isKnown = false
  #signs = 0

  constructor({ limits, messageIndex, offset, refusal }: TranscoderOptions) {
    this.#framer = new MessageFramer({ limits, kept, skipped, messageIndex, offset })
    this.#converter = new SpecificationConverter(limits)
    this.#refusal = refusal
  }

  /** The bytes read so far, those before this stream too. */
  get offset(): number {
    return this.#framer.offset
  }

  /**
   * What the messages say that this chunk completes, with pauses of no bytes. Take each piece before
   * the next, and all before the next chunk. @throws LorekeepError `LK_CORE_FORMAT`, `LK_CORE_TYPE`
   */
  *push(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
    const converter = this.#converter
    try {
      for (const frame of this.#framer.push(chunk)) {
        if (frame.bytes === undefined) this.#skip(frame.type)
        else {
          for (const piece of converter.convert(frame)) {
            if (piece !== pause) {
              // Whatever it was refused for, it was not for being of another dialect.
              if (!this.#isKnown && converter.signs === 0) throw this.#refusal
              this.#isKnown = true
            }
            yield piece
          }
          if (converter.signs !== 0) this.#signs |= converter.signs
          else if (converter.isBegun) this.#signs |= SPECIFICATION
        }
      }
    } catch (error) {
      throw this.#isFamiliar(error) ? error : this.#refusal
    }
  }

  /** Call at the end of the stream. @throws LorekeepError `LK_CORE_FORMAT` */
  finish(): void {
    this.#framer.finish()
    if (!this.#isKnown) throw this.#refusal
  }

  get skipped(): Skipped {
    const { otherMembers } = this.#converter
    return {
      ...Object.fromEntries(this.#skipped),
      ...(otherMembers > 0 && { members: otherMembers }),
    }
  }

  /** `isAfter`: messages of the specification came before. */
  dialect(isAfter: boolean): string {
    const signs = this.#signs | (isAfter ? SPECIFICATION : 0)
    const found = eras.filter(([sign]) => (signs & sign) !== 0).map(([, name]) => name)
    if (found.length > 1) return 'mixed'
    if (found[0] !== undefined && found[0] !== 'specification') return found[0]
    if ((signs & LOOSE) !== 0) return 'loose'
    if (found[0] !== undefined) return found[0]
    return this.#skipped.has('de') ? 'document-embeddings' : 'trustgraph-2'
  }

  /** An error in what was recognised is told as it is: also in the first message, where it is further on. */
  #isFamiliar(error: unknown): boolean {
    if (this.#isKnown) return true
    if (this.#converter.signs === 0) return false
    return this.#converter.isBegun || placeOf(error) > placeOf(this.#refusal)
  }

  #skip(type: string): void {
    this.#isKnown = true
    // It says that the stream ends, which the end of the stream does too.
    if (type !== 'eos') this.#skipped.set(type, (this.#skipped.get(type) ?? 0) + 1)
  }
}

function placeOf(error: unknown): number {
  return error instanceof LorekeepError ? Number(error.details['byteOffset']) : NaN
}

const eras: readonly (readonly [sign: number, name: string])[] = [
  [SPECIFICATION, 'specification'],
  [EARLY, 'trustgraph-0'],
  [DOCUMENTED, 'trustgraph-1-docs'],
  [TYPED, 'trustgraph-2'],
]
