// Many phrases at once, looked for in a text word by word: what they begin with alike is looked at once.

import type { Phrase } from '../words/phrases.js'

/** What words may begin with. */
export class Beginnings {
  readonly #all = new Set<string>()
  readonly #lengths = new Set<number>()

  add(beginning: string): void {
    this.#all.add(beginning)
    this.#lengths.add(beginning.length)
  }

  /** Whether a word begins with one of them. */
  have(form: string): boolean {
    for (const length of this.#lengths) {
      if (length <= form.length && this.#all.has(form.slice(0, length))) return true
    }
    return false
  }
}

/** A place in phrases: what comes next. */
interface Place {
  readonly next: Map<string, Place>
  /** Where phrases end with what a word begins with. */
  beginnings: Beginnings | undefined
  isEnd: boolean
}

export class PhraseTree {
  readonly start = createPlace()

  add({ forms, isPrefix }: Phrase): void {
    let place = this.start
    for (const form of isPrefix ? forms.slice(0, -1) : forms) {
      let next = place.next.get(form)
      if (next === undefined) place.next.set(form, (next = createPlace()))
      place = next
    }
    if (isPrefix) (place.beginnings ??= new Beginnings()).add(forms.at(-1) as string)
    else place.isEnd = true
  }
}

function createPlace(): Place {
  return { next: new Map(), beginnings: undefined, isEnd: false }
}

interface Begun {
  readonly place: Place
  readonly start: number
}

/** Phrases that are begun in a text. */
export class PhraseCursor {
  readonly #tree: PhraseTree
  /** Those that were begun first come first. */
  #begun: readonly Begun[] = []

  constructor(tree: PhraseTree) {
    this.#tree = tree
  }

  /** Where the first of the phrases begins that may yet end. */
  get earliest(): number | undefined {
    return this.#begun[0]?.start
  }

  /** Takes the next word, which begins at `start`; gives where the phrases begin that end with it. */
  endingWith(form: string, start: number): number[] {
    const ended: number[] = []
    const begun: Begun[] = []
    for (const { place, start: first } of [...this.#begun, { place: this.#tree.start, start }]) {
      const next = place.next.get(form)
      if (next?.isEnd === true || place.beginnings?.have(form) === true) ended.push(first)
      if (next !== undefined && (next.next.size > 0 || next.beginnings !== undefined)) {
        begun.push({ place: next, start: first })
      }
    }
    this.#begun = begun
    return ended
  }
}
