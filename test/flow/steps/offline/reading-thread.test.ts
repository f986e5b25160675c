import { execFile } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { findingsIn } from '../../../../src/flow/steps/offline/findings.js'
import { passageOf } from '../../../../src/flow/steps/offline/passage.js'
import { findElsewhere, idle } from '../../../../src/flow/steps/offline/reading-thread.js'
import { loadTagger } from '../../../../src/flow/steps/offline/tagger.js'

const root = process.cwd()
const never = new AbortController().signal

const texts = [
  'Ada Lovelace wrote the first program for the Analytical Engine in 1843. She was born in London.',
  '# The Visit\n\nThe Guest is a novel. It was directed by Boyle on 13 June 1877.',
  'Das Haus von Ada steht in Berlin, und Boyle wohnt darin.',
  '',
]

function passage(text: string, title?: string) {
  const document = { id: 'd', user: 'u', collection: 'c', metadata: [], text }
  const named = title === undefined ? document : { ...document, title }
  return passageOf({ index: 0, start: 0, end: text.length, text }, named)
}

t.test('what is found there is what is found here, asked for all at once', async (t) => {
  const tagger = await loadTagger()
  const passages = texts.flatMap((text) => [passage(text), passage(text, 'Ada Lovelace')])
  const found = await Promise.all(passages.map((one) => findElsewhere(one, never)))
  t.strictSame(
    found,
    passages.map((one) => findingsIn(one, tagger)),
  )
  t.ok((found[0]?.statements.length ?? 0) > 0)
})

t.test('one that is left rejects at once, and the others go on', async (t) => {
  const controller = new AbortController()
  const reason = new Error('left')
  const left = findElsewhere(passage(texts[0] as string), controller.signal)
  const other = findElsewhere(passage(texts[1] as string), never)
  controller.abort(reason)
  await t.rejects(left, reason)
  await t.rejects(findElsewhere(passage('A.'), controller.signal), reason)
  t.ok((await other).entities.length > 0)
})

t.test('who comes while an idle thread is ended has another', async (t) => {
  const { ms } = idle
  idle.ms = 1
  t.teardown(() => {
    idle.ms = ms
  })
  for (let n = 0; n < 3; n++) {
    const { entities } = await findElsewhere(passage(texts[0] as string), never)
    t.ok(entities.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
})

// Threads in which something goes wrong are made of other files in that place.

const answers = `
import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ id, passage: { text } }) => {
  if (text === 'throw') return parentPort.postMessage({ type: 'failed', id, error: new RangeError('it threw') })
  if (text === 'exit') process.exit(1)
  const now = Date.now()
  while (text === 'hang' || (text === 'slow' && Date.now() < now + 2500));
  parentPort.postMessage({ type: 'found', id, found: text })
})
parentPort.postMessage({ type: 'ready' })
`

const program = `
import { findElsewhere } from './src/flow/steps/offline/reading-thread.js'
const passage = (text) => ({ text, parted: text, title: undefined, before: '', after: '' })
const controller = new AbortController()
setTimeout(() => controller.abort(new Error('left')), 1000)
const of = (text) => findElsewhere(passage(text), text === 'hang' ? controller.signal : new AbortController().signal)
const told = await Promise.all(process.argv.slice(2).map((text) => of(text).catch(({ name, code, message }) => [name, code, message])))
console.log(JSON.stringify(told))
`

t.test('a fault of one passage is of that one alone', async (t) => {
  const { told } = await run(t, answers, ['a', 'throw', 'b', 'exit', 'c', 'exit', 'd'])
  const ended = ['LorekeepError', 'LK_INTERNAL']
  t.match(told, ['a', ['RangeError', null, 'it threw'], 'b', ended, 'c', ended, 'd'])
})

t.test('a passage that takes for ever ends with its thread when it is left', async (t) => {
  const { told } = await run(t, answers, ['a', 'hang', 'b'])
  t.match(told, ['a', ['Error', null, 'left'], 'b'])
})

t.test('so do two of them, which are left while another is read', async (t) => {
  const { told } = await run(t, answers, ['slow', 'hang', 'hang', 'b'])
  const left = ['Error', null, 'left']
  t.match(told, ['slow', left, left, 'b'])
})

t.test('without a thread texts are read here, and one warning says so', async (t) => {
  for (const worker of [undefined, 'process.exit(0)', `setInterval(() => {}, 1000)`]) {
    const { told, stderr } = await run(t, worker, ['Ada met Boyle in London.', 'Ada met Boyle.'])
    t.match(told, [{ entities: { length: 3 } }, { entities: { length: 2 } }])
    t.equal(stderr.match(/Warning: lorekeep .*reading-worker\.js: docs\/bundlers\.md/g)?.length, 1)
  }
})

async function run(
  t: Test,
  worker: string | undefined,
  asked: readonly string[],
): Promise<{ told: unknown[]; stderr: string }> {
  const directory = t.testdir({ 'package.json': '{ "type": "module" }', 'program.js': program })
  const file = 'src/flow/steps/offline/reading-worker.js'
  cpSync(join(root, 'dist/src'), join(directory, 'src'), {
    recursive: true,
    filter: (from) => !from.endsWith('reading-worker.js'),
  })
  if (worker !== undefined) writeFileSync(join(directory, file), worker)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'), 'junction')
  const run = promisify(execFile)
  const { stdout, stderr } = await run(process.execPath, [join(directory, 'program.js'), ...asked])
  return { told: JSON.parse(stdout) as unknown[], stderr }
}
