// What `$text` has to find, by its rules said once more: every object is read for every question.

import type { TextIndex } from '../../src/objects/types.js'
import { parseSearch } from '../../src/text/search-text.js'
import { stemmer } from '../../src/text/stemming.js'
import { isStopWord } from '../../src/text/stop-words.js'
import { eachWord } from '../../src/text/words.js'
import type { JsonObject } from '../../src/types.js'

interface Scored<T> {
  readonly object: T
  readonly score: number
}

interface Asked {
  readonly forms: readonly string[]
  readonly isPrefix: boolean
}

/** Those with a score, best first; of one score in the order given. */
export async function naiveSearch<T extends JsonObject>(
  objects: readonly T[],
  { text, weights = {}, language: usual = 'en' }: TextIndex,
  search: string,
  language = usual,
): Promise<Scored<T>[]> {
  const rows = objects.map((object) => {
    const counts = new Map<string, number>()
    const texts: string[][] = []
    let length = 0
    for (const field of text) {
      const weight = weights[field] ?? 1
      for (const one of textsOf(object[field])) {
        const words = wordsOf(one)
        texts.push(words)
        for (const word of words) counts.set(word, (counts.get(word) ?? 0) + weight)
        length += words.length * weight
      }
    }
    return { object, counts, texts, length, score: 0 }
  })
  const average = rows.reduce((sum, { length }) => sum + length, 0) / rows.length
  const vocabulary = [...new Set(rows.flatMap(({ counts }) => [...counts.keys()]))].sort()
  const stemOf = language === 'none' ? (form: string) => form : await stemmer(language)
  const { words, phrases, excluded } = parseSearch(search)
  for (const { form, isPrefix } of askedWords(words, phrases, language)) {
    const forms = isPrefix
      ? vocabulary.filter((other) => other.startsWith(form)).map((other) => ({ other, weight: 1 }))
      : [
          { other: form, weight: 1 },
          ...vocabulary
            .filter((other) => other !== form && stemOf(other) === stemOf(form))
            .map((other) => ({ other, weight: 0.9 })),
        ]
    const found = rows.map(({ counts, length }) => {
      let frequency = 0
      for (const { other, weight } of forms) {
        frequency += (weight * (counts.get(other) ?? 0)) / (0.25 + (0.75 * length) / average)
      }
      return frequency
    })
    const having = found.filter((frequency) => frequency > 0).length
    const idf = Math.log(1 + (rows.length - having + 0.5) / (having + 0.5))
    for (const [n, row] of rows.entries()) {
      const frequency = found[n] as number
      if (frequency > 0) row.score += idf * (frequency / (1.5 + frequency))
    }
  }
  return rows
    .filter(({ score, texts }) => score > 0 && phrases.every((phrase) => hasPhrase(texts, phrase)))
    .filter(({ texts }) => !excluded.some((phrase) => hasPhrase(texts, phrase)))
    .sort((a, b) => b.score - a.score)
    .map(({ object, score }) => ({ object, score }))
}

function askedWords(
  words: readonly { readonly form: string; readonly isPrefix: boolean }[],
  phrases: readonly Asked[],
  language: string,
) {
  const telling = words.filter(({ form, isPrefix }) => isPrefix || !isStopWord(form, language))
  const chosen = telling.length + phrases.length > 0 ? telling : words
  const inPhrases = phrases.flatMap(({ forms, isPrefix }) =>
    forms.map((form, n) => ({ form, isPrefix: isPrefix && n === forms.length - 1 })),
  )
  const all = new Map<string, { readonly form: string; readonly isPrefix: boolean }>()
  for (const { form, isPrefix } of [...chosen, ...inPhrases]) {
    all.set(`${form} ${isPrefix}`, { form, isPrefix })
  }
  return all.values()
}

function hasPhrase(texts: readonly string[][], { forms, isPrefix }: Asked): boolean {
  return texts.some((words) =>
    words.some((_, at) =>
      forms.every((form, n) => {
        const word = words[at + n] ?? ''
        return isPrefix && n === forms.length - 1 ? word.startsWith(form) : word === form
      }),
    ),
  )
}

function textsOf(value: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((one) => typeof one === 'string')
}

function wordsOf(text: string): string[] {
  const words: string[] = []
  eachWord(text, (form) => words.push(form))
  return words
}
