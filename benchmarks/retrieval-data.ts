// Collections of questions with known right passages: HotpotQA's sample, whose questions need two passages
// each, and Cranfield, abstracts on aerodynamics.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = (name: string) =>
  fileURLToPath(new URL(`../../../shared/data/retrieval/${name}`, import.meta.url))

export const data = {
  passages: file('hotpotqa_train_corpus.json'),
  questions: file('hotpotqa_train.json'),
}

const cranfield = {
  passages: file('cran.all.1400'),
  questions: file('cran.qry'),
  right: file('cranqrel'),
}

export interface Passage {
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface Question {
  readonly text: string
  /** Ids of the right passages. */
  readonly right: ReadonlySet<string>
}

export interface Collection {
  readonly name: string
  readonly passages: readonly Passage[]
  readonly questions: readonly Question[]
}

/** Undefined where the files are not here. */
export function hotpot(): Collection | undefined {
  if (!existsSync(data.passages)) return undefined
  const byTitle = JSON.parse(readFileSync(data.passages, 'utf8')) as Record<string, string[]>
  const asked = JSON.parse(readFileSync(data.questions, 'utf8')) as {
    question: string
    supporting_facts: [string, number][]
  }[]
  return {
    name: 'hotpot',
    passages: Object.entries(byTitle).map(([title, sentences]) => {
      return { id: title, title, text: sentences.join('') }
    }),
    questions: asked.map(({ question, supporting_facts }) => {
      return { text: question, right: new Set(supporting_facts.map(([title]) => title)) }
    }),
  }
}

export function cran(): Collection | undefined {
  if (!existsSync(cranfield.passages)) return undefined
  const passages = entriesOf(cranfield.passages).map((entry) => {
    return {
      id: String(Number.parseInt(entry)),
      title: fieldOf(entry, 'T'),
      text: fieldOf(entry, 'W'),
    }
  })
  const right = new Map<number, Set<string>>()
  for (const line of readFileSync(cranfield.right, 'utf8').trim().split('\n')) {
    const [question = 0, passage = 0, grade = 0] = line.trim().split(/\s+/).map(Number)
    if (grade < 1 || grade > 4) continue
    right.set(question, (right.get(question) ?? new Set()).add(String(passage)))
  }
  // They count in the order of the file, whatever they say of themselves.
  const questions = entriesOf(cranfield.questions).map((entry, n) => {
    return { text: fieldOf(entry, 'W'), right: right.get(n + 1) ?? new Set<string>() }
  })
  return { name: 'cranfield', passages, questions: questions.filter(({ right }) => right.size > 0) }
}

function entriesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split(/^\.I /m).slice(1)
}

/** What follows a line such as `.T`, up to the next. */
function fieldOf(entry: string, name: string): string {
  const [, from = ''] = entry.split(new RegExp(`^\\.${name}\\s*$`, 'm'))
  const [text = ''] = from.split(/^\.[TABWX]\s*$/m)
  return text.replace(/\s+/g, ' ').trim()
}
