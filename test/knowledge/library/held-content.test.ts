// The bytes of segments that wait: how many are held, and whose go.

import t from 'tap'
import { HeldContent, mostContent } from '../../../src/knowledge/library/held-content.js'
import type { Waiting } from '../../../src/knowledge/library/library.js'

function segment(bytes: number): Waiting {
  const own = { user: 'u', core: 'core', generation: 'g', segment: 0, isSoon: true }
  return { ...own, bytes, content: new Uint8Array(bytes) }
}

t.test('as many bytes are held as may be, and no byte more', (t) => {
  const usual = { ...mostContent }
  t.teardown(() => Object.assign(mostContent, usual))
  mostContent.bytes = 10
  const held = new HeldContent()
  const [a, b] = [{}, {}]
  const those = [segment(4), segment(3), segment(3)] as const
  held.add(a, those[0])
  held.add(a, those[1])
  held.add(b, those[2])
  t.equal(held.bytes, 10)
  const lengths = () => those.map(({ content }) => content?.length)
  t.same(lengths(), [4, 3, 3])
  held.use(a)
  held.add(a, segment(1))
  t.same(lengths(), [4, 3, undefined], 'of the library that was not used')
  held.add(a, segment(3))
  t.same(lengths(), [undefined, 3, undefined], 'of the only one, the oldest')
  t.equal(held.bytes, 7)
  held.letGo(a, those[1])
  held.letGo(a, those[1])
  t.equal(held.bytes, 4)
  held.letGoOfAll(a)
  t.equal(held.bytes, 0)
  const long = segment(11)
  held.add(b, long)
  t.same([held.bytes, long.content], [0, undefined])
  t.end()
})
