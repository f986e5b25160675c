// Collections whose questions are made by rule, to see that what was chosen on others holds elsewhere: a sentence
// taken out of a passage of a novel, headings of this documentation, and titles of Cranfield's abstracts. Each
// question has one right passage, which lacks it.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Random } from '../test/fixtures/random.js'
import { cran, type Collection, type Passage, type Question } from './retrieval-data.js'

const novel = fileURLToPath(new URL('../../../shared/data/news-from-nowhere.txt', import.meta.url))
/** In UTF-16 code units. */
const leastPassage = 700
const mostSection = 1500

export function collectionsByRule(): Collection[] {
  return [cloze(), headings(), titles()].filter((each) => each !== undefined)
}

function cloze(): Collection | undefined {
  if (!existsSync(novel)) return undefined
  const random = new Random(1)
  const text = readFileSync(novel, 'utf8').replaceAll('\r', '')
  const passages: Passage[] = []
  const questions: Question[] = []
  let passage = ''
  for (const paragraph of text.slice(text.indexOf('CHAPTER I:')).split(/\n\s*\n/)) {
    passage = `${passage} ${paragraph.replace(/\s+/g, ' ')}`.trim()
    if (passage.length < leastPassage) continue
    const sentences = passage.match(/[^.!?;]+[.!?;]+["']?\s*/g) ?? []
    const id = String(passages.length)
    const taken = sentences.length < 4 ? -1 : 1 + random.below(sentences.length - 2)
    const question = sentences[taken]?.replace(/["“”]/g, '').trim() ?? ''
    const isAsked = question.split(' ').length >= 8 && random.chance(0.5)
    if (isAsked) questions.push({ text: question, right: new Set([id]) })
    const left = isAsked ? sentences.filter((_, n) => n !== taken).join('') : passage
    passages.push({ id, title: '', text: left })
    passage = ''
  }
  return { name: 'sentences of a novel', passages, questions }
}

function headings(): Collection | undefined {
  if (!existsSync('docs')) return undefined
  const passages: Passage[] = []
  const questions: Question[] = []
  for (const name of readdirSync('docs').filter((name) => name.endsWith('.md'))) {
    const [, ...parts] = readFileSync(join('docs', name), 'utf8').split(/^#{2,4} (.*)$/m)
    for (let n = 0; n + 1 < parts.length; n += 2) {
      const heading = (parts[n] as string).replaceAll('`', '')
      const text = (parts[n + 1] as string).trim().slice(0, mostSection)
      if (text.length < 120) continue
      const id = String(passages.length)
      passages.push({ id, title: '', text })
      if (heading.split(' ').length > 2) questions.push({ text: heading, right: new Set([id]) })
    }
  }
  return { name: 'headings of docs', passages, questions }
}

function titles(): Collection | undefined {
  const all = cran()
  if (all === undefined) return undefined
  const passages = all.passages.filter(({ text }) => text.length > 100)
  const untitled = ({ id, title, text }: Passage): Passage => {
    const begins = text.toLowerCase().startsWith(title.toLowerCase().slice(0, 20))
    return { id, title: '', text: begins ? text.slice(title.length).replace(/^[ .]+/, '') : text }
  }
  const asked = passages.filter((_, n) => n % 6 === 0)
  return {
    name: 'titles of cranfield',
    passages: passages.map(untitled),
    questions: asked.map(({ id, title }) => ({ text: title, right: new Set([id]) })),
  }
}
