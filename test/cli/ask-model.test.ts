// `ask --model`: a model behind a server of the test answers.

import t from 'tap'
import type { Answer } from '../../src/graph/types.js'
import { completion, events, startModelServer } from '../openai/model-server.js'
import { fail, run, runAlone, serve, start, succeed } from './command.js'

const data = t.testdir()
const text = '# Frankenstein\n\nMary Shelley wrote Frankenstein in Geneva.\n'
const load = ['load', '-', '--id', 'urn:note', '--title', 'A Note', '--wait', '--data', data]
await succeed(t, load, { input: Buffer.from(text) })
const question = ['ask', 'Who wrote Frankenstein?']
const secret = 'sk-do-not-tell'

t.test('the answer comes as it is made, then what it cites', async (t) => {
  const model = await startModelServer(t)
  let goOn = () => {}
  const isSeen = new Promise<void>((resolve) => (goOn = resolve))
  const [begin = '', first = '', ...rest] = events(['Mary\u001b[2J Shelley ', '[1', '], not [7].'])
  model.answer = () => ({
    pieces: (async function* () {
      yield* [begin, first]
      await isSeen
      yield* rest
    })(),
  })
  const args = [...question, '--model', 'm', '--model-url', model.url, '--data', data]
  const { until, child, ended } = start(t, args, { env: { OPENAI_API_KEY: secret } })
  child.stdin?.end()
  await until('Mary')
  goOn()
  const { code, stdout, stderr } = await ended
  t.equal(code, 0, stderr)
  t.match(
    String(stdout),
    /^Mary\\u001b\[2J Shelley \[1\], not \[7\]\.\n\n\[1\] {2}A Note › Frankenstein, \d+ to \d+\n$/,
  )
  t.match(stderr, /^lorekeep: 1 of 1 passage cited; no passage is \[7\]\n$/)
  t.match(model.requests, [{ body: { model: 'm', stream: true } }])
  t.equal(model.requests[0]?.headers.authorization, `Bearer ${secret}`)
})

t.test('a directory and a server are asked alike, and the model from here', async (t) => {
  const model = await startModelServer(t)
  model.answer = () => completion('Mary Shelley [1].')
  const flags = ['--model', 'm', '--model-url', model.url, '--max-prompt-length', '1000']
  const ask = async (where: readonly string[]) => [
    String(await succeed(t, [...question, ...flags, ...where])),
    JSON.parse(String(await succeed(t, [...question, ...flags, '--json', ...where]))) as Answer,
  ]
  const local = await ask(['--data', data])
  t.match(local, [
    /^Mary Shelley \[1\]\.\n\n\[1\] {2}A Note/,
    { text: 'Mary Shelley [1].', citations: [{ n: 1, start: 13, end: 16 }], unknown: [] },
  ])
  const { url, token, child, ended } = await serve(t, ['--data', data])
  t.strictSame(await ask(['--url', url, '--token', token]), local)
  child.kill('SIGTERM')
  await ended
  t.equal(model.requests.length, 4)
})

t.test('a model that fails is an error behind what it said', async (t) => {
  const model = await startModelServer(t)
  const args = [...question, '--model', 'm', '--model-url', model.url, '--data', data]
  model.answer = () => ({ pieces: events(['Mary'], 'length') })
  const cut = await run(t, args)
  t.match([cut.code, String(cut.stdout)], [1, 'Mary\n'])
  t.match(cut.stderr, /^lorekeep: the answer of the model is not usable: .*limit of tokens/)

  model.answer = () => ({ status: 401, body: { error: { message: `no such key: ${secret}` } } })
  const refused = await runAlone(t, args, { env: { OPENAI_API_KEY: secret } })
  t.equal(refused.code, 1)
  t.match(refused.stderr, 'OPENAI_API_KEY')
  t.notMatch(refused.stderr, secret)
})

t.test('where nothing is found no model is asked', async (t) => {
  const model = await startModelServer(t)
  const flags = ['--model', 'm', '--model-url', model.url, '--data', data]
  const nobody = await run(t, [...question, '--user', 'nobody', ...flags])
  t.match(nobody, { code: 0, stderr: /user 'nobody' has no cores/ })
  t.equal(String(nobody.stdout), '')
  t.strictSame(model.requests, [])
})

t.test('Ctrl-C ends the request to the model', async (t) => {
  const model = await startModelServer(t)
  const [begin = '', first = ''] = events(['Mary'])
  model.answer = () => ({ pieces: [begin, first], end: 'hang' })
  const isLeft = new Promise<void>((resolve) => (model.onLeave = resolve))
  const args = [...question, '--model', 'm', '--model-url', model.url, '--data', data]
  const { child, until, ended } = start(t, args)
  await until('Mary')
  child.kill('SIGINT')
  t.match(await ended, { code: 130 })
  await isLeft
})

t.test('flags that do not go together are refused', async (t) => {
  for (const flags of [
    ['--model', 'm', '--all'],
    ['--model', 'm', '--dot'],
    ['--model-url', 'http://localhost/v1'],
    ['--max-prompt-length', '1000'],
    ['--model', 'm', '--model-url', 'localhost'],
    ['--model', 'm', '--model-url', 'http://u:p@localhost'],
    ['--model', ''],
  ]) {
    await fail(t, 2, [...question, ...flags, '--data', data])
  }
  await fail(t, 1, [...question, '--model', 'm', '--max-prompt-length', '1', '--data', data])
})
