// What was written and not run. Views come and go: it stays for as long as somebody is signed in.

export class Drafts {
  readonly #texts = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#texts.size === 0
  }

  /** What became of a query since it was asked for; where none was, what was written last. */
  of(query: string | undefined): string | undefined {
    return this.#texts.get(query ?? '') ?? (query === undefined ? this.#last() : undefined)
  }

  /**
   * @param before what it was until now, wherever that was written
   * @param text `undefined` where nothing of it would be lost
   */
  change(query: string | undefined, before: string, text: string | undefined): void {
    for (const [of, draft] of this.#texts) if (draft === before) this.#texts.delete(of)
    // The last is the one that was written last.
    this.#texts.delete(query ?? '')
    if (text !== undefined) this.#texts.set(query ?? '', text)
  }

  #last(): string | undefined {
    return [...this.#texts.values()].at(-1)
  }
}
