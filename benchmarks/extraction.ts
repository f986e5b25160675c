// What the offline extractor finds in HotpotQA's passages, and how fast: names against those that a
// reader wrote down of 24 passages, relations that say something, and time for a passage, of which
// the tagger alone is the reference.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { entityUri, relationUri } from '../src/flow/steps/names.js'
import { loadTagger } from '../src/flow/steps/offline/tagger.js'
import { offlineExtractor } from '../src/flow/steps/offline-extractor.js'
import type { Extraction } from '../src/flow/steps/types.js'
import { vocabulary } from '../src/vocabulary.js'
import * as bench from './measure.js'
import { hotpot, type Passage } from './retrieval-data.js'

const rounds = 5
const base = 'http://trustgraph.ai/e/'
const file = new URL('../../benchmarks/extraction-names.json', import.meta.url)
const names = JSON.parse(readFileSync(fileURLToPath(file), 'utf8')) as Record<string, string[]>
const extractor = offlineExtractor()
const { signal } = new AbortController()

const passages = hotpot()?.passages
if (passages === undefined) {
  bench.report({ scenario: 'extraction', peer: 'a reader', skipped: 'the collection is not here' })
} else await measure(passages)

async function measure(passages: readonly Passage[]): Promise<void> {
  const found = new Map<string, Extraction>()
  const tagger = await loadTagger()
  const times = await bench.interleave(rounds, {
    ours: () =>
      bench.seconds(async () => {
        for (const passage of passages) found.set(passage.id, await extract(passage))
      }),
    tagger: () =>
      bench.seconds(() => {
        for (const { title, text } of passages) tagger.sentences(`${title}\n\n${text}`)
      }),
  })
  const [ours, theirs] = [bench.median(times.ours), bench.median(times.tagger)]
  const ms = (seconds: number) => (seconds * 1000) / passages.length
  const ratios = times.ours.map((time, i) => time / (times.tagger[i] ?? time))
  bench.report({
    scenario: 'extraction: a passage of 90 words',
    peer: 'the tagger alone',
    ours: `${ms(ours).toFixed(2)} ms`,
    theirs: `${ms(theirs).toFixed(2)} ms`,
    value: ours / theirs,
    low: Math.min(...ratios),
    high: Math.max(...ratios),
    unit: 'x',
  })

  const said = [...found.values()].map(({ triples }) => {
    return triples.filter(({ p }) => p.v !== vocabulary.related).length
  })
  const perPassage = said.reduce((sum, count) => sum + count, 0) / passages.length
  points('extraction: said relations a passage', perPassage, 3)
  points('extraction: names found, percent', recallOf(found), 90)
}

function points(scenario: string, value: number, least: number): void {
  const all = { value, low: value, high: value }
  const target = { least }
  bench.report({
    scenario,
    peer: 'a reader',
    ours: value.toFixed(1),
    theirs: '',
    ...all,
    unit: 'points',
    target,
  })
}

/** As they are written, but for articles and case. */
function recallOf(found: ReadonlyMap<string, Extraction>): number {
  let [right, all] = [0, 0]
  for (const [title, expected] of Object.entries(names)) {
    const entities = found.get(title)?.entities ?? []
    const ours = new Set(entities.map(({ name }) => plain(name)))
    all += expected.length
    right += expected.filter((name) => ours.has(plain(name))).length
  }
  return (100 * right) / all
}

function plain(name: string): string {
  return name.toLowerCase().replace(/^the /, '')
}

async function extract({ id, title, text }: Passage): Promise<Extraction> {
  const whole = `${title}\n${text}`
  const chunk = { index: 0, start: 0, end: whole.length, text: whole }
  return extractor(chunk, {
    signal,
    document: { id, user: 'u', collection: 'c', title, metadata: [], text: whole },
    source: { v: id, e: true },
    entity: (name) => ({ v: entityUri(name, base), e: true }),
    relation: (name) => ({ v: relationUri(name, base), e: true }),
  })
}
