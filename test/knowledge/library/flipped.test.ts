// Bits of an index that have changed on the disk: a search ends in an answer or says that something is
// damaged, and whatever was changed, a deep verify finds it.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { hasCode } from '../../../src/errors.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Entry } from '../../../src/storage.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { entity, literal, messageOf } from '../../graph/asked.js'
import { KeptBackend } from '../../objects/kept-backend.js'

t.setTimeout(120_000)

// By the second a list says that it is in more passages than there are, of which a search made no end.
const seeds = [pickSeed(), 2468865025]
const user = 'u'
const questions = [
  { text: 'river boat', explain: true },
  { text: '"the river" r* -lock' },
  { text: '"the b*"', collection: 'd' },
  { text: 'boats', cores: ['core'], document: 'document' },
]

for (const seed of seeds) {
  t.test(`no bit of an index changes unnoticed (seed ${seed})`, async (t) => {
    const random = new Random(seed)
    const backend = new MemoryBackend()
    const open = () => createLorekeep({ backend: new KeptBackend(backend), indexThreads: 0 })
    const keep = await open()
    const texts = ['the river', 'the boats and the boat', 'a lock of the river', 'the bow']
    const triples = texts.flatMap((text, n) => [
      { s: entity(`${n}`), p: { v: vocabulary.text, e: true }, o: literal(text) },
      { s: entity(`${n}`), p: { v: vocabulary.isPartOf, e: true }, o: entity('document') },
      { s: entity('document'), p: { v: vocabulary.name, e: true }, o: literal('Boats') },
    ])
    const messages = [messageOf(triples, 'c'), messageOf(triples.slice(3), 'd')]
    await keep.knowledge.write({ user, id: 'core' }, messages)
    await keep.knowledge.index({ user })
    await keep.close()
    const slices = await backend.open('slices')
    const blocks: Entry[] = []
    for await (const page of slices.scan({})) blocks.push(...page)
    t.equal(blocks.length, 2)
    const findings = async () => {
      const keep = await open()
      for (const question of questions) {
        await keep.knowledge
          .graph({ user })
          .search(question)
          .catch((error: unknown) => {
            if (!hasCode(error, 'LK_STORAGE_CORRUPT')) t.fail(String(error))
          })
      }
      let found = 0
      for await (const { severity } of keep.verify({ deep: true }))
        if (severity === 'error') found++
      await keep.close()
      return found
    }
    t.equal(await findings(), 0)
    for (const { key, value } of blocks) {
      for (let at = random.below(4); at < value.length; at += 1 + random.below(19)) {
        const flipped = Uint8Array.from(value)
        flipped[at] = (flipped[at] as number) ^ (1 << random.below(8))
        await slices.write([{ type: 'put', key, value: flipped }], { durable: true })
        if ((await findings()) === 0) t.fail(`byte ${at} of ${value.length} has changed`)
      }
      await slices.write([{ type: 'put', key, value }], { durable: true })
    }
  })
}
