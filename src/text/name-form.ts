// How a name is written, without what writers differ in.

/** Signs at its end are of it: `C++`, `C#`, `Disney+`. */
const word = /[\p{L}\p{M}\p{N}]+(?:[+#]+(?![+#\p{L}\p{N}]))?/gu
const genitive = /['’](?:s)?$/u
const article = /^the\s+(?=\S)/i

/** Without marks, and without a genitive behind them: `E.B. White's` is `E`, `B`, `White`. */
export function wordsOf(name: string): string[] {
  const plain = name
    .normalize('NFKC')
    .replace(article, '')
    .replace(genitive, '')
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
  return plain.match(word) ?? []
}

/** Two names of one form are one name. Numbers stay apart: `3.1` is not `31`. */
export function formOf(name: string, words: readonly string[] = wordsOf(name)): string {
  let form = ''
  for (const word of words) {
    const isApart = /\p{N}$/u.test(form) || /^\p{N}/u.test(word)
    form += isApart && form !== '' ? ` ${word}` : word
  }
  return form.toLowerCase()
}
