import t from 'tap'
import { StreamedAnswer } from '../../../src/graph/answer/answer.js'
import type { AnswerQuery, Generate, RetrieveQuery } from '../../../src/graph/types.js'
import { completion, events, modelAt, startModelServer } from '../../openai/model-server.js'
import { found, source } from './sources.js'

const sources = [
  source('Ellen lives by the Thames.', { title: 'News from Nowhere', heading: 'I', page: 2 }),
  source('Dick rows [2] boats.\n'),
]
const all = found(sources)
const text = 'Where does Ellen live?'
const never = new Promise<never>(() => {})

const rejection = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => undefined,
    (error: unknown) => error,
  )

function answer(generate: AnswerQuery['generate'], more: Partial<AnswerQuery> = {}, in_ = all) {
  return new StreamedAnswer({ text, generate, ...more }, async () => in_)
}

async function read(pieces: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = []
  for await (const piece of pieces) list.push(piece)
  return list
}

async function* inPieces(...pieces: readonly string[]) {
  for (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve))
    yield piece
  }
}

/** A generator that goes on until it is left, and says so. */
function endless() {
  const seen = { pieces: 0, isAborted: false, isEnded: false }
  const generate: Generate = async function* (_, { signal }) {
    signal.addEventListener('abort', () => (seen.isAborted = true))
    try {
      for (;;) {
        seen.pieces++
        yield `${seen.pieces} `
      }
    } finally {
      seen.isEnded = true
    }
  }
  return { seen, generate }
}

t.test('it is read in pieces, awaited whole, or both', async (t) => {
  const generate = () => inPieces('By the Thames [', '1]; not [7', '] [1, 2].')
  const whole = 'By the Thames [1]; not [7] [1, 2].'
  const cited = {
    text: whole,
    citations: [
      { n: 1, start: 14, end: 17 },
      { n: 1, start: 27, end: 33 },
      { n: 2, start: 27, end: 33 },
    ],
    unknown: [{ n: 7, start: 23, end: 26 }],
  }
  t.match(await answer(generate), cited)
  t.strictSame(await read(answer(generate)), ['By the Thames ', '[1]; not ', '[7] [1, 2].'])

  const both = answer(generate)
  const pieces = await read(both)
  t.equal(pieces.join(''), whole)
  const { citations, sources: given } = await both
  t.equal(citations[0]?.source, given[0])
  t.equal(given[0], sources[0])
  t.strictSame(await read(both), pieces, 'and once more')

  const meanwhile = answer(generate)
  const [first, second, third] = await Promise.all([read(meanwhile), meanwhile, read(meanwhile)])
  t.strictSame([first.join(''), second.text, third.join('')], [whole, whole, whole])
})

t.test('a function gives a text, or pieces, at once or later', async (t) => {
  const ways: Generate[] = [
    () => 'By [1]',
    async () => 'By [1]',
    () => inPieces('By', '', ' [1]'),
    async () => inPieces('By [', '1]'),
    async () =>
      new ReadableStream<string>({
        start(controller) {
          controller.enqueue('By [1]')
          controller.close()
        },
      }) as unknown as AsyncIterable<string>,
  ]
  for (const generate of ways) {
    t.match(await answer(generate), { text: 'By [1]', citations: [{ n: 1, start: 3, end: 6 }] })
  }
  t.match(await answer(() => ''), { text: '', citations: [], unknown: [] })
})

t.test('it gets the prompt, and what was asked of the retrieval', async (t) => {
  let asked: RetrieveQuery | undefined
  const query = { text, entities: 3, maxPromptLength: 600, generate: () => 'x' }
  const generate: Generate = ({ messages, question, sources: given }, { signal }) => {
    t.ok(signal instanceof AbortSignal)
    t.equal(question, text)
    t.equal(given.length, 2)
    return messages[1]?.content.slice(-text.length) ?? ''
  }
  const stream = new StreamedAnswer({ ...query, generate }, async (query) => {
    asked = query
    return all
  })
  t.equal(asked, undefined, 'nothing is asked before somebody reads')
  t.equal((await stream).text, text)
  const { signal: _, ...rest } = asked ?? {}
  t.strictSame(rest, { text, entities: 3 })
})

t.test('without a model the passages are the answer', async (t) => {
  const whole = `[1] News from Nowhere › I, page 2
Ellen lives by the Thames.

[2] urn:doc/Dick rows [2] boats.
Dick rows [2] boats.
`
  const stream = answer(undefined)
  t.equal((await read(stream)).join(''), whole)
  const { text: same, citations, unknown } = await stream
  t.equal(same, whole)
  t.strictSame(
    citations.map(({ n, start, end }) => [n, whole.slice(start, end), start]),
    [
      [1, '[1]', 0],
      [2, '[2]', 62],
    ],
  )
  t.strictSame(unknown, [])
})

t.test('where nothing was found no model is asked', async (t) => {
  const generate = () => t.fail('asked')
  const nothing = found([])
  const whole = await answer(generate as never, {}, nothing)
  t.match(whole, { text: '', citations: [], unknown: [], sources: [], triples: [] })
})

t.test('the passages are there before the text', async (t) => {
  const { seen, generate } = endless()
  const stream = answer(generate)
  t.strictSame(
    (await stream.sources()).map(({ text }) => text),
    sources.map(({ text }) => text),
  )
  t.equal(seen.pieces, 0)
  for await (const piece of stream) {
    t.equal(piece, '1 ')
    break
  }
})

t.test('pieces are made as they are read', async (t) => {
  const { seen, generate } = endless()
  for await (const piece of answer(generate)) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    t.equal(piece, `${seen.pieces} `)
    if (seen.pieces === 5) break
  }
  t.strictSame(seen, { pieces: 5, isAborted: true, isEnded: true })
})

t.test('who leaves ends the answer, unless somebody else is there', async (t) => {
  const left = endless()
  const stream = answer(left.generate)
  for await (const _ of stream) break
  t.match(left.seen, { isAborted: true, isEnded: true })
  t.match(await rejection(stream), { name: 'AbortError' })
  t.match(await rejection(read(stream)), { name: 'AbortError' })

  const shared = answer(() => inPieces('a', 'b', 'c'))
  const other = read(shared)
  for await (const _ of shared) break
  t.strictSame(await other, ['a', 'b', 'c'])

  const awaited = answer(() => inPieces('a', 'b', 'c'))
  const whole = awaited.then(({ text }) => text)
  for await (const _ of awaited) break
  t.equal(await whole, 'abc')

  const over = answer(() => 'a')
  const pieces = over[Symbol.asyncIterator]()
  await pieces.next()
  await pieces.next()
  await pieces.return?.()
  t.equal((await over).text, 'a')
})

t.test('who leaves while nothing comes does not wait', async (t) => {
  let aborted: AbortSignal | undefined
  const silent: Generate = (_, { signal }) => {
    aborted = signal
    return never
  }
  const pieces = answer(silent)[Symbol.asyncIterator]()
  const next = pieces.next()
  while (aborted === undefined) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(await pieces.return?.(), { done: true, value: undefined })
  t.equal(aborted.aborted, true)
  t.strictSame(await next, { done: true, value: undefined })
  t.strictSame(await pieces.next(), { done: true, value: undefined })
})

t.test('the signal ends it with its reason, also where the generator does not look', async (t) => {
  const reason = new Error('enough')
  const deaf: Generate[] = [
    () => never,
    async function* () {
      yield 'By'
      await never
    },
  ]
  for (const generate of deaf) {
    const controller = new AbortController()
    const stream = answer(generate, { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 10)
    t.equal(await rejection(read(stream)), reason)
    t.equal(await rejection(stream), reason)
  }
  const late = new StreamedAnswer(
    { text, generate: () => 'x', signal: AbortSignal.abort(reason) },
    async ({ signal }) => {
      signal?.throwIfAborted()
      return all
    },
  )
  t.equal(await rejection(late), reason)
  t.equal(await rejection(late.sources()), reason)
})

t.test('an error comes to each who reads or waits, and to nobody else', async (t) => {
  const error = new Error('no model')
  const faults: Generate[] = [
    () => {
      throw error
    },
    () => Promise.reject(error),
    async function* () {
      yield 'By'
      throw error
    },
  ]
  for (const generate of faults) {
    const stream = answer(generate)
    t.equal(await rejection(read(stream)), error)
    t.equal(await rejection(stream), error)
    t.equal(await rejection(stream.finally()), error)
    t.equal(await stream.catch(() => 'caught'), 'caught')
    // Read alone: what nobody waits for is no rejection that nobody handles.
    await rejection(read(answer(generate)))
  }
  const failing = new StreamedAnswer({ text }, () => Promise.reject(error))
  t.equal(await rejection(failing), error)
  t.equal(await rejection(failing.sources()), error)
  await new Promise((resolve) => setImmediate(resolve))
})

t.test('what is no text is a mistake of the generator', async (t) => {
  const wrong: unknown[] = [
    () => undefined,
    () => 7,
    () => ['By'],
    () => ({ text: 'By' }),
    async function* () {
      yield { content: 'By' }
    },
  ]
  for (const generate of wrong) {
    const error = await rejection(answer(generate as Generate))
    t.match(error, { name: 'TypeError', message: /^generate must give / })
  }
})

t.test('a question that cannot be is refused', async (t) => {
  const graph = { code: 'LK_GRAPH_QUERY' }
  const cases: [object, object][] = [
    [{ text: undefined }, graph],
    [{ maxPromptLength: 499 }, graph],
    [{ maxPromptLength: '5000' }, graph],
    [{ generate: 'gpt' }, { name: 'TypeError' }],
    [{ generate: {} }, { name: 'TypeError', message: 'answer(): generate.model is missing' }],
    [{ generate: { model: 'm', url: 'ftp://x' } }, { name: 'TypeError' }],
    [{ signal: {} }, { name: 'TypeError' }],
  ]
  for (const [query, error] of cases) {
    t.match(await rejection(answer(() => 'x', query)), error, JSON.stringify(query))
  }
  for (const query of [undefined, null, 'Who?', []]) {
    const stream = new StreamedAnswer(query as never, async () => all)
    t.match(await rejection(stream), graph)
  }
})

t.test('a server is asked by its options', async (t) => {
  const server = await startModelServer(t)
  server.answer = () => ({ pieces: events(['By the Thames [', '1].']) })
  const stream = answer(modelAt(server))
  t.strictSame(await read(stream), ['By the Thames ', '[1].'])
  t.match((await stream).citations, [{ n: 1, start: 14, end: 17 }])
  const [{ body } = { body: {} }] = server.requests
  t.match(body, { model: 'm', stream: true, messages: [{ role: 'system' }, { role: 'user' }] })

  server.answer = () => completion('By the', 'length')
  t.match(await rejection(answer(modelAt(server))), { code: 'LK_MODEL_ANSWER' })

  server.answer = () => ({ pieces: events(['By']).slice(0, 2), end: 'hang' })
  const isLeft = new Promise<void>((resolve) => (server.onLeave = resolve))
  for await (const _ of answer(modelAt(server))) break
  await isLeft
  t.equal(server.left, 1)
})
