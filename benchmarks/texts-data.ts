// HotpotQA's sample: passages, and questions about them.

import { fileURLToPath } from 'node:url'

const file = (name: string) =>
  fileURLToPath(new URL(`../../../shared/data/retrieval/${name}.json`, import.meta.url))

export const data = {
  passages: file('hotpotqa_train_corpus'),
  questions: file('hotpotqa_train'),
}
