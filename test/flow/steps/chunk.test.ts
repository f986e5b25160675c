import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Problems } from '../../../src/door/problems.js'
import { chunk, chunkFrom } from '../../../src/flow/steps/chunk.js'
import { Members } from '../../../src/door/members.js'
import type { ChunkOutput } from '../../../src/flow/steps/types.js'
import type { FlowDocument, Step, StepContext } from '../../../src/flow/types.js'
import type { JsonObject } from '../../../src/types.js'

interface Run extends Pick<FlowDocument, 'headings' | 'pages'> {
  readonly text: string
  readonly signal?: AbortSignal
  readonly progress?: StepContext['progress']
}

async function run(step: Step, { signal, progress, ...read }: Run): Promise<ChunkOutput> {
  const document = { id: 'urn:d', user: 'alice', collection: 'default', metadata: [], ...read }
  const context = {
    document,
    signal: signal ?? new AbortController().signal,
    progress: progress ?? (() => undefined),
  }
  // The rest of a context is not for this step.
  return (await step.run(document, context as unknown as StepContext)) as ChunkOutput
}

const words = 'word '.repeat(2000)
const lengths = ({ chunks }: ChunkOutput) => chunks.map(({ start, end }) => end - start)

t.test('a document becomes chunks of 2,000 that overlap by 100', async (t) => {
  const step = chunk()
  t.equal(step.name, 'chunk')
  const output = await run(step, { text: words })
  t.same(output.chunks.slice(0, 2), [
    { index: 0, start: 0, end: 1999 },
    { index: 1, start: 1900, end: 3899 },
  ])
  t.same(structuredClone(output), output)
})

t.test('the size and the overlap are options', async (t) => {
  const output = await run(chunk({ size: 100, overlap: 50 }), { text: words })
  t.same(output.chunks[1], { index: 1, start: 50, end: 149 })
  // An overlap that was not asked for gives way to a small size.
  t.ok(lengths(await run(chunk({ size: 16 }), { text: words })).every((length) => length <= 16))
  await run(chunk({ size: 1_000_000, overlap: 500_000 }), { text: words })
})

t.test('chunks of files go over neither headings nor ends of pages', async (t) => {
  const text = 'Before. Part One Chapter 1 The first. More of it. Chapter 2 The second.'
  const headings = ['Part One', 'Chapter 1', 'Chapter 2'].map((heading, n) => {
    const start = text.indexOf(heading)
    return { start, end: start + heading.length, text: heading, level: n === 0 ? 1 : 2 }
  })
  const pages = [0, text.indexOf('More')].map((start, n) => ({ start, page: n + 1 }))
  const cut = async (read: Omit<Run, 'text'>) => {
    const { chunks } = await run(chunk(), { text, ...read })
    t.strictSame(
      chunks.map(({ index }) => index),
      [...chunks.keys()],
    )
    return chunks.map(({ start, end }) => text.slice(start, end))
  }
  t.strictSame(await cut({}), [text])
  t.strictSame(await cut({ headings, pages }), [
    'Before.',
    'Part One Chapter 1 The first.',
    'More of it.',
    'Chapter 2 The second.',
  ])
  t.strictSame(await cut({ headings: headings.slice(2) }), [
    'Before. Part One Chapter 1 The first. More of it.',
    'Chapter 2 The second.',
  ])
  const second = { page: 2, start: text.indexOf('Chapter 1') }
  const apart = await cut({ headings, pages: [{ page: 1, start: 0 }, second] })
  t.strictSame(
    apart.slice(0, 3),
    ['Before.', 'Part One', 'Chapter 1 The first. More of it.'],
    'a title on a page of its own',
  )
  const { chunks } = await run(chunk({ size: 16, overlap: 0 }), { text, headings, pages })
  t.ok(chunks.every(({ start, end }) => end - start <= 16))
  t.ok(chunks.some(({ start }) => start === text.indexOf('More')))
})

t.test('a wrong option is a mistake of the program', async (t) => {
  const wrong = [
    { size: 15 },
    { size: 1_000_001 },
    { size: 99.5 },
    { size: '99' as unknown as number },
    { overlap: -1 },
    { overlap: 1001 },
    { size: 100, overlap: 51 },
  ]
  for (const options of wrong) t.throws(() => chunk(options), TypeError, JSON.stringify(options))
})

t.test('options of a configuration are checked, each with its path', async (t) => {
  const read = (options: JsonObject) => {
    const problems = new Problems()
    const reader = new Members(options, 'steps[0].options', problems)
    const step = chunkFrom(reader)
    reader.end()
    return { step, paths: problems.details.errors.map(({ path }) => path) }
  }
  const { step, paths } = read({ size: 100, overlap: 0 })
  t.same(paths, [])
  t.same((await run(step, { text: words })).chunks[1], { index: 1, start: 100, end: 199 })
  t.same(lengths(await run(read({}).step, { text: words }))[0], 1999)
  t.same(read({ size: 16, overlap: 8 }).paths, [])
  t.same(read({ size: 1_000_000, overlap: 500_000 }).paths, [])
  t.same(read({ size: 15, overlap: '1' }).paths, [
    'steps[0].options.size',
    'steps[0].options.overlap',
  ])
  t.same(read({ size: 1_000_001 }).paths, ['steps[0].options.size'])
  t.same(read({ size: 16, overlap: 9 }).paths, ['steps[0].options.overlap'])
  t.same(read({ length: 1 }).paths, ['steps[0].options.length'])
})

t.test('progress is told once, when the number of chunks is known', async (t) => {
  const told: number[][] = []
  const progress = (...numbers: number[]) => told.push(numbers)
  const { chunks } = await run(chunk(), {
    text: words,
    progress: (...all) => void progress(...all),
  })
  t.same(told, [[chunks.length, chunks.length]])
})

t.test('a document of white space has no chunks', async (t) => {
  t.same(await run(chunk(), { text: ' \r\n ' }), { chunks: [] })
})

// Small chunks of graphemes that a segmenter has to find: many turns of work.
const slow = { step: chunk({ size: 16, overlap: 8 }), text: '👩‍👩‍👧 '.repeat(8000) }

t.test('a long document leaves turns to others', async (t) => {
  let isDone = false
  let turns = 0
  const done = run(slow.step, slow).finally(() => (isDone = true))
  while (!isDone) {
    await setImmediate()
    turns++
  }
  await done
  t.ok(turns > 3, `${turns} turns`)
})

t.test('an aborted step ends with the reason of its signal', async (t) => {
  const reason = new Error('enough')
  await t.rejects(run(chunk(), { text: words, signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  const done = run(slow.step, { ...slow, signal: controller.signal })
  await setImmediate()
  controller.abort(reason)
  await t.rejects(done, reason)
})
