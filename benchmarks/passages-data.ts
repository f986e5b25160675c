// Texts as people write them, as far as an index of words sees it: some words are everywhere and most are
// rare (Zipf), and many stand in several forms.

import { encodeMessage } from '../src/codec/encoder.js'
import { stopWords } from '../src/text/stop-words.js'
import type { Term, Triple } from '../src/types.js'
import { vocabulary } from '../src/vocabulary.js'
import { Random } from '../test/fixtures/random.js'

export const user = 'passages'

const vocabularySize = 200_000
const wordsOfPassage = 100
const passagesOfDocument = 20

const common = [...stopWords('en')]
const syllables = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu'.split(' ')

/** How often the words up to a rank stand, of all. */
const shares = new Float64Array(vocabularySize)
let sum = 0
for (let rank = 0; rank < vocabularySize; rank++) shares[rank] = sum += 1 / (rank + 2.7)
for (let rank = 0; rank < vocabularySize; rank++) shares[rank] = (shares[rank] as number) / sum

const billion = 1e9

function wordOf(random: Random): string {
  const share = random.below(billion) / billion
  let [from, to] = [0, vocabularySize - 1]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((shares[middle] as number) > share) to = middle
    else from = middle + 1
  }
  const word = common[from]
  if (word !== undefined) return word
  let spelled = ''
  for (let left = from; left > 0; left = Math.floor(left / syllables.length)) {
    spelled += syllables[left % syllables.length] as string
  }
  return random.below(4) === 0 ? `${spelled}s` : spelled
}

export function textOf(n: number): string {
  const random = new Random(n + 1)
  const length = wordsOfPassage / 2 + random.below(wordsOfPassage)
  return `${Array.from({ length }, () => wordOf(random)).join(' ')}.`
}

/** Two to six words of a passage. */
export function questionOf(n: number, passages: number): string {
  const random = new Random(-1 - n)
  const words = textOf(random.below(passages)).slice(0, -1).split(' ')
  return Array.from({ length: 2 + random.below(5) }, () => random.pick(words)).join(' ')
}

const entity = (v: string): Term => ({ v, e: true })

/** A document with its passages, as a flow says them. */
export function streamOf(document: number, id: string): Uint8Array {
  const triples: Triple[] = []
  const say = (s: Term, p: string, o: Term) => triples.push({ s, p: entity(p), o })
  const uri = entity(`urn:document:${document}`)
  say(uri, vocabulary.name, { v: `Document ${document}`, e: false })
  for (let n = 0; n < passagesOfDocument; n++) {
    const number = document * passagesOfDocument + n
    const passage = entity(`urn:passage:${number}`)
    say(passage, vocabulary.isPartOf, uri)
    say(passage, vocabulary.text, { v: textOf(number), e: false })
  }
  return encodeMessage(['t', { m: { i: id, m: [], u: user, c: 'default' }, t: triples }])
}

export const documentsOf = (passages: number): number => Math.ceil(passages / passagesOfDocument)
