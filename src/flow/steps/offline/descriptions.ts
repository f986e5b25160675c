// What something is: `a Japanese horror film`, `the capital of France`, `a singer and songwriter`.

import type { Chunk, NounPhrase } from './chunks.js'
import { mention, type Mention } from './mention.js'
import { placesFrom, namesFrom } from './name-lists.js'
import { isPersonNoun } from './person-nouns.js'
import { isA, type Statement } from './statement.js'
import type { Sentence, Word } from './tagger.js'
import { paleAdjectives, paleNouns, titles } from './word-lists.js'

const maxKinds = 8
const maxPrepositions = 6
const maxKindWords = 4
const inPlaces = new Set(['in', 'on', 'at', 'near', 'from'])
const attaching = new Set([
  ...['of', 'in', 'at', 'for', 'from', 'by', 'on', 'with', 'near', 'to', 'under', 'between'],
])
/** Too wide for a kind, and yet a relation. */
const parts = new Set(['part', 'member', 'side', 'one'])
const ordinal = /^(?:\d+(?:st|nd|rd|th)|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w{3,}est)$/

export interface Description {
  readonly statements: readonly Statement[]
  /** The noun phrases that say what it is. */
  readonly phrases: readonly NounPhrase[]
  /** The chunk behind it. */
  readonly end: number
}

/** What the noun phrase at a chunk, and those beside it, say of a subject. */
export function describe(
  sentence: Sentence,
  chunks: readonly Chunk[],
  from: number,
  subject: Mention,
): Description {
  const statements: Statement[] = []
  const phrases: NounPhrase[] = []
  const roles: string[] = []
  let at = from
  while (phrases.length < maxKinds) {
    const phrase = chunks[at]
    if (phrase?.kind !== 'noun' || phrase.name !== undefined || phrase.head === undefined) break
    // `which is agriculture`
    if (phrases.length === 0 && isMass(phrase)) break
    phrases.push(phrase)
    const kinds = kindOf(sentence, phrase, subject)
    // `the capital and largest city of`: of is of both.
    roles.push(...(isRole(sentence, phrase) ? [roleIn(sentence, phrase)] : []))
    const relations = relationsOf(chunks, at, subject, roles)
    const isAlone = relations.end === at + 1
    at = relations.end
    const next = nextKind(chunks, at, isPlural(phrase), isAlone)
    const isOfNext = next !== undefined && isModifier(phrase, chunks[next] as NounPhrase)
    if (!isOfNext) statements.push(...kinds)
    statements.push(...relations.statements)
    if (next === undefined) break
    if (isOfNext) phrases.pop()
    if (isOfNext || !isAlone || (chunks[next] as NounPhrase).determiner !== undefined)
      roles.length = 0
    at = next
  }
  return { statements, phrases, end: at }
}

/** The kind that a noun phrase names: without `other`, `first`, `largest`. */
export function kindIn(sentence: Sentence, { noun, head }: NounPhrase): Mention | undefined {
  if (noun === undefined || head === undefined || paleNouns.has(head.lower)) return undefined
  if (parts.has(head.lower)) return undefined
  if (isCounted(sentence, noun)) return undefined
  let { from } = noun
  while (from < noun.to - 1 && isPale(sentence[from] as Word)) from++
  from = Math.max(from, noun.to - maxKindWords)
  return head.text.length > 2 ? mention(sentence, from, noun.to) : undefined
}

/** What something is in a relation: `chief executive officer`, but `film` of `horror film`. */
export function roleIn(sentence: Sentence, phrase: NounPhrase): string {
  const head = phrase.head?.lemma.toLowerCase() ?? ''
  const kind = titles.has(head) ? kindIn(sentence, phrase) : undefined
  return kind?.name.toLowerCase() ?? head
}

/** `Disney's film` and `South Park creator`, but not `American film` or `London lawyer`. */
export function isTelling(owner: Mention, isOwned: boolean, head: Word): boolean {
  if (isOwned) return true
  if (!isPersonNoun(head.lemma.toLowerCase())) return false
  // `South Korean`, `American Futurist`
  if (/(?:an|ese|ish|ch|ic|ist|i)(?:\s|$)/.test(owner.name)) return false
  return owner.to - owner.from > 1 || /^\p{Lu}{3,}$/u.test(owner.name)
}

function isPale({ lower, pos }: Word): boolean {
  return paleAdjectives.has(lower) || (pos !== 'NOUN' && ordinal.test(lower))
}

function kindOf(sentence: Sentence, phrase: NounPhrase, subject: Mention): Statement[] {
  const { head, owner, isOwned } = phrase
  const kind = kindIn(sentence, phrase)
  if (head === undefined || kind === undefined) return []
  const is: Statement = { subject, relation: isA, object: kind }
  if (owner === undefined || !isTelling(owner, isOwned, head)) return [is]
  return [is, { subject, relation: `${roleIn(sentence, phrase)} of`, object: owner }]
}

/** `capital of France`, `player for the Houston Astros`. */
function relationsOf(
  chunks: readonly Chunk[],
  at: number,
  subject: Mention,
  roles: readonly string[],
): { statements: Statement[]; end: number } {
  const statements: Statement[] = []
  const isPerson = isPersonNoun((chunks[at] as NounPhrase).head?.lemma.toLowerCase() ?? '')
  let end = at + 1
  let isNear = true
  for (let n = 0; n < maxPrepositions; n++) {
    const [preposition, next] = [chunks[end], chunks[end + 1]]
    if (preposition?.kind !== 'preposition' || next?.kind !== 'noun') break
    const { lower } = preposition.word
    if (next.name === undefined) {
      // `in the city of Rome`, but `a book on the history of Rome`.
      const [of, named] = [chunks[end + 2], chunks[end + 3]]
      const isOf = of?.kind === 'preposition' && of.word.lower === 'of'
      isNear = isOf && inPlaces.has(lower) && named?.kind === 'noun' && named.name !== undefined
      if (isNear && named?.kind === 'noun' && named.name) {
        for (const role of roles) {
          statements.push({ subject, relation: `${role} ${lower}`, object: named.name })
        }
        end += 4
        continue
      }
      if (isOf && !isNear) break
      end += 2
      continue
    }
    const isPlace = lower !== 'of' || !isPerson
    const places = placesFrom(chunks, end + 1, isPlace ? lower : '')
    const names = namesFrom(chunks, end + 1)
    if (attaching.has(lower) && (isNear || lower !== 'of')) {
      for (const object of names.names) {
        for (const role of roles) statements.push({ subject, relation: `${role} ${lower}`, object })
      }
    }
    statements.push(...places.statements)
    end = Math.max(places.end, names.end)
  }
  return { statements, end }
}

/** `and a songwriter`, `, songwriter, and producer`. */
function nextKind(
  chunks: readonly Chunk[],
  at: number,
  arePlural: boolean,
  isAlone: boolean,
): number | undefined {
  let next = at
  if (chunks[next]?.kind === 'comma') next++
  if (chunks[next]?.kind === 'and' || isSlash(chunks[next])) next++
  const phrase = chunks[next]
  if (next === at || phrase?.kind !== 'noun' || phrase.name !== undefined) return undefined
  if (phrase.head === undefined || (phrase.determiner && !/^an?$/.test(phrase.determiner))) {
    return undefined
  }
  // `a novel about a lieutenant and soldier`
  if (!isAlone && phrase.determiner === undefined) return undefined
  // `Tim Cook, an engineer, lives in Rome`: the tagger took a verb for a noun.
  if (isPlural(phrase) && !arePlural) return undefined
  const after = chunks[next + 1]
  const isSubject = after?.kind === 'verb' && after.form !== 'part' && after.form !== 'gerund'
  return isSubject ? undefined : next
}

function isSlash(chunk: Chunk | undefined): boolean {
  return chunk?.kind === 'other' && chunk.word.text === '/'
}

function isRole(sentence: Sentence, { head, noun }: NounPhrase): boolean {
  if (head === undefined || noun === undefined || isCounted(sentence, noun)) return false
  return !paleNouns.has(head.lower) || parts.has(head.lower)
}

/** `16 kilometres`, but `2004 film`. */
function isCounted(sentence: Sentence, { from }: Mention): boolean {
  const number = sentence[from - 1]
  return number?.pos === 'NUM' && !/^(?:1\d|20)\d\d$/.test(number.text)
}

/** `film` of `an American film and television actor`. */
function isModifier(phrase: NounPhrase, next: NounPhrase): boolean {
  const isPerson = (of: NounPhrase) => isPersonNoun(of.head?.lemma.toLowerCase() ?? '')
  return next.determiner === undefined && isPerson(next) && !isPerson(phrase)
}

function isMass(phrase: NounPhrase): boolean {
  const { determiner, owner, head } = phrase
  if (determiner !== undefined || owner !== undefined || isPlural(phrase)) return false
  return head !== undefined && !isPersonNoun(head.lower)
}

function isPlural({ head }: NounPhrase): boolean {
  return head !== undefined && head.lower !== head.lemma
}
