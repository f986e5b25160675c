import fc from 'fast-check'
import t from 'tap'
import { equals, isInRange, isOneOf } from '../../../src/objects/filter/tests.js'
import type { JsonValue } from '../../../src/types.js'
import { pickSeed } from '../../fixtures/random.js'
import { areSame, jsonValue } from '../values/json-values.js'

const seed = pickSeed()

t.test(`a value is one of those that are the same (seed ${seed})`, async () => {
  const isSame = (value: unknown, operand: JsonValue) => areSame(value ?? null, operand)
  const property = fc.property(
    fc.array(jsonValue, { maxLength: 6 }),
    fc.option(jsonValue, { nil: undefined }),
    fc.boolean(),
    (operands, other, isCopy) => {
      const value = isCopy ? structuredClone([...operands, other]) : other
      const asked = [value, ...(Array.isArray(value) ? value : [])]
      const has = (operand: JsonValue) => asked.some((value) => isSame(value, operand))
      const { any, one } = isOneOf(operands)
      return (
        any(value) === operands.some(has) &&
        one(value) === operands.some((operand) => isSame(value, operand)) &&
        operands.every((operand) => equals(operand).any(value) === has(operand))
      )
    },
  )
  fc.assert(property, { seed, numRuns: 5000 })
})

t.test('an array is asked for objects in no square of them', async (t) => {
  const count = 1000
  let reads = 0
  const values = Array.from({ length: count }, (_, n) => ({
    get k() {
      reads++
      return n
    },
  }))
  const operands = Array.from({ length: count }, (_, n) => ({ k: -1 - n }))
  t.notOk(isOneOf(operands).any(values))
  t.ok(reads > 0 && reads <= 11 * count, `${reads} reads`)
})

t.test('the fields of an operand are not listed for each value', async (t) => {
  let lists = 0
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, n]))
  const wide: JsonValue = new Proxy(fields, {
    ownKeys: (target) => {
      lists++
      return Reflect.ownKeys(target)
    },
  })
  const values = Array.from({ length: 1000 }, (_, n) => ({ f0: -n - 1 }))
  t.notOk(equals(wide).any(values))
  t.notOk(isOneOf([wide, { a: 1 }, 1]).any(values))
  t.notOk(isInRange('$gt', wide).any(values))
  t.ok(lists < 20, `${lists} lists`)
})
