// How right is what a flow takes for names of one thing: of 500 pairs of names that documents have, read and judged by
// a person (same-things.tsv: document, one name, the other, `same` or `different`), which ones are joined, and of how
// many of these it is right. Fails where it is less than 98 %.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chunk } from '../src/flow/steps/chunk.js'
import { extract } from '../src/flow/steps/extract.js'
import { defaultBase } from '../src/flow/steps/vocabulary.js'
import type { FlowDocument, StepContext } from '../src/flow/types.js'
import { createLorekeep } from '../src/index.js'
import { MemoryBackend } from '../adapters/memory.js'
import * as bench from './measure.js'
import { hotpot } from './retrieval-data.js'

const leastPrecision = 98

const scenario = 'names of one thing'
const novel = 'News from Nowhere'
const shared = fileURLToPath(new URL('../../../shared/data/', import.meta.url))
const pairsFile = fileURLToPath(new URL('../../benchmarks/same-things.tsv', import.meta.url))
const collection = hotpot()

if (collection === undefined || !existsSync(`${shared}news-from-nowhere.txt`)) {
  bench.report({ scenario, peer: 'a reader', skipped: 'the texts are not here' })
} else {
  const texts = new Map(collection.passages.map(({ title, text }) => [title, text]))
  texts.set(novel, readFileSync(`${shared}news-from-nowhere.txt`, 'utf8'))
  await measure(texts)
}

async function measure(texts: ReadonlyMap<string, string>): Promise<void> {
  const lines = readFileSync(pairsFile, 'utf8').trimEnd().split('\n')
  bench.check(lines.length === 500, `${lines.length} pairs`)
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const thingsOf = new Map<string, ReadonlyMap<string, string>>()
  const told = { right: 0, wrong: 0, missed: 0 }
  for (const line of lines) {
    const [title = '', one = '', other = '', judged] = line.split('\t')
    const things =
      thingsOf.get(title) ?? (await read(title, texts.get(title) ?? '', keep.knowledge))
    thingsOf.set(title, things)
    const [a, b] = [things.get(one), things.get(other)]
    bench.check(a !== undefined && b !== undefined, `no entity of ${line}`)
    if (a === b) told[judged === 'same' ? 'right' : 'wrong']++
    else if (judged === 'same') told.missed++
    if (a === b && judged !== 'same') bench.note(`not the same: ${line}`)
  }
  const { right, wrong, missed } = told
  const precision = (100 * right) / (right + wrong)
  const recall = (100 * right) / (right + missed)
  const figure = (name: string, value: number, of: string) => ({
    scenario: `${scenario}: ${name}`,
    peer: 'a reader',
    ours: `${value.toFixed(1)} %`,
    theirs: of,
    ...{ value, low: value, high: value },
    unit: 'points' as const,
  })
  bench.report({
    ...figure('joined rightly', precision, `${right} of ${right + wrong} pairs`),
    target: { least: leastPrecision },
  })
  bench.report(figure('found', recall, `${right} of ${right + missed} pairs`))
  bench.check(precision >= leastPrecision, `${precision.toFixed(1)} % of what is joined is right`)
}

/** By name what it is a name of. */
async function read(
  title: string,
  text: string,
  knowledge: StepContext['knowledge'],
): Promise<ReadonlyMap<string, string>> {
  const document = { id: 'urn:read', user: 'reader', collection: 'c', metadata: [], title, text }
  const context = {
    document: document as FlowDocument,
    knowledge,
    base: defaultBase,
    signal: new AbortController().signal,
    progress: () => undefined,
  } as unknown as StepContext
  const { chunks } = await chunk().run(undefined, context)
  const { entities } = await extract().run({ chunks }, context)
  const things = new Map<string, string>()
  for (const { uri, name, aliases = [] } of entities) {
    for (const each of [name, ...aliases.map(({ name }) => name)]) things.set(each, uri)
  }
  return things
}
