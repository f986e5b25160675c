// What hardly any passage has comes first, whatever else a question says: over a library in which other passages
// have the other words more often, in their titles, and in other forms.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { entity, literal, messageOf } from '../asked.js'

const user = 'u'
const of = (name: keyof typeof vocabulary) => entity(vocabulary[name])

/** A document of one passage. */
function document(title: string, text: string): Triple[] {
  const uri = `urn:${title}`
  return [
    { s: entity(uri), p: of('name'), o: literal(title) },
    { s: entity(`${uri}/0`), p: of('type'), o: of('String') },
    { s: entity(`${uri}/0`), p: of('isPartOf'), o: entity(uri) },
    { s: entity(`${uri}/0`), p: of('text'), o: literal(text) },
  ]
}

const filler =
  'It was written down by the keeper of the old house for those who come after, and nobody knows how much of it is true.'

/** What each question asks for is in the passage of this title alone. */
const right: readonly (readonly [title: string, says: string, ...questions: string[]])[] = [
  ['Letter 1', 'They were planting trees by hand.', 'planting', 'What is said of planting?'],
  ['Letter 2', 'She organizes the masks.', 'Where are masks mentioned?', 'Tell me about masks'],
  ['Letter 3', 'An Edwardian wardrobe.', 'What of Edwardian’s story?', 'the Edwardian stories'],
  ['Letter 4', 'Seen from the Old West, by night.', 'What is said of Old West?', 'old west'],
  ['Letter 5', 'Mr. S. Hart was there.', 'Where is S. Hart mentioned?', 'mr. s. hart'],
  ['Letter 6', 'A half-concealed door.', 'What is said of half-concealed?', 'half concealed'],
  [
    'Letter 7',
    'Thrown as LK_STORAGE_LOST.',
    'LK_STORAGE_LOST',
    'Where is LK_STORAGE_LOST mentioned?',
  ],
  ['Letter 8', 'Since 0.4.2 of it.', 'Where is 0.4.2 mentioned?', 'stories of 0.4.2'],
  [
    'Letter 9',
    'See /etc/keep/flows-12.conf there.',
    '/etc/keep/flows-12.conf',
    'etc/keep/flows-12.conf',
  ],
  ['Letter 10', 'From anna.meyer12@example.org.', 'Who is anna.meyer12@example.org?'],
  ['Letter 11', 'Its ISBN is 978-0-306-40615-7.', 'What is said of 978-0-306-40615-7?'],
  ['Letter 12', 'Written in C# 6, not in C.', 'Tell me about C# 6', 'c# 6'],
  ['Letter 13', 'In the Arena México.', 'What is said of arena mexico?', 'Arena Mexico'],
  [
    'Letter 14',
    'He had no mind for another story to tell.',
    'had no mind for another story to tell',
    '"no mind for another story"',
  ],
  ['Letter 15', '他在2019年来到北京。', '他在2019年来到北京'],
  ['Letter 16', '彼は京都の古い寺院に行った。', '彼は京都の古い寺院に行った'],
]

const others = [
  ...['organizers', 'plants', 'mask', 'mentions', 'story', 'stories', 'tell', 'said'].flatMap(
    (word) => [1, 2, 3].flatMap((n) => document(`${word} ${n}`, `${word}, ${word} and ${word}`)),
  ),
  ...[
    'West',
    'Old',
    'Hart',
    'Arena',
    'Mexico',
    'half',
    'concealed',
    'keep',
    'etc',
    'flows',
  ].flatMap((word) =>
    [1, 2, 3].flatMap((n) => document(`${word} ${n}`, `Of ${word} and mentions, ${n}.`)),
  ),
  ...[1, 2, 3].flatMap((n) => [
    ...document(`北京 ${n}`, '北京，来到北京，年来到北京，他在2019，北京，他在2019。'),
    ...document(`京都 ${n}`, '京都、寺院、古寺院、京都、寺院、彼、古行、寺院、行京都'),
  ]),
  ...[1, 3, 6, 7, 8, 9].flatMap((n) => [
    ...document(`Version ${n}`, `0.${n}.2, 0.4.${n + 2} mentioned`),
    ...document(`Path ${n}`, `/etc/keep/flows-${n}.conf, /etc/keep/users-12.conf`),
    ...document(`Address ${n}`, `anna.meyer${n}@example.org, anna.smith12@example.org`),
    ...document(`Number ${n}`, `ISBN 978-0-306-4061${n}-7`),
    ...document(`Language ${n}`, `C# ${n + 10}, C++ 6, chapter 6 of C, mentions`),
    ...document(`Code ${n}`, `LK_STORAGE_FULL${n}, LK_GRAPH_LOST`),
  ]),
]

t.test('what one passage alone has is found first', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  const letters = right.flatMap(([title, says]) => document(title, `${filler} ${says} ${filler}`))
  await keep.knowledge.write({ user, id: 'core' }, [messageOf([...letters, ...others], 'c')])
  const graph = keep.knowledge.graph({ user })
  for (const [title, , ...questions] of right) {
    for (const text of questions) {
      const found = await graph.search({ text })
      t.equal(found[0]?.title, title, `search: ${text}`)
      const scores = found.map(({ score }) => score)
      t.strictSame(
        scores,
        [...scores].sort((a, b) => b - a),
      )
      const { sources } = await graph.retrieve({ text })
      t.equal(sources[0]?.chunk.v, `urn:${title}/0`, `retrieve: ${text}`)
    }
  }
})

t.test('a name with small words in it is one, where it is in capitals', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  const triples = [
    ...document('Right', `${filler} They were the Friends of the Order. ${filler}`),
    ...Array.from({ length: 20 }, (_, n) => {
      return document(`Friends ${n}`, 'Order, order! Some friends and friends.')
    }).flat(),
  ]
  await keep.knowledge.write({ user, id: 'core' }, [messageOf(triples, 'c')])
  const graph = keep.knowledge.graph({ user })
  const titleOf = async (text: string) => (await graph.search({ text }))[0]?.title
  t.equal(await titleOf('What did the Friends of the Order do?'), 'Right')
  const { sources } = await graph.retrieve({ text: 'Who were the Friends of the Order?' })
  t.equal(sources[0]?.chunk.v, 'urn:Right/0')
  t.not(await titleOf('to whom friends of the order go'), 'Right')
})

t.test('a rare word is not what a long question is about', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  await keep.knowledge.write({ user, id: 'core' }, [
    messageOf(
      [
        ...document(
          'Right',
          'The keeper of the lighthouse was paid by the harbour town in silver.',
        ),
        ...document('Other', `${filler} He was remunerated. ${filler}`),
        ...Array.from({ length: 30 }, (_, n) =>
          document(`Harbour ${n}`, `Keeper ${n} of a harbour town.`),
        ).flat(),
      ],
      'c',
    ),
  ])
  const graph = keep.knowledge.graph({ user })
  const text = 'How was the keeper of the lighthouse remunerated in the harbour town, in silver?'
  t.equal((await graph.search({ text }))[0]?.title, 'Right')
  t.equal((await graph.retrieve({ text })).sources[0]?.chunk.v, 'urn:Right/0')
})

/** Passages by what they are called, and how they come to a question. */
async function ranked(t: Test, texts: Readonly<Record<string, string>>, question: string) {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  const those = Object.entries(texts).flatMap(([title, text]) => document(title, text))
  const fillers = Array.from({ length: 60 }, (_, n) => document(`Filler ${n}`, filler)).flat()
  await keep.knowledge.write({ user, id: 'core' }, [messageOf([...those, ...fillers], 'c')])
  const graph = keep.knowledge.graph({ user })
  const { sources } = await graph.retrieve({ text: question })
  return {
    search: (await graph.search({ text: question }))[0]?.title,
    retrieve: sources[0]?.chunk.v.slice('urn:'.length, -'/0'.length),
  }
}

const both = (title: string) => ({ search: title, retrieve: title })
const long = `${filler} ${filler} ${filler}`

t.test('a rare word is not what a question is about that asks for four things', async (t) => {
  const texts = {
    Right: 'Silver towns, harbour towns: silver of the harbour.',
    Other: `${long} Remuneration. ${long}`,
    ...Object.fromEntries(
      Array.from({ length: 24 }, (_, n) => [`Third ${n}`, `Silver ${n}, harbour ${n}, town ${n}`]),
    ),
  }
  t.strictSame(await ranked(t, texts, 'remuneration silver harbour town'), both('Right'))
  t.strictSame(await ranked(t, texts, 'remuneration'), both('Other'))
})

t.test('of few passages a word is rare that one has', async (t) => {
  const texts = {
    Right: 'Sockets, sockets.',
    Other: `${long} Its owner. ${long}`,
    Second: `${long} An owner. ${long}`,
    ...Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`Third ${n}`, `A socket, ${n}.`])),
  }
  t.strictSame(await ranked(t, texts, 'owner sockets'), both('Right'))
})

t.test('rare words that no passage has together say nothing of either', async (t) => {
  const texts = { Right: 'Lilu, Lilu.', Other: `${long} Gallu. ${long}` }
  t.strictSame(await ranked(t, texts, 'gallu lilu'), both('Right'))
})

t.test('a question of small words is no quotation', async (t) => {
  const texts = {
    Right: 'Owners: the owner, owners.',
    Other: `${long} This is what the owner is. ${long}`,
  }
  t.strictSame(await ranked(t, texts, 'what the owner is'), both('Right'))
})
