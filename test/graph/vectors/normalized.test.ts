import t from 'tap'
import { normalizeInto } from '../../../src/graph/vectors/normalized.js'

function normalized(...components: number[]): number[] {
  const target = new Float32Array(components.length + 2).fill(7)
  normalizeInto(Float64Array.from([...components, 9]), components.length, target, 1)
  t.equal(target[0], 7, 'nothing before it is written')
  t.equal(target.at(-1), 7, 'nor after it')
  return [...target.subarray(1, -1)]
}

const half = Math.fround(Math.SQRT1_2)

t.test('a vector gets the length 1', (t) => {
  t.strictSame(normalized(3, -4), [0.6, -0.8].map(Math.fround))
  t.strictSame(normalized(-2), [-1])
  t.strictSame(normalized(), [])
  t.end()
})

t.test('components of any size keep their direction', (t) => {
  t.strictSame(normalized(1e300, 1e300), [half, half])
  t.strictSame(normalized(1e-300, -1e-300), [half, -half])
  t.strictSame(normalized(5e-324, 5e-324), [half, half])
  t.strictSame(normalized(Number.MAX_VALUE, -Number.MAX_VALUE), [half, -half])
  t.strictSame(normalized(1e300, 1e-300), [1, 0])
  t.strictSame(normalized(1e-120, 1e-120), [half, half])
  t.end()
})

t.test('zeros stay zeros, and what is not finite becomes zeros', (t) => {
  t.strictSame(normalized(0, 0), [0, 0])
  for (const odd of [NaN, Infinity, -Infinity]) {
    t.strictSame(normalized(odd, 1), [0, 0])
    t.strictSame(normalized(1, odd), [0, 0])
    t.strictSame(normalized(1e300, odd, 1), [0, 0, 0])
  }
  t.end()
})
