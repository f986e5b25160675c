// The same texts asked in other styles, made by rule: names of a vocabulary and first sentences of its entries,
// claims about what a text is called, keywords, beginnings of abstracts, a language that nobody knows, texts without
// capitals, and sentences as passages.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isStopWord } from '../src/text/stop-words.js'
import {
  cran,
  data,
  hotpot,
  type Collection,
  type Passage,
  type Question,
} from './retrieval-data.js'
import { untitled } from './retrieval-rules.js'

const vocabulary = fileURLToPath(new URL('../../../shared/data/schemaorg-30.0.nq', import.meta.url))

export function collectionsOfStyles(): Collection[] {
  const all = [
    terms(),
    entries(),
    claims(),
    keywords(),
    beginnings(),
    unknownLanguage(),
    lowerCase(),
  ]
  return [...all, sentencesOf()].filter((each) => each !== undefined)
}

interface Entry {
  readonly name: string
  readonly said: string
}

const comment = /^<https:\/\/schema\.org\/(\w+)> <\S+#comment> "((?:[^"\\]|\\.)+)"/gm

function entriesOf(): Entry[] | undefined {
  if (!existsSync(vocabulary)) return undefined
  return [...readFileSync(vocabulary, 'utf8').matchAll(comment)].map(([, name = '', said = '']) => {
    const spaced = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase()
    return { name: spaced, said: said.replace(/\\[nrt]/g, ' ').replace(/\\(.)/g, '$1') }
  })
}

/** Short questions, short passages, of which many are much alike. */
function terms(): Collection | undefined {
  const entries = entriesOf()
  if (entries === undefined) return undefined
  const asked = (name: string, n: number) => name.includes(' ') && n % 6 === 0
  return {
    name: 'names of a vocabulary',
    passages: entries.map(({ said }, n) => ({ id: String(n), title: '', text: said })),
    questions: entries.flatMap(({ name }, n) =>
      asked(name, n) ? [{ text: name, right: new Set([String(n)]) }] : [],
    ),
  }
}

/** The first sentence asks for the others. */
function entries(): Collection | undefined {
  const entries = entriesOf()
  if (entries === undefined) return undefined
  const passages: Passage[] = []
  const questions: Question[] = []
  for (const [n, { name, said }] of entries.entries()) {
    const [, first = '', others = ''] = /^(.{40,}?[.]) +(.{60,})$/s.exec(said) ?? []
    const id = String(n)
    if (first !== '' && n % 2 === 0) questions.push({ text: first, right: new Set([id]) })
    passages.push({ id, title: name, text: first !== '' && n % 2 === 0 ? others : said })
  }
  return { name: 'sentences of a vocabulary', passages, questions }
}

/** A sentence of a passage, with what it is called where the passage has a pronoun. */
function claims(): Collection | undefined {
  const all = hotpot()
  if (all === undefined) return undefined
  const byTitle = JSON.parse(readFileSync(data.passages, 'utf8')) as Record<string, string[]>
  const questions: Question[] = []
  const passages = Object.entries(byTitle).map(([title, sentences], n): Passage => {
    const at = n % 3 === 0 ? sentences.findIndex((each) => /^ ?(?:He|She|It|They) /.test(each)) : -1
    const claim = sentences[at]?.trim().replace(/^\w+/, title.replace(/ \(.*\)$/, ''))
    if (claim !== undefined && at > 0) questions.push({ text: claim, right: new Set([title]) })
    else return { id: title, title, text: sentences.join('') }
    return { id: title, title, text: sentences.filter((_, n) => n !== at).join('') }
  })
  return { name: 'claims of hotpot', passages, questions }
}

/** Four telling words of each of Cranfield's questions, as one types them into a field. */
function keywords(): Collection | undefined {
  const all = cran()
  if (all === undefined) return undefined
  const having = new Map<string, number>()
  for (const { text } of all.passages) {
    for (const word of new Set(wordsOf(text))) having.set(word, (having.get(word) ?? 0) + 1)
  }
  const most = all.passages.length / 10
  const keywordsOf = (text: string) =>
    [...new Set(wordsOf(text))].filter((word) => (having.get(word) ?? 0) <= most).slice(0, 4)
  const questions = all.questions.map(({ text, right }) => {
    return { text: keywordsOf(text).join(' '), right }
  })
  return {
    ...{ ...all, name: 'keywords of cranfield' },
    questions: questions.filter(({ text }) => text.includes(' ')),
  }
}

function wordsOf(text: string): string[] {
  const words = text.match(/[a-z0-9-]{3,}/g) ?? []
  return words.filter((word) => !isStopWord(word, 'en'))
}

/** Long questions: the first half of an abstract asks for the second. */
function beginnings(): Collection | undefined {
  const all = cran()
  if (all === undefined) return undefined
  const questions: Question[] = []
  const passages = all.passages.map(untitled).map((passage, n): Passage => {
    const sentences = passage.text.split(/(?<= \.) +/)
    if (n % 8 !== 0 || sentences.length < 4) return passage
    const half = sentences.length >> 1
    questions.push({ text: sentences.slice(0, half).join(' '), right: new Set([passage.id]) })
    return { ...passage, text: sentences.slice(half).join(' ') }
  })
  return { name: 'beginnings of abstracts', passages, questions }
}

/** Each letter another: no list of small words knows it, and no stemmer. */
function unknownLanguage(): Collection | undefined {
  const all = cran()
  if (all === undefined) return undefined
  const turned = (text: string) =>
    text
      .toLowerCase()
      .replace(/[a-z]/g, (each) => 'qwertyuiopasdfghjklzxcvbnm'.charAt(each.charCodeAt(0) - 97))
  return {
    name: 'cranfield in an unknown language',
    passages: all.passages.map(({ id, title, text }) => ({
      id,
      title: turned(title),
      text: turned(text),
    })),
    questions: all.questions.map(({ text, right }) => ({ text: turned(text), right })),
  }
}

/** Where nothing tells names from other words but that they are titles. */
function lowerCase(): Collection | undefined {
  const all = hotpot()
  if (all === undefined) return undefined
  return {
    name: 'hotpot in small letters',
    passages: all.passages.map(({ id, title, text }) => {
      return { id, title: title.toLowerCase(), text: text.toLowerCase() }
    }),
    questions: all.questions.map(({ text, right }) => ({ text: text.toLowerCase(), right })),
  }
}

/** Very short passages, several of one title. */
function sentencesOf(): Collection | undefined {
  const all = hotpot()
  if (all === undefined) return undefined
  const byTitle = JSON.parse(readFileSync(data.passages, 'utf8')) as Record<string, string[]>
  const asked = JSON.parse(readFileSync(data.questions, 'utf8')) as {
    question: string
    supporting_facts: [string, number][]
  }[]
  return {
    name: 'sentences of hotpot',
    passages: Object.entries(byTitle).flatMap(([title, sentences]) =>
      sentences.map((text, n) => ({ id: `${title} ${n}`, title, text: text.trim() })),
    ),
    questions: asked.map(({ question, supporting_facts }) => ({
      text: question,
      right: new Set(supporting_facts.map(([title, n]) => `${title} ${n}`)),
    })),
  }
}
