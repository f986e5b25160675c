import t, { type Test } from 'tap'
import { runTestFile } from './test-file.js'

const passing = `t.test('passes', async (t) => { await null; t.pass() })`

/** What a file gives that passes, and does this beside it. */
async function run(test: Test, more: string) {
  const program = `import t from 'tap'\nimport { createHook } from 'node:async_hooks'\n${passing}\n${more}`
  const cwd = test.testdir({ dist: { test: { 'one.test.js': program } } })
  return runTestFile('test/one.test.ts', { cwd, quiet: true })
}

t.test('a file whose tests pass is ok, and reads its own name', async (t) => {
  const { ok, tap } = await run(t, `t.match(process.argv, [/node/, /one\\.test\\.js$/])`)
  t.ok(ok, tap)
})

const unfinished: Readonly<Record<string, string>> = {
  'throws where nobody catches it': `t.test('x', async () => { setTimeout(() => { throw new Error('x') }); await new Promise((resolve) => setTimeout(resolve, 50)) })`,
  'rejects a promise that nobody awaits': `t.test('x', async () => { void Promise.reject(new Error('x')); await new Promise((resolve) => setTimeout(resolve, 50)) })`,
  'rejects one when its tests are through': `t.teardown(() => void setTimeout(() => void Promise.reject(new Error('x')), 10))`,
  'throws while it is loaded': `throw new Error('x')`,
  'has a test that fails': `t.test('x', async (t) => t.fail())`,
  'has a test that does not end': `t.test('x', () => new Promise(() => undefined))`,
  'waits for ever': `await new Promise(() => undefined)`,
}

for (const [what, more] of Object.entries(unfinished)) {
  t.test(`a file that ${what} fails`, async (t) => {
    const { ok, tap } = await run(t, more)
    t.notOk(ok, tap)
  })
}

t.test(
  'an error that nobody caught is told of the file, and a hook of its own works',
  async (t) => {
    // Of the test it is where `tap` has its hook.
    const { tap } = await run(
      t,
      `t.test('x', async (t) => {
      void Promise.reject(new Error('x'))
      let begun = 0
      const init = (_, type) => void (begun += type === 'PROMISE' ? 1 : 0)
      const hook = createHook({ init }).enable()
      await new Promise((resolve) => setTimeout(resolve, 50))
      hook.disable()
      t.ok(begun > 0, 'told')
    })`,
    )
    t.match(tap, /^ {2}tapCaught: unhandledRejection$/m)
    t.match(tap, /^ {4}ok 1 - told$/m)
  },
)
