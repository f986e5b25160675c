import t from 'tap'
import { ErrorReports } from '../src/error-reports.js'
import { LorekeepError } from '../src/errors.js'
import { VirtualClock } from './flow/virtual-clock.js'

const full = () => new LorekeepError('LK_STORAGE_FAILED', 'no space left')
const down = () => new LorekeepError('LK_STORAGE_UNAVAILABLE')

function reporting() {
  const clock = new VirtualClock()
  const told: [unknown, number, string][] = []
  const reports = new ErrorReports<string>(
    (error, count, context) => told.push([error, count, context]),
    (delayMs, call) => clock.after(delayMs, call),
  )
  return { clock, told, reports }
}

t.test('the first error at once, the others of its second as one', async (t) => {
  const { clock, told, reports } = reporting()
  const errors = Array.from({ length: 500 }, full)
  for (const [n, error] of errors.entries()) reports.report('knowledge', error, `call ${n}`)
  t.strictSame(told, [[errors[0], 1, 'call 0']])
  await clock.advance(999)
  t.equal(told.length, 1)
  await clock.advance(1)
  t.equal(told.length, 2)
  t.equal(told[1]?.[0], errors[499], 'the last one')
  t.strictSame(told[1]?.slice(1), [499, 'call 499'])

  // It goes on: no call before the next second has ended.
  reports.report('knowledge', full(), 'later')
  t.equal(told.length, 2)
  await clock.advance(1000)
  t.strictSame(told[2]?.slice(1), [1, 'later'])

  // It was over for a second: the next one is a first one again.
  await clock.advance(1000)
  t.equal(told.length, 3)
  reports.report('knowledge', full(), 'again')
  t.strictSame(told[3]?.slice(1), [1, 'again'])
})

t.test('kinds are told apart by place and code, or by what an error says', async (t) => {
  const { told, reports } = reporting()
  for (let n = 0; n < 3; n++) {
    reports.report('knowledge', full(), '')
    reports.report('knowledge', down(), '')
    reports.report('flows', down(), '')
    reports.report('flows', new TypeError('one'), '')
    reports.report('flows', new TypeError('another'), '')
    reports.report('flows', 'a string', '')
    reports.report('flows', Object.create(null), '')
  }
  t.equal(told.length, 7)
})

t.test('close() swallows nothing, and what comes after it is told as it comes', async (t) => {
  const { clock, told, reports } = reporting()
  for (let n = 0; n < 5; n++) reports.report('knowledge', full(), `full ${n}`)
  for (let n = 0; n < 3; n++) reports.report('knowledge', down(), `down ${n}`)
  reports.close()
  t.strictSame(
    told.map(([, count, context]) => [count, context]),
    [
      [1, 'full 0'],
      [1, 'down 0'],
      [4, 'full 4'],
      [2, 'down 2'],
    ],
  )
  reports.report('knowledge', full(), 'late')
  reports.report('knowledge', full(), 'later')
  await clock.advance(10_000)
  t.equal(told.length, 6)
})

t.test('errors that are all different are bounded as well, and counted', async (t) => {
  const { clock, told, reports } = reporting()
  for (let n = 0; n < 10_000; n++) reports.report('http', new Error(`number ${n}`), '')
  t.equal(told.length, 101)
  await clock.advance(1000)
  t.equal(told.length, 102)
  t.equal(
    told.reduce((sum, [, count]) => sum + count, 0),
    10_000,
  )
})

t.test('a process ends though a second has not', async (t) => {
  const reports = new ErrorReports(() => undefined)
  reports.report('', full(), undefined)
  reports.report('', full(), undefined)
  t.pass('this file ends: the timer holds nothing')
})
