// Who does what to whom, when and where, as far as a sentence says it plainly.

import { saidInBrackets } from './brackets.js'
import { Chunker, type Chunk, type NounPhrase, type VerbPhrase } from './chunks.js'
import type { DateMention } from './dates.js'
import { describe, isTelling, kindIn, roleIn } from './descriptions.js'
import type { Mention } from './mention.js'
import { isFinite, namesFrom, placesFrom } from './name-lists.js'
import { isPersonNoun } from './person-nouns.js'
import { dated, isA, type Statement } from './statement.js'
import type { Sentence } from './tagger.js'
import type { Topic } from './topic.js'
import { speechVerbs } from './word-lists.js'

export interface Found {
  readonly names: readonly Mention[]
  readonly phrases: readonly Mention[]
  readonly dates: readonly DateMention[]
}

/** Verbs that say little of what stands behind them. */
const paleVerbs = new Set(['have', 'do', 'get', 'be', 'let', 'go', 'come', 'see', 'want', 'need'])
const beingPrepositions = new Set(['in', 'from', 'near', 'on', 'at'])
const roleVerbs = new Set(['serve', 'work', 'act', 'become', 'remain'])
const maxPrepositions = 6

/** What a sentence says. `topic` is what its text is about, if that is known. */
export function relations(sentence: Sentence, found: Found, topic?: Topic): Statement[] {
  const reader = new ClauseReader(sentence, found, topic)
  return reader.statements()
}

class ClauseReader {
  readonly #sentence: Sentence
  readonly #topic: Topic | undefined
  readonly #chunker: Chunker
  readonly #chunks: readonly Chunk[]
  /** By where they end. */
  readonly #phrases: ReadonlyMap<number, Mention>
  readonly #statements: Statement[] = []
  /** Of the clause, and of a relative clause in it. */
  #subjects: readonly Mention[] = []
  #antecedents: readonly Mention[] | undefined
  /** Noun phrases that say what a subject is: what is said of those is said of it. */
  /** A participle goes without its `was`, if it is one. */
  #isReduced = true
  /** The comma that was last ended a relative clause. */
  #isBehindRelative = false
  readonly #described = new Map<NounPhrase, readonly Mention[]>()

  constructor(sentence: Sentence, found: Found, topic: Topic | undefined) {
    this.#sentence = sentence
    this.#topic = topic
    this.#chunker = new Chunker(sentence, found.names, found.dates)
    this.#chunks = this.#chunker.all()
    this.#phrases = new Map(found.phrases.map((phrase) => [phrase.to, phrase]))
  }

  statements(): Statement[] {
    const first = this.#chunks.findIndex(({ kind }) => kind === 'noun' || kind === 'pronoun')
    const opening = this.#chunks[first]
    const behind = this.#chunks[first - 1]?.kind
    const isSubject = opening !== undefined && behind !== 'preposition' && behind !== 'verb'
    const meant = isSubject ? this.#refer(opening) : undefined
    if (meant !== undefined && first < 2) this.#subjects = [meant]
    const topic = this.#topic
    if (topic?.isUnnamedIn(this.#sentence) === true) {
      this.#subjects = [topic.name]
      const is = this.#chunks.findIndex((chunk) => chunk.kind === 'noun' && !chunk.name)
      if (is >= 0 && is < 3) this.#describe(this.#subjects, is)
    }
    for (const [i, chunk] of this.#chunks.entries()) {
      if (chunk.kind === 'noun') this.#readNoun(chunk, i)
      else if (chunk.kind === 'verb') this.#readVerb(chunk, i)
      else if (chunk.kind === 'comma') {
        this.#isBehindRelative = this.#antecedents !== undefined
        this.#antecedents = undefined
      } else if (chunk.kind === 'clause' || chunk.kind === 'other') {
        this.#antecedents = undefined
        if (chunk.kind === 'other' && chunk.word.text !== ';') continue
        this.#subjects = []
      }
    }
    if (isSubject) this.#topic?.follow(opening, meant)
    return this.#statements
  }

  #say(subjects: readonly Mention[], relation: string, object: Mention | DateMention): void {
    for (const subject of subjects) this.#statements.push({ subject, relation, object })
  }

  /** What a noun phrase says by itself, with what stands in brackets and between commas. */
  #readNoun(phrase: NounPhrase, at: number): void {
    const { name, noun, head, owner, isOwned, year } = phrase
    const subject = name ?? (at === 0 ? this.#topic?.meantBy(phrase) : undefined)
    if (name === undefined && head !== undefined) this.#readReversed(phrase, at)
    if (subject === undefined) return
    if (name !== undefined && noun !== undefined && head !== undefined) {
      const isSingular = head.lemma === head.lower
      const kind = isSingular ? kindIn(this.#sentence, phrase) : undefined
      if (kind !== undefined) this.#say([name], isA, kind)
      const owners =
        owner !== undefined && isTelling(owner, isOwned, head) ? [owner] : this.#owned(phrase)
      const named = isSingular ? [name] : namesFrom(this.#chunks, at).names
      for (const object of owners) this.#say(named, `${roleIn(this.#sentence, phrase)} of`, object)
      if (year !== undefined && kind !== undefined) this.#say([name], 'year', year)
    }
    if (name === undefined) return
    this.#readBrackets(phrase, name, at)
    const next = this.#chunks[at + 1]
    if (next?.kind === 'preposition' && next.word.lower === 'of') {
      for (const object of namesFrom(this.#chunks, at + 2).names) this.#say([name], 'of', object)
    }
    this.#readApposition(name, at)
  }

  /** `Regan's second album, The End of History,` */
  #readReversed(phrase: NounPhrase, at: number): void {
    const { head, owner, isOwned } = phrase
    const [comma, next] = [this.#chunks[at + 1], this.#chunks[at + 2]]
    const isBare = next?.kind === 'noun' && next.noun === undefined && next.name?.from === next.from
    if (comma?.kind !== 'comma' || !isBare || next.name === undefined || !head) return
    const end = this.#chunks[at + 3]
    if (end !== undefined && end.kind !== 'comma' && end.kind !== 'other' && !isFinite(end)) return
    const owners = owner !== undefined && isOwned ? [owner] : this.#owned(phrase)
    if (owners.length === 0 || head.lemma !== head.lower) return
    const kind = kindIn(this.#sentence, phrase)
    if (kind !== undefined) this.#say([next.name], isA, kind)
    for (const object of owners) {
      this.#say([next.name], `${roleIn(this.#sentence, phrase)} of`, object)
    }
  }

  #owned(phrase: NounPhrase): Mention[] {
    const topic = this.#topic
    return topic?.isOwner(phrase.determiner) === true ? [topic.name] : []
  }

  #readBrackets({ brackets }: NounPhrase, name: Mention, at: number): void {
    if (brackets === undefined) return
    const inner = this.#chunker.all(...brackets)
    const isPerson = this.#isPerson(at)
    this.#statements.push(...saidInBrackets(this.#sentence, inner, name, isPerson))
  }

  /** Whether what is said right behind a name makes it a person; undefined where nothing is. */
  #isPerson(at: number): boolean | undefined {
    const [next, behind] = [this.#chunks[at + 1], this.#chunks[at + 2]]
    const isLink = next?.kind === 'comma' || (next?.kind === 'verb' && next.form === 'be')
    const head = isLink && behind?.kind === 'noun' ? behind.head : undefined
    return head === undefined ? undefined : isPersonNoun(head.lower)
  }

  /** `Ada, a mathematician from London,` */
  #readApposition(name: Mention, at: number): void {
    const [comma, phrase] = [this.#chunks[at + 1], this.#chunks[at + 2]]
    const before = this.#chunks[at - 1]
    if (comma?.kind !== 'comma' || phrase?.kind !== 'noun' || before?.kind === 'comma') return
    if (phrase.head === undefined || phrase.name !== undefined) return
    if (!/^(?:an?|the)$/.test(phrase.determiner ?? '')) return
    const { statements, phrases, end } = describe(this.#sentence, this.#chunks, at + 2, name)
    // A list: `Ada, a dog, and a cat`.
    if (phrases.some(({ determiner }, i) => i > 0 && determiner !== undefined)) return
    const next = this.#chunks[end]
    const isPlain = next === undefined || next.kind === 'comma' || next.kind === 'relative'
    const isStop = next?.kind === 'other' && /^[.;:!?–—]$/.test(next.word.text)
    if (!isPlain && !isStop && !(next?.kind === 'verb' && next.form === 'part')) return
    if (next?.kind === 'comma' && this.#chunks[end + 1]?.kind === 'and') return
    this.#statements.push(...statements)
    for (const described of phrases) this.#described.set(described, [name])
  }

  #readVerb(verb: VerbPhrase, at: number): void {
    const subjects = this.#subjectsOf(verb, at)
    const identity = this.#chunks[at + 1]
    if (verb.form === 'be' && identity?.kind === 'noun') this.#readIdentity(identity, verb, at)
    if (verb.form === 'infinitive' || verb.isUnsure || subjects.length === 0) return
    const { lemma, lower } = verb.verb
    if (speechVerbs.has(lemma)) return
    const isPassive = verb.form === 'passive' || (verb.form === 'part' && this.#isReduced)
    if (verb.form === 'be') this.#readBeing(subjects, at)
    else if (isPassive) this.#readPassive(subjects, lower, at)
    else this.#readActive(subjects, verb, at)
    this.#isReduced = isPassive
  }

  #readBeing(subjects: readonly Mention[], at: number): void {
    const next = this.#chunks[at + 1]
    if (next?.kind === 'noun') return this.#describe(subjects, at + 1)
    if (next?.kind !== 'preposition' || !beingPrepositions.has(next.word.lower)) return
    for (const object of namesFrom(this.#chunks, at + 2).names) {
      this.#say(subjects, next.word.lower, object)
    }
  }

  #describe(subjects: readonly Mention[], at: number): void {
    for (const subject of subjects) {
      const { statements, phrases } = describe(this.#sentence, this.#chunks, at, subject)
      this.#statements.push(...statements)
      for (const phrase of phrases) {
        this.#described.set(phrase, subjects)
        if (subject.name !== this.#topic?.name.name) continue
        this.#topic.learn(phrase, phrase.head?.lower !== phrase.head?.lemma)
      }
    }
  }

  /** `Its capital is Rome`. */
  #readIdentity({ name, noun }: NounPhrase, { isUnsure }: VerbPhrase, at: number): void {
    if (isUnsure) return
    const subject = this.#chunks[at - 1]
    if (name === undefined || noun !== undefined || subject?.kind !== 'noun') return
    const { head, owner, isOwned } = subject
    if (head === undefined || subject.name !== undefined) return
    const owners = owner !== undefined && isOwned ? [owner] : this.#owned(subject)
    for (const object of owners) this.#say([name], `${head.lower} of`, object)
  }

  #readPassive(subjects: readonly Mention[], verb: string, at: number): void {
    const next = this.#chunks[at + 1]
    if (
      next?.kind === 'noun' &&
      next.name !== undefined &&
      /^(?:named|called|nicknamed|titled|entitled|renamed)$/.test(verb)
    ) {
      this.#say(subjects, verb, next.name)
    }
    this.#readPrepositions(subjects, verb, at + 1, true)
  }

  #readActive(subjects: readonly Mention[], { verb }: VerbPhrase, at: number): void {
    let next = at + 1
    let relation = verb.lemma
    const [particle, behind] = [this.#chunks[next], this.#chunks[next + 1]]
    if (particle?.kind === 'preposition' && behind?.kind === 'preposition') {
      relation = `${relation} ${particle.word.lower}`
      next++
    }
    if (roleVerbs.has(relation)) {
      const as = this.#chunks[next]
      const role = as?.kind === 'preposition' && as.word.lower === 'as' ? next + 1 : next
      const phrase = this.#chunks[role]
      const isRole = role > next || relation === 'become' || relation === 'remain'
      if (isRole && phrase?.kind === 'noun' && phrase.name === undefined) {
        return this.#describe(subjects, role)
      }
    }
    const object = this.#chunks[next]
    if (object?.kind !== 'noun') return this.#readPrepositions(subjects, relation, next, true)
    const { names, end } = this.#objectsAt(object, next)
    // `made films, including Ring`, but `the board includes Ada`.
    if (verb.lower === 'including') return
    if (!paleVerbs.has(relation)) {
      for (const name of names) if (!isSame(name, subjects)) this.#say(subjects, relation, name)
    }
    // What happened to the object then: `Ada founded the club in 1843`.
    const isRegular = verb.lower.endsWith('ed') && names.length > 0 && object.name !== undefined
    this.#readDates(isRegular ? names : subjects, isRegular ? verb.lower : relation, end)
  }

  /** Names, the topic, or a phrase that is not about something that was there before. */
  #objectsAt(object: NounPhrase, at: number): { names: readonly Mention[]; end: number } {
    const found = namesFrom(this.#chunks, at)
    if (found.names.length > 0) return found
    const end = at + 1
    const topic = this.#topic?.meantBy(object)
    if (topic !== undefined) return { names: [topic], end }
    const { owner, determiner, noun } = object
    if (noun === undefined || owner !== undefined || isPointing(determiner))
      return { names: [], end }
    const phrase = this.#phraseEndingAt(object)
    return { names: phrase === undefined ? [] : [phrase], end }
  }

  #phraseEndingAt({ from, to }: NounPhrase): Mention | undefined {
    const phrase = this.#phrases.get(to)
    return phrase !== undefined && phrase.from >= from ? phrase : undefined
  }

  #readDates(subjects: readonly Mention[], verb: string, from: number): void {
    let at = from
    if (paleVerbs.has(verb)) return
    for (let n = 0; n < 2; n++) {
      const [preposition, next] = [this.#chunks[at], this.#chunks[at + 1]]
      if (preposition?.kind !== 'preposition') return
      if (next?.kind === 'date') {
        if (/^(?:in|on)$/.test(preposition.word.lower)) {
          for (const subject of subjects) this.#statements.push(dated(subject, verb, next.date))
        }
        return
      }
      if (next?.kind !== 'noun') return
      at += 2
    }
  }

  /** `born in Rome on 5 May 1960`: all that hangs on a verb without an object. */
  #readPrepositions(
    subjects: readonly Mention[],
    verb: string,
    from: number,
    isNear: boolean,
  ): void {
    let at = from
    for (let n = 0; n < maxPrepositions; n++) {
      if (this.#chunks[at]?.kind === 'comma' && this.#isDateAt(at + 2)) at++
      const chunk = this.#chunks[at]
      if (chunk?.kind === 'date' && at === from) {
        for (const subject of subjects) this.#statements.push(dated(subject, verb, chunk.date))
        at++
        continue
      }
      const next = this.#chunks[at + 1]
      if (chunk?.kind !== 'preposition') return
      const { lower } = chunk.word
      if (next?.kind === 'date') {
        this.#sayWhen(subjects, verb, lower, next.date)
        at += 2
        continue
      }
      if (next?.kind !== 'noun') return
      // `based on the book Ring by Suzuki`
      const before = this.#chunks[at - 1]
      const isOfWork =
        before?.kind === 'noun' && before.name !== undefined && before.noun !== undefined
      if (lower === 'by' && isOfWork) return
      // `composed of`, but `produced by Ada of London`.
      const isOfVerb = isNear && (lower !== 'of' || at === from)
      at = this.#readPreposition(subjects, verb, lower, at + 1, isOfVerb)
      if (next.name === undefined && this.#topic?.meantBy(next) === undefined) isNear = false
    }
  }

  /** Gives the chunk behind the noun phrase at `at`. */
  #readPreposition(
    subjects: readonly Mention[],
    verb: string,
    preposition: string,
    at: number,
    isNear: boolean,
  ): number {
    const phrase = this.#chunks[at] as NounPhrase
    const topic = this.#topic?.meantBy(phrase)
    if (topic !== undefined) {
      if (!isSame(topic, subjects)) this.#say(subjects, `${verb} ${preposition}`, topic)
      return at + 1
    }
    const places = placesFrom(this.#chunks, at, preposition)
    const names = namesFrom(this.#chunks, at)
    if (isNear) {
      for (const object of names.names) {
        if (!isSame(object, subjects)) this.#say(subjects, `${verb} ${preposition}`, object)
      }
    }
    this.#statements.push(...places.statements)
    return Math.max(places.end, names.end, at + 1)
  }

  #sayWhen(
    subjects: readonly Mention[],
    verb: string,
    preposition: string,
    date: DateMention,
  ): void {
    if (preposition === 'in' || preposition === 'on') {
      for (const subject of subjects) this.#statements.push(dated(subject, verb, date))
    } else if (/^(?:since|from|until|till|to)$/.test(preposition)) {
      const until = preposition === 'to' || preposition === 'till'
      this.#say(subjects, `${verb} ${until ? 'until' : preposition}`, date)
    }
  }

  #isDateAt(at: number): boolean {
    const isBehind = this.#chunks[at - 1]?.kind === 'preposition'
    return isBehind && this.#chunks[at]?.kind === 'date'
  }

  #subjectsOf(verb: VerbPhrase, at: number): readonly Mention[] {
    const before = this.#chunks[at - 1]
    if (before === undefined) return this.#subjectsBehind(verb, at)
    switch (before.kind) {
      case 'relative':
        this.#isReduced = false
        this.#antecedents = this.#antecedentsOf(at - 1)
        return this.#antecedents
      case 'noun':
      case 'pronoun':
        return this.#subjectsAt(verb, before, at - 1)
      case 'and':
        if (this.#chunks[at - 2]?.kind === 'comma') return this.#subjects
        return this.#antecedents ?? this.#subjects
      case 'comma':
        this.#isReduced = !this.#isBehindRelative
        return this.#apposedAt(at - 1) ?? this.#subjects
      default:
        // `X, in 1998, founded`; `X said, founded in`.
        return []
    }
  }

  /** `Founded in 1770 by Ada, it is`: who stands behind the comma. */
  #subjectsBehind(verb: VerbPhrase, at: number): readonly Mention[] {
    if (verb.form !== 'part') return []
    this.#isReduced = true
    const comma = this.#chunks.findIndex(({ kind }, i) => i > at && kind === 'comma')
    const subject = comma < 0 ? undefined : this.#chunks[comma + 1]
    const isClause = isFinite(this.#chunks[comma + 2])
    const meant = subject !== undefined && isClause ? this.#refer(subject) : undefined
    return meant === undefined ? [] : [meant]
  }

  /** `Ada, who`; `a film that`. */
  #antecedentsOf(relative: number): readonly Mention[] {
    const at = this.#chunks[relative - 1]?.kind === 'comma' ? relative - 2 : relative - 1
    const phrase = this.#chunks[at]
    if (phrase?.kind !== 'noun') return []
    return this.#described.get(phrase) ?? (phrase.name === undefined ? [] : [phrase.name])
  }

  #subjectsAt(verb: VerbPhrase, before: Chunk, at: number): readonly Mention[] {
    const described = before.kind === 'noun' ? this.#described.get(before) : undefined
    if (verb.form === 'part' || verb.form === 'gerund') {
      this.#isReduced = true
      if (described !== undefined) return described
      // `the novel Ring written by Suzuki`; where a clause begins, `Ada lived in Rome`.
      if (before.kind === 'noun' && before.name !== undefined && !this.#opensClause(at)) {
        return [before.name]
      }
      const isNamed = before.kind === 'pronoun' || this.#refer(before) !== undefined
      if (!this.#opensClause(at) || !isNamed || this.#isPhrase(before)) return []
      this.#isReduced = this.#chunks[at + 2]?.kind === 'preposition' && this.#isBy(at + 2)
    }
    const first = this.#firstOf(at)
    const chunk = this.#chunks[first]
    this.#antecedents = undefined
    if (this.#chunks[first - 1]?.kind === 'preposition') return (this.#subjects = [])
    if (chunk === undefined || described !== undefined) return (this.#subjects = [])
    const other = this.#chunks[first - 1]?.kind === 'and' ? this.#chunks[first - 2] : undefined
    const subjects = other?.kind === 'noun' && other.name ? [other, chunk] : [chunk]
    this.#subjects = subjects.flatMap((subject) => this.#refer(subject) ?? [])
    return this.#subjects
  }

  #isPhrase(chunk: Chunk): boolean {
    return chunk.kind === 'noun' && !chunk.name && this.#topic?.meantBy(chunk) === undefined
  }

  #isBy(at: number): boolean {
    const chunk = this.#chunks[at]
    return chunk?.kind === 'preposition' && chunk.word.lower === 'by'
  }

  /** `his third album, Acres, was`: the name before the comma, if a noun phrase begins a clause. */
  #apposedAt(comma: number): readonly Mention[] | undefined {
    const [phrase, before, name] = [comma - 3, comma - 2, comma - 1].map((i) => this.#chunks[i])
    if (name?.kind !== 'noun' || before?.kind !== 'comma' || phrase?.kind !== 'noun')
      return undefined
    if (name.name === undefined || phrase.name !== undefined || phrase.head === undefined)
      return undefined
    this.#subjects = [name.name]
    return this.#subjects
  }

  #opensClause(at: number): boolean {
    const before = this.#chunks[this.#firstOf(at) - 1]
    return before === undefined || !/^(?:preposition|noun|verb)$/.test(before.kind)
  }

  /** The first noun phrase of those that prepositions join: `Members` of `Members of the band`. */
  #firstOf(at: number): number {
    let first = at
    while (
      this.#chunks[first - 1]?.kind === 'preposition' &&
      this.#chunks[first - 2]?.kind === 'noun'
    ) {
      first -= 2
    }
    return first
  }

  #refer(chunk: Chunk): Mention | undefined {
    const topic = this.#topic?.meantBy(chunk)
    if (topic !== undefined || chunk.kind !== 'noun') return topic
    if (chunk.name !== undefined) return chunk.name
    if (chunk.owner !== undefined || isPointing(chunk.determiner)) return undefined
    return this.#phraseEndingAt(chunk)
  }
}

function isPointing(determiner: string | undefined): boolean {
  return determiner !== undefined && !/^(?:an?|any|every|each|all|some|no)$/.test(determiner)
}

function isSame(object: Mention, subjects: readonly Mention[]): boolean {
  return subjects.some(({ name }) => name === object.name)
}
