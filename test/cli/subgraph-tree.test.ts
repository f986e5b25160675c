import t from 'tap'
import { subgraphTree } from '../../src/cli/output/subgraph-tree.js'
import type { Subgraph } from '../../src/graph/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { boat, entity, literal, nothing, statement } from './subgraphs.js'

t.test('a subgraph is a tree with the passages at its end', async (t) => {
  t.equal(
    subgraphTree(boat),
    `Dick  <urn:dick>  0.750  [1]
├─ rows: boat  [1] [2]
│  ├─ paintedIn: "green"
│  └─ ← mended: <urn:ellen>
└─ ← knows: <urn:guest>

The Thames  <urn:thames>  0.500

<urn:clara>
└─ hair: "green"

Passages
[1]  News from Nowhere, 120 to 164  0.900
    He sculled
      the boat.
[2]  <urn:doc/c2>  0.250
`,
  )
})

t.test('nothing is nothing', async (t) => {
  t.equal(subgraphTree(nothing), '')
})

t.test('names cannot move the cursor', async (t) => {
  const triples = [statement('urn:a', 'urn:p/\u001b[2J', literal('\u001b[1m\n'))]
  const labels = { 'urn:a': 'a\u202e\nb' }
  const tree = subgraphTree({ ...nothing, triples, labels })
  t.equal(tree, 'a\\u202e\\u000ab  <urn:a>\n└─ \\u001b[2J: "\\u001b[1m\\n"\n')
})

t.test(
  'a chain is told from the entity that was found, as deep as a question may go',
  async (t) => {
    const triples = Array.from({ length: 200 }, (_, n) =>
      statement(`urn:${n}`, 'urn:p', entity(`urn:${n + 1}`)),
    )
    const entities = [{ entity: entity('urn:199'), score: 1, core: 'c' }]
    const lines = subgraphTree({ ...nothing, entities, triples }).split('\n')
    t.equal(lines.length, 202)
  },
)

const seed = pickSeed()
t.test(`each triple is printed once (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const [printed, given]: [number[], number[]] = [[], []]
  let repeated = 0
  for (let round = 0; round < 200; round++) {
    const term = () => {
      const name = String(random.below(8))
      return random.chance(0.8) ? entity(`urn:${name}`) : literal(name)
    }
    const found = new Map<string, ReturnType<typeof statement>>()
    for (let n = random.below(30); n > 0; n--) {
      const triple = { s: term(), p: entity(`urn:p${random.below(3)}`), o: term() }
      found.set(JSON.stringify(triple), triple)
    }
    const triples = [...found.values()]
    const entities: Subgraph['entities'] = [0, 1].map((n) => {
      return { entity: entity(`urn:${n}`), score: 0, core: 'c' }
    })
    const lines = subgraphTree({ ...nothing, entities, triples }).split('\n')
    printed.push(lines.filter((line) => line.includes('─ ')).length)
    given.push(triples.length)
    const headings = lines.filter((line) => line.startsWith('<'))
    repeated += headings.length - new Set(headings).size
  }
  t.same(printed, given)
  t.equal(repeated, 0)
})
