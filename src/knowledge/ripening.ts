import type { SeenMember } from '../presence.js'

/** Names that came between two looks. */
interface Crop {
  readonly names: Set<string>
  /** The beat of each member when it was first looked at them. */
  readonly beats: Map<string, number>
}

/**
 * What was given up where others may still read it. It may go when each of those who share the store has been seen
 * to beat twice since, and said with the last beat that he does not read it: what he knows by then he knew after it was
 * given up, and nobody begins to read what he knows to be given up.
 */
export class Ripening {
  /** Since the last look, which may have begun before they were given up. */
  #fresh = new Set<string>()
  #crops: Crop[] = []

  get isEmpty(): boolean {
    return this.#fresh.size === 0 && this.#crops.length === 0
  }

  add(name: string): void {
    if (!this.#crops.some(({ names }) => names.has(name))) this.#fresh.add(name)
  }

  /** Gives those that may go, and forgets them. */
  look(members: readonly SeenMember[]): string[] {
    const ripe: string[] = []
    for (const crop of this.#crops) {
      if (!hasBeaten(crop, members)) continue
      for (const name of crop.names) {
        if (members.some(({ reads }) => reads === undefined || reads.has(name))) continue
        crop.names.delete(name)
        ripe.push(name)
      }
    }
    this.#crops = this.#crops.filter(({ names }) => names.size > 0)
    if (this.#fresh.size > 0) this.#crops.push({ names: this.#fresh, beats: new Map() })
    this.#fresh = new Set()
    return ripe
  }
}

function hasBeaten({ beats }: Crop, members: readonly SeenMember[]): boolean {
  let hasAll = true
  for (const { id, count } of members) {
    const first = beats.get(id)
    if (first === undefined) beats.set(id, count)
    hasAll &&= first !== undefined && count >= first + 2
  }
  return hasAll
}
