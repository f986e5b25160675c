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

const k1 = 1.2
const b = 0.75
const titleWeight = 3

/** All passages that are found, best first, those of one score by their chunks. */
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
  const terms = [...[...new Set(words)].map((word) => [word]), ...(phrase ? [phrase] : [])]
  const scores = new Map<NaivePassage, number>()
  for (const asked of terms) {
    const having = passages.filter((passage) => frequency(passage, asked) > 0)
    const idf = Math.log(1 + (passages.length - having.length + 0.5) / (having.length + 0.5))
    for (const passage of having) {
      const f = frequency(passage, asked)
      scores.set(passage, (scores.get(passage) ?? 0) + (idf * f) / (k1 + f))
    }
  }
  const found = new Map<string, NaiveFound & { readonly text: string }>()
  for (const [passage, score] of scores) {
    const { chunk, title, text } = passage
    if (phrase !== undefined && frequency(passage, phrase) === 0) continue
    if (excluded !== undefined && (title.includes(excluded) || text.includes(excluded))) continue
    const key = `${chunk} ${text.join(' ')}`
    const before = found.get(key)
    if (before !== undefined && before.score >= score) continue
    found.set(key, { chunk, score, text: text.join(' ') })
  }
  return [...found.values()]
    .sort((x, y) => y.score - x.score || compare(x.chunk, y.chunk) || compare(x.text, y.text))
    .map(({ chunk, score }) => ({ chunk, score }))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function occurrences(words: readonly string[], asked: readonly string[]): number {
  return words.filter((_, at) => asked.every((word, n) => words[at + n] === word)).length
}
