import { beginningWords } from './layout.js'

/** What a word begins with, in numbers whose order is that of its bytes. What is shorter ends in zeros, which no word has. */
export function beginningOf(word: Uint8Array): Uint32Array {
  const beginning = new Uint32Array(beginningWords)
  for (let n = 0; n < beginningWords; n++) {
    let number = 0
    for (let at = 4 * n; at < 4 * n + 4; at++) number = number * 256 + (word[at] ?? 0)
    beginning[n] = number
  }
  return beginning
}
