// The ranking of docs/graph.md word by word, over a list of passages: no index, no stems, nothing shared
// with what it is compared with.

export interface NaivePassage {
  readonly chunk: string
  readonly title: readonly string[]
  readonly text: readonly string[]
}

export interface NaiveQuestion {
  readonly words: readonly string[]
  readonly phrase?: readonly string[] | undefined
  readonly excluded?: string | undefined
}

export interface NaiveFound {
  readonly chunk: string
  readonly score: number
}

const k1 = 1.5
const b = 0.75
const titleWeight = 3
const pairWeight = 0.75
const againWeight = 0.2
const mostOfKey = 16
const passagesOfOne = 256
const mostKeyed = 3

/** All passages that are found, best first, those of one score by their chunks. `words` stand beside each other. */
export function naiveSearch(
  passages: readonly NaivePassage[],
  { words, phrase, excluded }: NaiveQuestion,
): NaiveFound[] {
  const mean = (lengths: readonly number[]) =>
    lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  const meanTitle = mean(passages.map(({ title }) => title.length))
  const meanText = mean(passages.map(({ text }) => text.length))
  const frequency = ({ title, text }: NaivePassage, asked: readonly string[]) => {
    const inTitle = occurrences(title, asked)
    const inText = occurrences(text, asked)
    const ofText = inText === 0 ? 0 : inText / (1 - b + (b * text.length) / meanText)
    const ofTitle = inTitle === 0 ? 0 : inTitle / (1 - b + (b * title.length) / meanTitle)
    return titleWeight * ofTitle + ofText
  }
  const single = [...new Set(words)].map((word) => [word])
  const pairs = words.slice(1).map((word, n): readonly string[] => [words[n] as string, word])
  const terms = [...single, ...(phrase ? [phrase] : []), ...pairs]
  const scores = new Map<NaivePassage, number>()
  const havingOf = (asked: readonly string[]) =>
    passages.filter((passage) => frequency(passage, asked) > 0)
  const idfOf = (asked: readonly string[]) => {
    const having = havingOf(asked).length
    return Math.log(1 + (passages.length - having + 0.5) / (having + 0.5))
  }
  const countOf = (asked: readonly string[]) =>
    asked.length === 1 ? words.filter((word) => word === asked[0]).length : 1
  for (const asked of terms) {
    const weight = 1 + againWeight * Math.log2(countOf(asked))
    // Of a pair what it is rarer than its rarer word.
    const rarer = Math.max(...asked.map((word) => idfOf([word])))
    const idf = pairs.includes(asked) ? pairWeight * (idfOf(asked) - rarer) : idfOf(asked)
    for (const passage of havingOf(asked)) {
      const f = frequency(passage, asked)
      const score = (weight * idf * f) / (k1 + f)
      scores.set(passage, (scores.get(passage) ?? 0) + score)
    }
  }
  const isFound = (passage: NaivePassage) => {
    if (phrase !== undefined && frequency(passage, phrase) === 0) return false
    return !passage.title.includes(excluded ?? '') && !passage.text.includes(excluded ?? '')
  }
  for (const passage of scores.keys()) if (!isFound(passage)) scores.delete(passage)
  const first = keyed()
  if (first !== undefined) scores.set(first, Math.max(...scores.values()))
  const found = new Map<string, NaiveFound & { readonly text: string }>()
  for (const [passage, score] of scores) {
    const { chunk, text } = passage
    const key = `${chunk} ${text.join(' ')}`
    const before = found.get(key)
    if (before !== undefined && before.score >= score) continue
    found.set(key, { chunk, score, text: text.join(' ') })
  }
  return [...found.values()]
    .sort((x, y) => y.score - x.score || compare(x.chunk, y.chunk) || compare(x.text, y.text))
    .map(({ chunk, score }) => ({ chunk, score }))

  /** The best of those that have all rare parts of a short question. */
  function keyed(): NaivePassage | undefined {
    if (single.length > mostKeyed) return undefined
    const most = Math.min(mostOfKey, Math.max(1, Math.floor(passages.length / passagesOfOne)))
    const keys = [...single, ...pairs].filter((asked) => {
      const having = havingOf(asked).length
      return having > 0 && having <= most
    })
    const having = passages.filter((passage) => keys.every((key) => frequency(passage, key) > 0))
    const sum = (asked: readonly string[]) => asked.reduce((sum, word) => sum + idfOf([word]), 0)
    const had = [...new Set(keys.flat())]
    const rest = sum([...new Set(words)].filter((word) => !had.includes(word)))
    const worth = Math.max(sum(had), ...keys.map(idfOf))
    if (keys.length === 0 || worth < (worth + rest) / 2) return undefined
    const best = having.filter((passage) => scores.has(passage))
    best.sort(
      (x, y) => (scores.get(y) as number) - (scores.get(x) as number) || compare(x.chunk, y.chunk),
    )
    return best[0]
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function occurrences(words: readonly string[], asked: readonly string[]): number {
  return words.filter((_, at) => asked.every((word, n) => words[at + n] === word)).length
}
