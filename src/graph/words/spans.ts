import type { Turns } from '../../turns.js'
import { patience, withBlocks } from '../miss.js'
import type { PassageSet } from './types.js'
import { NO_MORE, type WordEntries, type SeenNumbers } from './word-entries.js'

/**
 * Passages are gone through in spans, in which all words are looked at before the next one: what is added up then
 * is in the processor's cache, and not in memory.
 */
export const widest = 2 ** 14

/**
 * Is done in a span, of whose passages the cursors have passed none. `seen` is undefined where all are. May throw a
 * Miss, and goes on where it was when it is called again.
 */
export type SpanWork = (from: number, to: number, seen: SeenNumbers | undefined) => void

export interface EachSpan {
  readonly set: PassageSet
  /** A span begins with a passage that one of them is at. */
  readonly cursors: readonly WordEntries[]
  /** Called before others, until the next await. May throw a Miss. */
  readonly begin?: (from: number, to: number) => void
  /** One after the other in each span; between two, others may have their turn. */
  readonly works: readonly SpanWork[]
}

/** Rejects with the signal's reason. */
export async function eachSpan(
  { set, cursors, begin, works }: EachSpan,
  turns: Turns,
): Promise<void> {
  const width = Math.min(widest, patience.span)
  for (;;) {
    let from = NO_MORE
    for (const { next } of cursors) if (next < from) from = next
    if (from === NO_MORE) return
    const to = Math.min(set.count, from + width)
    let done = 0
    const some = () => {
      const seen = set.isWhole ? undefined : set.seen(from, to)
      begin?.(from, to)
      do {
        ;(works[done] as SpanWork)(from, to, seen)
        done++
      } while (done < works.length && !turns.isLong)
    }
    while (done < works.length) {
      const isDone = withBlocks(some)
      if (isDone instanceof Promise) await isDone
      if (turns.isLong) await turns.pass()
    }
  }
}
