import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createIds } from '../../src/clock.js'
import { embed } from '../../src/flow/steps/embed.js'
import { checkDefinition, aFlowId, stepsOf } from '../../src/flow/definition.js'
import { StepCode } from '../../src/flow/step-code.js'
import type { Flow } from '../../src/flow/types.js'
import { LorekeepError } from '../../src/errors.js'

const run = () => undefined
const limits = {
  concurrency: [1, 10_000],
  maxAttempts: [1, 1000],
  stepTimeoutMs: [1, 2 ** 31 - 1],
  minDelayMs: [0, 2 ** 31 - 1],
  maxDelayMs: [0, 2 ** 31 - 1],
  maxQueued: [1, Number.MAX_SAFE_INTEGER],
  keepDone: [0, Number.MAX_SAFE_INTEGER],
} as const

/** The paths of what is wrong; none where all is well. */
function pathsOf(definition: unknown): string[] {
  try {
    checkDefinition(definition)
    return []
  } catch (error) {
    const { code, details } = error as { code: string; details: { errors: { path: string }[] } }
    t.equal(code, 'LK_FLOW_INVALID')
    return details.errors.map(({ path }) => path)
  }
}

t.test('every default is filled in, and the steps are the built-in five', async (t) => {
  t.match(checkDefinition({ id: 'f' }).flow, {
    id: 'f',
    active: true,
    steps: ['chunk', 'embed', 'extract', 'store', 'index'].map((name) => ({ name })),
    concurrency: 32,
    maxAttempts: 5,
    stepTimeoutMs: 600_000,
    minDelayMs: 1000,
    maxDelayMs: 300_000,
    maxQueued: 10_000_000,
    keepDone: 10_000,
  })
})

t.test('fewer documents are under way where a model is asked, or code is run', async (t) => {
  const openai = { name: 'extract', options: { type: 'openai', model: 'm' } }
  for (const [steps, expected] of [
    [['chunk', { name: 'extract', options: { type: 'offline' } }], 32],
    [['chunk', openai, 'store'], 4],
    [['chunk', { name: 'mine', run }], 4],
  ] as const) {
    t.equal(checkDefinition({ id: 'f', steps }).flow.concurrency, expected)
    t.equal(checkDefinition({ id: 'f', steps, concurrency: 7 }).flow.concurrency, 7)
  }
})

for (const [name, [least, most]] of Object.entries(limits)) {
  t.test(`${name} is a whole number from ${least} to ${most}`, async (t) => {
    for (const value of [least, most]) t.strictSame(pathsOf({ id: 'f', [name]: value }), [])
    for (const value of [least - 1, most + 2, 1.5, NaN, '3', true, {}]) {
      t.strictSame(pathsOf({ id: 'f', [name]: value }), [name], String(value))
    }
  })
}

t.test('an id is 1 to 256 bytes of well-formed text', async (t) => {
  for (const id of ['f', 'x'.repeat(256), 'é'.repeat(128), 'a b/c'])
    t.equal(aFlowId.holds(id), true)
  for (const id of ['', 'x'.repeat(257), 'é'.repeat(129), '\ud800', 3, null, undefined]) {
    t.equal(aFlowId.holds(id), false)
    t.strictSame(pathsOf({ id }), ['id'])
  }
})

t.test('everything that is wrong is told at once', async (t) => {
  const steps = ['chunk', 'nothing', { name: 'mine', run, options: {} }, 'chunk', 7]
  t.strictSame(pathsOf({ id: '', active: 1, steps, concurrency: 0, more: 1 }), [
    'id',
    'active',
    'steps[1]',
    'steps[2].options',
    'steps[3]',
    'steps[4]',
    'concurrency',
    'more',
  ])
  for (const definition of [undefined, null, 3, 'f', [], () => {}]) {
    t.strictSame(pathsOf(definition), [''])
  }
  for (const none of [[], 'chunk', Array(101).fill('chunk')]) {
    t.ok(pathsOf({ id: 'f', steps: none }).includes('steps'))
  }
})

t.test('steps of code are stored by name, and run where they are defined', async (t) => {
  const mine = { name: 'mine', run }
  const { flow, code } = checkDefinition({ id: 'f', steps: ['chunk', mine] })
  t.strictSame(flow.steps, [{ name: 'chunk' }, { name: 'mine', code: true }])
  t.equal(stepsOf(flow, code)?.[1], mine)
  t.equal(stepsOf(flow, undefined), undefined)
  t.equal(stepsOf(checkDefinition({ id: 'f' }).flow, undefined)?.length, 5)
  t.strictSame(pathsOf({ id: 'f', steps: [{ name: 'mine', run: 1 }] }), ['steps[0].run'])
  t.strictSame(pathsOf({ id: 'f', steps: [{ ...mine, timeoutMs: 0 }] }), ['steps[0].timeoutMs'])
  t.strictSame(pathsOf({ id: 'f', steps: ['chunk', embed()] }), [])
  t.strictSame(pathsOf({ id: 'f', steps: [{ ...mine, embedder: 5 }] }), ['steps[0].embedder'])
  for (const other of ['timeout', 'timeoutMss', 'retries']) {
    t.strictSame(pathsOf({ id: 'f', steps: [{ ...mine, [other]: 5 }] }), [`steps[0].${other}`])
  }
  t.strictSame(pathsOf({ id: 'f', steps: [{ name: 'chunk', other: 1 }] }), ['steps[0].other'])
})

t.test('a step may be an instance of a class, with whatever it has', async (t) => {
  class Counting {
    readonly name = 'mine'
    readonly calls: unknown[] = []
    #secret = 'it works'
    run() {
      this.calls.push(1)
      return this.#secret
    }
  }
  class Told extends Counting {
    readonly timeoutMs = 0
  }
  const step = new Counting()
  const { flow, code } = checkDefinition({ id: 'f', steps: [step] })
  t.strictSame(flow.steps, [{ name: 'mine', code: true }])
  t.equal(code.get('mine'), step)
  t.strictSame(pathsOf({ id: 'f', steps: [new Told()] }), ['steps[0].timeoutMs'])
})

t.test('the least wait is no longer than the longest, and defaults give way', async (t) => {
  t.strictSame(pathsOf({ id: 'f', minDelayMs: 100, maxDelayMs: 10 }), ['minDelayMs'])
  t.strictSame(pathsOf({ id: 'f', minDelayMs: '9', maxDelayMs: 10 }), ['minDelayMs'])
  const delays = (given: object) => {
    const { minDelayMs, maxDelayMs } = checkDefinition({ id: 'f', ...given }).flow
    return [minDelayMs, maxDelayMs]
  }
  t.strictSame(delays({ minDelayMs: 10, maxDelayMs: 10 }), [10, 10])
  t.strictSame(delays({ minDelayMs: 400_000 }), [400_000, 400_000])
  t.strictSame(delays({ maxDelayMs: 10 }), [10, 10])
  t.strictSame(delays({ maxDelayMs: 2000 }), [1000, 2000])
})

t.test('no id begins with a dash', async (t) => {
  const first = Array.from({ length: 2000 }, () => createIds()())
  t.ok(first.some((id) => id.startsWith('_')))
  t.notOk(first.some((id) => id.startsWith('-')))
  t.equal(new Set(first).size, 2000)
})

t.test(
  'code that is missing is told once for a definition, however often it is read',
  async (t) => {
    const errors: unknown[] = []
    const known = new StepCode(
      async () => undefined,
      (error) => errors.push(error),
    )
    const { flow, code } = checkDefinition({ id: 'f', steps: [{ name: 'mine', run }] })
    for (let n = 0; n < 3; n++) t.equal(known.stepsOf({ ...flow }), undefined)
    t.match(errors, [{ code: 'LK_FLOW_INVALID' }])
    t.equal(errors.length, 1)
    known.stepsOf({ ...flow, concurrency: 7 })
    t.equal(errors.length, 2, 'another definition')
    await known.define(flow, code, async () => undefined)
    const steps = known.stepsOf({ ...flow })
    t.equal(steps?.length, 1)
    t.equal(known.stepsOf({ ...flow }), steps, 'made once')
    t.equal(errors.length, 2)
  },
)

t.test('the code of what may be defined is that of what is found to be', async (t) => {
  const define = (concurrency: number) =>
    checkDefinition({ id: 'f', concurrency, steps: [{ name: 'mine', run: () => concurrency }] })
  const [old, mayBe] = [define(1), define(2)]
  const errors: unknown[] = []
  const storage: { flow?: Flow } = {}
  const known = new StepCode(
    async () => storage.flow ?? Promise.reject(new Error('no storage')),
    (error) => errors.push(error),
  )
  const stepOf = (flow: Flow) => known.stepsOf({ ...flow })?.[0]
  await known.define(old.flow, old.code, async () => undefined)
  for (let n = 0; n < 2; n++) {
    const lost = known.define(mayBe.flow, mayBe.code, () => Promise.reject(new Error('no answer')))
    await t.rejects(lost, { message: 'no answer' })
  }
  const refused = new LorekeepError('LK_PRECONDITION', 'it is not there')
  await t.rejects(known.define(define(3).flow, define(3).code, () => Promise.reject(refused)))
  const [oldStep, newStep] = [old.code.get('mine'), mayBe.code.get('mine')]
  t.equal(stepOf(old.flow), oldStep)
  t.equal(stepOf(mayBe.flow), newStep)
  t.equal(stepOf({ ...mayBe.flow, active: false }), newStep, 'stopped by another process')
  await turn()
  t.equal(stepOf(old.flow), oldStep, 'what was known was ahead of what is stored')
  storage.flow = mayBe.flow
  stepOf(mayBe.flow)
  await turn()
  t.equal(stepOf({ ...mayBe.flow, concurrency: 7 }), newStep, 'changed by another process')
  t.strictSame(errors, [])
})

for (const when of ['before', 'while']) {
  t.test(`the code of a flow goes with it where it is looked for ${when} that goes`, async (t) => {
    const { flow, code } = checkDefinition({ id: 'f', steps: [{ name: 'mine', run }] })
    const storage: { flow?: Flow } = {}
    const errors: unknown[] = []
    const known = new StepCode(
      async () => storage.flow ?? Promise.reject(new Error('no storage')),
      (error) => errors.push(error),
    )
    const lost = known.define(flow, code, () => Promise.reject(new Error('no answer')))
    await t.rejects(lost, { message: 'no answer' })
    storage.flow = flow
    // A claim, which begins to look.
    const claim = () => t.equal(known.stepsOf({ ...flow })?.[0], code.get('mine'))
    if (when === 'before') claim()
    const removed = known.remove('f', async () => {
      await turn()
      if (when === 'while') claim()
      await turn()
      return true
    })
    t.equal(await removed, true)
    await turn()
    t.equal(known.stepsOf({ ...flow }), undefined, 'as another process defines it')
    t.match(errors, [{ code: 'LK_FLOW_INVALID' }])
  })
}

t.test('what is defined while the flow is removed stays, as does one that is not', async (t) => {
  const { flow, code } = checkDefinition({ id: 'f', steps: [{ name: 'mine', run }] })
  const known = new StepCode(
    async () => undefined,
    (error) => t.fail(String(error)),
  )
  await known.define(flow, code, async () => undefined)
  t.equal(await known.remove('f', async () => false), false)
  t.equal(known.stepsOf(flow)?.length, 1)
  await t.rejects(known.remove('f', () => Promise.reject(new Error('in use'))))
  t.equal(known.stepsOf(flow)?.length, 1)
  let defined: Promise<void> | undefined
  await known.remove('f', async () => {
    await turn()
    defined = known.define(flow, code, async () => undefined)
    return true
  })
  await defined
  t.equal(known.stepsOf(flow)?.length, 1)
})
