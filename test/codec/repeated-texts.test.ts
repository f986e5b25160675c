import fc from 'fast-check'
import t from 'tap'
import { RepeatedTexts } from '../../src/codec/repeated-texts.js'

const text = fc.oneof(
  { arbitrary: fc.string({ maxLength: 12 }), weight: 3 },
  fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 120, maxLength: 135 }),
  fc.constantFrom(...['integer', 'decimal'].map((n) => `http://www.w3.org/2001/XMLSchema#${n}`)),
)

t.test(
  'finds what was last said of a text, or nothing: never what was said of another',
  async (t) => {
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.boolean())), fc.nat(20), (steps, before) => {
        const texts = new RepeatedTexts<number>()
        const said = new Map<string, number>()
        for (const [n, [text, isSaid]] of steps.entries()) {
          const bytes = Buffer.concat([Buffer.alloc(before, n), Buffer.from(text)])
          const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
          const found = texts.get(view, before, bytes.length)
          if (found !== undefined && found !== said.get(text)) return false
          if (!isSaid) continue
          said.set(text, n)
          texts.set(view, before, bytes.length, n)
          const isShort = bytes.length > before && bytes.length - before <= 128
          if (texts.get(view, before, bytes.length) !== (isShort ? n : undefined)) return false
          // What it keeps is its own.
          bytes.fill(0)
        }
        return true
      }),
    )
    t.pass()
  },
)

t.test('keeps texts of one length apart', async (t) => {
  const texts = new RepeatedTexts<string>()
  const names = ['integer', 'decimal', 'boolean', 'gYear', 'float', 'date', 'time', 'long', 'byte']
  const views = names.map((name) => {
    const bytes = new TextEncoder().encode(`http://www.w3.org/2001/XMLSchema#${name}`)
    return new DataView(bytes.buffer)
  })
  for (const [n, view] of views.entries()) texts.set(view, 0, view.byteLength, names[n] as string)
  const found = views.map((view) => texts.get(view, 0, view.byteLength))
  t.strictSame(found, names)
})
