import type { Turns } from '../../turns.js'
import type { DictionaryWriter } from './dictionary-writer.js'
import type { TermTable } from './term-table.js'
import type { TermsKernel } from './terms-kernel.js'

/** Terms whose entries are looked for at once: each look waits for memory, and these all together. */
const termsAtOnce = 256

const starts = new Uint32Array(termsAtOnce)
const ends = new Uint32Array(termsAtOnce)

/**
 * It would be optimised away if nothing became of it.
 *
 * @kept Nobody imports it.
 */
export let wasRead = 0

/** Writes the terms of a table, which may lie in the memory of `kernel`, in their order, as sortTerms() has it. */
export async function writeTerms(
  terms: TermTable,
  order: Uint32Array,
  dictionary: DictionaryWriter,
  turns: Turns,
  kernel?: TermsKernel,
): Promise<void> {
  while (dictionary.count < terms.count) {
    const gathered = kernel?.gather(order, dictionary.count, dictionary.wordLength)
    if (gathered !== undefined && gathered.ends.length > 0) await dictionary.addAll(gathered)
    else {
      writeSome(terms, order, dictionary)
      await dictionary.flush()
    }
    await turns.pass()
  }
}

function writeSome(
  { words, starts: startOf, count }: TermTable,
  order: Uint32Array,
  dictionary: DictionaryWriter,
): void {
  while (!dictionary.isFull && dictionary.count < count) {
    const first = dictionary.count
    const those = Math.min(termsAtOnce, count - first)
    for (let n = 0; n < those; n++) {
      const id = order[2 * (first + n) + 1] as number
      starts[n] = startOf[id] as number
      ends[n] = startOf[id + 1] as number
    }
    let read = 0
    for (let n = 0; n < those; n++) {
      read ^= (words[starts[n] as number] as number) ^ (words[(ends[n] as number) - 1] as number)
    }
    wasRead = read
    for (let n = 0; n < those; n++) {
      const hash = order[2 * (first + n)] as number
      dictionary.add(words, starts[n] as number, ends[n] as number, hash)
    }
  }
}
