// What is known of posts by who makes commits, and who has to have it taken in first.

import { Crowd } from './crowd.js'
import { NeedsCleanDraft, OutdatedState, type Draft } from './draft.js'
import { closeGate, isUntaken, takeIn, type Posted } from './gate.js'
import type { OpenGate } from './records.js'

/** Who asks for something that may depend on what was posted. */
export interface Asking {
  /** What was posted has to be looked for, after it was asked for. */
  mustSeePosts: boolean
  /** It was seen that there is something, and the storage was read without. */
  mustTakeIn: boolean
}

export class SeenPosts {
  readonly #crowd: Crowd
  /** What the last look has found: some of it may be taken in by now. */
  #posted: Posted | undefined

  /** @param elapsed as that of a clock */
  constructor(elapsed: () => number) {
    this.#crowd = new Crowd(elapsed)
  }

  /** Those who share the backend wait for each other, as far as turns show. */
  get isCrowded(): boolean {
    return this.#crowd.isThere()
  }

  /** For a turn, and for the look that it began with. */
  waited(turnMs: number, lookMs: number): void {
    this.#crowd.waited(turnMs, lookMs)
  }

  /** There is something to be taken in, where the head has this gate. */
  areUntaken(gate: OpenGate | undefined): boolean {
    return isUntaken(gate, this.#posted)
  }

  /** What there is: that is all, for those who have asked by now. */
  see(posted: Posted | undefined, asking: readonly Asking[] = []): void {
    this.#posted = posted
    for (const each of asking) each.mustSeePosts = false
  }

  /** As see(), for those whose answers are made already, where the head had this gate. */
  seeAfter(posted: Posted | undefined, gate: OpenGate | undefined, made: readonly Asking[]): void {
    for (const each of made) each.mustTakeIn = each.mustSeePosts && isUntaken(gate, posted)
    this.see(posted, made)
  }

  /** @throws LorekeepError `LK_STORAGE_*`; NeedsCleanDraft, OutdatedState */
  async takeInto(draft: Draft): Promise<void> {
    const seen = this.#posted
    if (!isUntaken(draft.gate, seen)) return
    await takeIn(draft, seen)
    if (!this.#crowd.isThere(seen)) closeGate(draft)
  }
}

/** Not for good: what was posted is taken in by another draft. */
export function isPutOff(error: unknown): boolean {
  return error instanceof NeedsCleanDraft || error instanceof OutdatedState
}
