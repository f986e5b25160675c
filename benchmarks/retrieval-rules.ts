// Collections whose questions are made by rule, to see that what was chosen on others holds elsewhere: a sentence
// taken out of a passage of a novel, headings of this documentation as of one commit, and titles of Cranfield's
// abstracts. Each question has one right passage, which lacks it.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import { cran, type Collection, type Passage, type Question } from './retrieval-data.js'

const novel = fileURLToPath(new URL('../../../shared/data/news-from-nowhere.txt', import.meta.url))
/** Of the documentation, so that figures of different days can be compared. */
const commit = '7ae5329c'
/** In UTF-16 code units. */
const leastPassage = 700
const mostSection = 1500

export function collectionsByRule(): Collection[] {
  return [sentences(), chapters(), headings(), titles()].filter((each) => each !== undefined)
}

/** From the first chapter to the end, without what is said of the edition. */
export function novelText(): string | undefined {
  if (!existsSync(novel)) return undefined
  const text = readFileSync(novel, 'utf8').replaceAll('\r', '')
  return text.slice(text.indexOf('CHAPTER I:'), text.indexOf('***END OF THE PROJECT'))
}

function sentences(): Collection | undefined {
  const text = novelText()
  if (text === undefined) return undefined
  const random = new Random(1)
  const passages: Passage[] = []
  const questions: Question[] = []
  let passage = ''
  for (const paragraph of text.split(/\n\s*\n/)) {
    passage = `${passage} ${paragraph.replace(/\s+/g, ' ')}`.trim()
    if (passage.length < leastPassage) continue
    const id = String(passages.length)
    const { taken, left } = takeSentence(passage, random)
    if (taken !== undefined) questions.push({ text: taken, right: new Set([id]) })
    passages.push({ id, title: '', text: left })
    passage = ''
  }
  return { name: 'sentences of a novel', passages, questions }
}

function takeSentence(passage: string, random: Random): { taken?: string; left: string } {
  const sentences = passage.match(/[^.!?;]+[.!?;]+["']?\s*/g) ?? []
  const at = sentences.length < 4 ? -1 : 1 + random.below(sentences.length - 2)
  const taken = sentences[at]?.replace(/["“”]/g, '').trim() ?? ''
  if (taken.split(' ').length < 8 || !random.chance(0.5)) return { left: passage }
  return { taken, left: sentences.filter((_, n) => n !== at).join('') }
}

/** Documents of many passages each, without titles. */
function chapters(): Collection | undefined {
  const text = novelText()
  if (text === undefined) return undefined
  const random = new Random(2)
  const passages: Passage[] = []
  const questions: Question[] = []
  for (const [n, chapter] of text
    .split(/^CHAPTER .*$/m)
    .slice(1)
    .entries()) {
    const id = String(n)
    const paragraphs = chapter.split(/\n\s*\n/).map((each) => each.replace(/\s+/g, ' ').trim())
    const left = paragraphs.map((paragraph) => {
      const { taken, left } = takeSentence(paragraph, random)
      if (taken !== undefined && random.chance(0.5))
        questions.push({ text: taken, right: new Set([id]) })
      else return paragraph
      return left
    })
    passages.push({ id, title: '', text: left.join('\n\n') })
  }
  return { name: 'sentences of chapters', passages, questions }
}

function headings(): Collection | undefined {
  const passages: Passage[] = []
  const questions: Question[] = []
  for (const text of docs()) {
    const [, ...parts] = text.split(/^#{2,4} (.*)$/m)
    for (let n = 0; n + 1 < parts.length; n += 2) {
      const heading = (parts[n] as string).replaceAll('`', '')
      const text = (parts[n + 1] as string).trim().slice(0, mostSection)
      if (text.length < 120) continue
      const id = String(passages.length)
      passages.push({ id, title: '', text })
      if (heading.split(' ').length > 2) questions.push({ text: heading, right: new Set([id]) })
    }
  }
  return questions.length === 0 ? undefined : { name: 'headings of docs', passages, questions }
}

/** None where the commit is not here, as in a clone without history. */
function docs(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const names = git('ls-tree', '--name-only', commit, 'docs/').trim().split('\n')
    return names
      .filter((name) => name.endsWith('.md'))
      .map((name) => git('show', `${commit}:${name}`))
  } catch {
    bench.note(`headings of docs: commit ${commit} is not here`)
    return []
  }
}

function titles(): Collection | undefined {
  const all = cran()
  if (all === undefined) return undefined
  const passages = all.passages.filter(({ text }) => text.length > 100)
  const asked = passages.filter((_, n) => n % 6 === 0)
  return {
    name: 'titles of cranfield',
    passages: passages.map(untitled),
    questions: asked.map(({ id, title }) => ({ text: title, right: new Set([id]) })),
  }
}

/** Without its title, which many an abstract begins with. */
export function untitled({ id, title, text }: Passage): Passage {
  const begins = text.toLowerCase().startsWith(title.toLowerCase().slice(0, 20))
  return { id, title: '', text: begins ? text.slice(title.length).replace(/^[ .]+/, '') : text }
}
