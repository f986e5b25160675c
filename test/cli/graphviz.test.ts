import t from 'tap'
import { subgraphDot } from '../../src/cli/output/graphviz.js'
import { boat, entity, literal, nothing, statement } from './subgraphs.js'

t.test('a subgraph is a graph of nodes, passages and what connects them', async (t) => {
  t.equal(
    subgraphDot(boat),
    `digraph lorekeep {
  rankdir=LR
  node [shape=box, style=rounded]
  n0 [label="Dick", tooltip="<urn:dick>", style="rounded,bold", xlabel="0.750"]
  n1 [label="The Thames", tooltip="<urn:thames>", style="rounded,bold", xlabel="0.500"]
  n2 [label="boat", tooltip="<urn:boat>"]
  n0 -> n2 [label="rows", tooltip="<urn:rows>"]
  n3 [label="\\"green\\"", tooltip="\\"green\\"", shape="plaintext"]
  n2 -> n3 [label="paintedIn", tooltip="<urn:#paintedIn>"]
  n4 [label="<urn:clara>", tooltip="<urn:clara>"]
  n5 [label="\\"green\\"", tooltip="\\"green\\"", shape="plaintext"]
  n4 -> n5 [label="hair", tooltip="<urn:hair>"]
  n6 [label="<urn:ellen>", tooltip="<urn:ellen>"]
  n6 -> n2 [label="mended", tooltip="<urn:mended>"]
  n7 [label="<urn:guest>", tooltip="<urn:guest>"]
  n7 -> n0 [label="knows", tooltip="<urn:p1>"]
  p1 [label="[1] He sculled the boat.", tooltip="News from Nowhere, 120 to 164", shape="note", style="solid", xlabel="0.900"]
  n0 -> p1 [style="dashed"]
  n2 -> p1 [style="dashed"]
  p2 [label="[2] <urn:doc/c2>", tooltip="<urn:doc/c2>", shape="note", style="solid", xlabel="0.250"]
  n2 -> p2 [style="dashed"]
}
`,
  )
})

t.test('a chunk that was found is its passage, and does not point at itself', async (t) => {
  const chunk = entity('urn:doc/c1')
  const entities = [{ entity: chunk, score: 0.5, core: 'novel' }]
  const sources = [{ chunk, core: 'novel', score: 0.5, legs: {}, via: [], entities: [chunk] }]
  const lines = subgraphDot({ ...nothing, entities, sources }).split('\n')
  t.equal(lines.filter((line) => line.includes('urn:doc')).length, 1)
  t.notOk(lines.some((line) => line.includes('->')))
})

t.test('texts stay inside their quotes, and are cut where they are long', async (t) => {
  const nasty = '"];\\\n\\N&lt;\u202e'
  const long = `${'😀'.repeat(59)}ab`
  const labels = { 'urn:a': nasty, 'urn:b': long }
  const triples = [
    statement('urn:a', 'urn:p', literal(nasty)),
    statement('urn:b', 'urn:p', entity('urn:a')),
  ]
  const dot = subgraphDot({ ...nothing, labels, triples })
  t.match(dot, 'label="\\"];\\\\\\\\u000a\\\\N&amp;lt;\\\\u202e", tooltip="<urn:a>"')
  t.match(dot, `label="${'😀'.repeat(59)}…", tooltip="${long} <urn:b>"`)
  for (const line of dot.trimEnd().split('\n').slice(1, -1)) {
    const outside = line.replace(/"(?:[^"\\]|\\.)*"/g, '')
    t.match(outside, /^ {2}[\w =>,[\]-]*$/)
  }
})
