// The names that a text has by the rules of proper-names.ts, for their tests.

import { properNames } from '../../../../src/flow/steps/offline/proper-names.js'
import { loadTagger } from '../../../../src/flow/steps/offline/tagger.js'

export async function namesIn(text: string, isEnglish = true): Promise<string[]> {
  const tagger = await loadTagger()
  const found = properNames(tagger.sentences(text), (word) => tagger.common(word), isEnglish)
  return found.flat().map(({ name }) => name)
}
