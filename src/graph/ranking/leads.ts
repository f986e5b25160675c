// Where the names of a question, and those of passages, lead.

import type { Turns } from '../../turns.js'
import type { Aliases } from './aliases.js'
import type { Candidate, Candidates, Step } from './candidates.js'
import type { PassageOfSet } from '../words/passage-order.js'
import type { NameBook, NameInText } from './names.js'
import { weights } from './weights.js'

/** A passage that a name leads to, and what that counts. */
export interface Lead {
  readonly to: Candidate
  readonly weight: number
  readonly step: Step
}

/** The same before anything is known of the passages. */
interface Found {
  readonly step: Step
  readonly passages: readonly PassageOfSet[]
  readonly weight: number
  /** Whether the name is that of their documents. */
  readonly isTitle: boolean
}

/** Passages that one title leads to. */
const mostOfTitle = 64

export class Leads {
  readonly #candidates: Candidates
  readonly #book: NameBook
  readonly #asked: ReadonlyMap<NameInText, readonly NameInText[]>
  readonly #isAsked: ReadonlySet<string>
  readonly #aliases: Aliases | undefined
  readonly #turns: Turns
  readonly #titled = new Map<string, readonly PassageOfSet[]>()
  readonly #having = new Map<string, readonly PassageOfSet[]>()
  readonly #found = new Map<Candidate, readonly Found[]>()

  /** `asked`: the names of the question, each with others of the same. */
  constructor(
    candidates: Candidates,
    book: NameBook,
    asked: ReadonlyMap<NameInText, readonly NameInText[]>,
    { aliases, turns }: { readonly aliases: Aliases | undefined; readonly turns: Turns },
  ) {
    this.#candidates = candidates
    this.#book = book
    this.#asked = asked
    this.#isAsked = new Set([...asked].flatMap(([{ name }, others]) => [name, ...namesOf(others)]))
    this.#aliases = aliases
    this.#turns = turns
  }

  /** To what is called by the names of the question, or by another name of the same; by name. */
  async ofQuestion(): Promise<Map<NameInText, Lead[]>> {
    const found = new Map<NameInText, Found[]>()
    for (const [asked, others] of this.#asked) {
      const step = { name: asked.text, from: undefined }
      const those: Found[] = []
      for (const name of [asked.name, ...namesOf(others)]) {
        those.push({ step, passages: await this.#titledBy(name), weight: 1, isTitle: true })
      }
      found.set(asked, those)
    }
    await this.#candidates.add([...found.values()].flat().flatMap(({ passages }) => passages))
    const leads = new Map<NameInText, Lead[]>()
    for (const [asked, those] of found) {
      const best = new Map<Candidate, Lead>()
      for (const each of those) {
        for (const lead of await this.#leadsOf(each)) {
          if (lead.weight > (best.get(lead.to)?.weight ?? 0)) best.set(lead.to, lead)
        }
      }
      leads.set(asked, [...best.values()])
    }
    return leads
  }

  /** From each of some passages to others: to each the one that counts most. */
  async from(firsts: readonly Candidate[]): Promise<Map<Candidate, Iterable<Lead>>> {
    for (const first of firsts) {
      if (!this.#found.has(first)) this.#found.set(first, await this.#find(first))
    }
    const found = firsts.map((first) => this.#found.get(first) as readonly Found[])
    await this.#candidates.add(found.flat().flatMap(({ passages }) => passages))
    const leads = new Map<Candidate, Iterable<Lead>>()
    for (const [n, first] of firsts.entries()) {
      const best = new Map<Candidate, Lead>()
      for (const each of found[n] as readonly Found[]) {
        for (const lead of await this.#leadsOf(each)) {
          if (lead.to === first || lead.weight <= (best.get(lead.to)?.weight ?? 0)) continue
          best.set(lead.to, lead)
        }
      }
      leads.set(first, best.values())
    }
    return leads
  }

  async #find(first: Candidate): Promise<Found[]> {
    const { titles, names } = await this.#candidates.namesOf(first, this.#book)
    const found: Found[] = []
    const looked = new Set<string>()
    for (const { name, text } of [...names, ...(await this.#othersIn(first))]) {
      if (looked.has(name)) continue
      looked.add(name)
      const step = { name: text, from: first }
      const passages = await this.#titledBy(name)
      found.push({ step, passages, weight: this.#share(name) * weights.title, isTitle: true })
      found.push(await this.#havingOf(name, passages.length, step))
      await this.#turns.pass()
    }
    for (const { name, text } of titles) {
      if (looked.has(name)) continue
      looked.add(name)
      found.push(await this.#havingOf(name, 1, { name: text, from: first }))
      await this.#turns.pass()
    }
    return found
  }

  /** What else that is called which a passage speaks of. */
  async #othersIn({ chunk }: Candidate): Promise<readonly NameInText[]> {
    return (await this.#aliases?.inPassage(chunk))?.flat() ?? []
  }

  #share(name: string): number {
    return this.#isAsked.has(name) ? weights.asked : 1
  }

  async #titledBy(name: string): Promise<readonly PassageOfSet[]> {
    const known = this.#titled.get(name)
    if (known !== undefined) return known
    // Of a book with its thousands of passages those count that were come across, for their words.
    const isFirst = (passage: PassageOfSet) => this.#candidates.has(passage)
    const some = await this.#book.titled(name, { most: mostOfTitle, isFirst }, this.#turns)
    this.#titled.set(name, some)
    return some
  }

  /** What has a name in its text, of which so many more are called so. */
  async #havingOf(name: string, titled: number, step: Step): Promise<Found> {
    const known = this.#having.get(name)
    const passages = known ?? (await this.#book.having(name, weights.mostHaving, this.#turns))
    this.#having.set(name, passages)
    const weight = (this.#share(name) * weights.having) / Math.log2(1 + passages.length + titled)
    return { step, passages, weight, isTitle: false }
  }

  /**
   * Of a document with many passages the best one counts as much as one of its own; the others less, the more
   * they are. And the less, the more documents are called so.
   */
  async #leadsOf({ step, passages, weight, isTitle }: Found): Promise<Lead[]> {
    const found = [...new Set(passages.map((passage) => this.#candidates.at(passage)))]
    if (!isTitle) return found.map((to) => ({ to, weight, step }))
    const documents = new Map<string, Candidate[]>()
    for (const candidate of found) {
      const document = await this.#candidates.documentOf(candidate)
      documents.set(document, [...(documents.get(document) ?? []), candidate])
    }
    if (documents.size > weights.mostTitled) return []
    const ofDocument = weight / Math.sqrt(documents.size)
    return [...documents.values()].flatMap((those) => {
      const best = those.reduce((best, each) => (isBetter(each, best) ? each : best))
      const ofOther = ofDocument / Math.sqrt(those.length)
      return those.map((to) => ({ to, weight: to === best ? ofDocument : ofOther, step }))
    })
  }
}

/** Of equal ones the same, whatever parts an index has. */
function isBetter(a: Candidate, b: Candidate): boolean {
  return a.words === b.words ? a.chunk.v < b.chunk.v : a.words > b.words
}

function namesOf(names: readonly NameInText[]): string[] {
  return names.map(({ name }) => name)
}
