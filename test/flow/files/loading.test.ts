// Files through a whole store: what is loaded, what is refused and why, and what answers cite.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import type { FileDocument, Job, StepContext } from '../../../src/flow/types.js'
import { createLorekeep, type Lorekeep, type LorekeepOptions } from '../../../src/lorekeep.js'
import { KeptBackend } from '../../objects/kept-backend.js'
import { flowProblems } from '../../fixtures/problems.js'
import { column, docx, encryption, epub, pdf, zip } from './made-files.js'

const paper = pdf([
  [
    { x: 72, y: 740, text: 'News of the River', size: 20 },
    ...column(72, 700, [
      'The river Thames flows through the old',
      'meadows of Oxford and is crossed by sev-',
      'eral bridges, of which the oldest is the',
      'one at Folly. Boats are for hire there.',
    ]),
    ...column(330, 700, [
      'Ellen lives in a house by the river, and',
      'Dick, who rows the boat, is her cousin in',
      'the second degree. They met in the hay-',
      'field, where all the others had gone to.',
    ]),
  ],
  [
    { x: 72, y: 740, text: 'Of Tolls', size: 20 },
    ...column(72, 700, [
      'The toll was a penny, which the keeper took from everybody but the weavers.',
    ]),
  ],
])

/** A folder as people have it. */
const folder: Readonly<Record<string, Uint8Array>> = {
  'notes.md': Buffer.from('# Notes\n\n## Mills\n\nThe mill at Iffley burned down in 1908.\n'),
  'page.html': Buffer.from(
    '<!doctype html><title>A Page</title><nav>Home</nav><h1>Locks</h1><p>Sandford lock is the deepest.</p>',
  ),
  'paper.pdf': paper,
  'report.docx': docx([
    { text: 'Engines', style: 'heading 1' },
    { text: 'The steam engine pulled barges upstream.' },
  ]),
  'book.epub': epub('A Book', [
    '<h1>Fish</h1><p><span epub:type="pagebreak" title="7"/>Pike hide in the reeds.</p>',
  ]),
  'table.csv': Buffer.from('Bridge,Year,Stone\nMagdalen,1790,Headington\nFolly,1827,Bath\n'),
  'data.json': Buffer.from('{"weirs": [{"name": "Godstow", "metres": 2}]}'),
  'brief.txt': Buffer.from('Gr\xfc\xdfe aus Oxford! Die Br\xfccke ist gesperrt.\n', 'latin1'),
  'broken.pdf': paper.subarray(0, 400),
  'locked.pdf': pdf([column(72, 700, ['secret'])], { trailer: encryption }),
  'scan.pdf': pdf([[], []]),
  'archive.zip': zip({ 'a.txt': 'a' }),
  'program.exe': Buffer.concat([Buffer.from('7f454c4602010100', 'hex'), Buffer.alloc(100)]),
}

async function opened(
  t: { teardown(fn: () => Promise<void>): unknown },
  options: Partial<LorekeepOptions> = {},
): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend(), ...options })
  t.teardown(() => keep.close())
  return keep
}

async function load({ flows }: Lorekeep, file: FileDocument, flow = 'default'): Promise<Job> {
  const { job } = await flows.load(flow, { user: 'alice', ...file })
  for await (const _ of flows.watch({ job }));
  return (await flows.job(job)) as Job
}

t.test('a folder of files: what is loaded, what is refused and why', async (t) => {
  const keep = await opened(t)
  keep.flows.run()
  const told = await Promise.all(
    Object.entries(folder).map(async ([name, bytes]) => {
      try {
        const { state, failures, attempts } = await load(keep, { name, bytes })
        const [failure] = failures
        const why = failure && `${failure.step} ${failure.code}: ${failure.message}, ${attempts}`
        return [name, [state, why].join(' ').trim()]
      } catch (error) {
        const { code, details } = error as { code: string; details: { found: string } }
        return [name, `${code}: ${details.found}`]
      }
    }),
  )
  const why = (reason: string) =>
    `dead read LK_DOCUMENT_UNREADABLE: the file cannot be read: ${reason}, 1`
  t.strictSame(Object.fromEntries(told), {
    'notes.md': 'done',
    'page.html': 'done',
    'paper.pdf': 'done',
    'report.docx': 'done',
    'book.epub': 'done',
    'table.csv': 'done',
    'data.json': 'done',
    'brief.txt': 'done',
    'broken.pdf': why('it is a damaged PDF: Invalid PDF structure.'),
    'locked.pdf': why('it is encrypted: it needs a password'),
    'scan.pdf': why(
      'it has no text on its 2 pages: they may be images, which are not read, or in fonts that are not in the file',
    ),
    'archive.zip': 'LK_DOCUMENT_TYPE: a ZIP archive',
    'program.exe': 'LK_DOCUMENT_TYPE: an executable (ELF)',
  })

  const graph = await keep.knowledge.graph({ user: 'alice' })
  const cited = async (text: string) => {
    const [found] = await graph.search({ text, k: 1 })
    const { title, heading, page, core } = found ?? {}
    return [core, title, heading, page]
  }
  t.strictSame(await cited('meadows several'), [
    'paper.pdf',
    'News of the River',
    'News of the River',
    1,
  ])
  t.strictSame(await cited('hayfield'), ['paper.pdf', 'News of the River', 'News of the River', 1])
  t.strictSame(await cited('toll weavers'), ['paper.pdf', 'News of the River', 'Of Tolls', 2])
  t.strictSame(await cited('Iffley'), ['notes.md', 'Notes', 'Mills', undefined])
  t.strictSame(await cited('Sandford'), ['page.html', 'A Page', 'Locks', undefined])
  t.strictSame(await cited('barges'), ['report.docx', 'Engines', 'Engines', undefined])
  t.strictSame(await cited('pike'), ['book.epub', 'A Book', 'Fish', 7])
  t.strictSame(await cited('Magdalen'), ['table.csv', undefined, undefined, undefined])
  t.strictSame(await cited('Godstow'), ['data.json', undefined, undefined, undefined])
  t.strictSame(await cited('Brücke'), ['brief.txt', undefined, undefined, undefined])
  t.strictSame(await cited('Home'), [undefined, undefined, undefined, undefined])
  const [row] = await graph.search({ text: 'Headington' })
  t.match(row?.text, 'Bridge: Magdalen\nYear: 1790\nStone: Headington')
})

t.test('retrieval cites pages and headings, and takes neither for knowledge', async (t) => {
  const keep = await opened(t)
  keep.flows.run()
  await load(keep, { name: 'paper.pdf', bytes: paper })
  const graph = await keep.knowledge.graph({ user: 'alice' })
  const { sources, triples } = await graph.retrieve({
    text: 'toll penny keeper weavers',
    entities: 2,
  })
  t.match(sources[0], { heading: 'Of Tolls', page: 2 })
  const { citations } = await graph.answer({
    text: 'toll penny keeper weavers',
    generate: ({ messages }) =>
      /Heading: Of Tolls\nPage: 2\n/.test(messages[1]?.content ?? '') ? 'A penny [1].' : '',
  })
  const cited = { title: 'News of the River', heading: 'Of Tolls', page: 2 }
  t.match(citations, [{ n: 1, start: 8, end: 11, source: cited }])
  t.notMatch(triples.map(({ p }) => p.v).join(), /pageStart|articleSection/)
})

t.test('a file waits in the queue as it is, and is read after another start', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const first = await createLorekeep({ backend })
  const files = { 'paper.pdf': paper, 'broken.pdf': paper.subarray(0, 400), 'notes.md': '# A' }
  for (const [name, file] of Object.entries(files)) {
    await first.flows.load('default', { name, bytes: Buffer.from(file as string) })
  }
  t.strictSame(await flowProblems(await backend.open('flows')), [])
  await first.close()
  const keep = await opened(t, { backend })
  keep.flows.run()
  const states: string[] = []
  for (const document of Object.keys(files)) {
    let state = ''
    for await (const event of keep.flows.watch({ document })) {
      state = `${document} ${event.state}`
      if (event.state === 'done' || event.state === 'dead') break
    }
    states.push(state)
  }
  t.strictSame(states, ['paper.pdf done', 'broken.pdf dead', 'notes.md done'])
  t.strictSame(await flowProblems(await backend.open('flows')), [])
})

t.test('steps see the text, the headings and the pages', async (t) => {
  const keep = await opened(t)
  const seen: unknown[] = []
  const run = (input: unknown, { document }: StepContext) => {
    const { text, headings, pages, type, title } = document
    seen.push(input === document, text.slice(0, 17), headings?.length, pages?.length, type, title)
  }
  await keep.flows.define({ id: 'f', steps: [{ name: 'see', run }] })
  keep.flows.run()
  await load(keep, { id: 'urn:x', title: 'Given', bytes: paper }, 'f')
  t.strictSame(seen, [true, 'News of the River', 2, 2, 'application/pdf', 'Given'])
  await load(keep, { id: 'urn:y', bytes: Buffer.from('# Plain') }, 'f')
  t.strictSame(seen.slice(6), [true, '# Plain', undefined, undefined, undefined, 'Plain'])
})

t.test('limits make dead letters, which can be tried again under others', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const first = await createLorekeep({ backend, limits: { maxFilePages: 1 } })
  first.flows.run()
  const { id, state, failures } = await load(first, { name: 'paper.pdf', bytes: paper })
  t.equal(state, 'dead')
  t.match(failures[0]?.message, /it has 2 pages; at most 1 are read \(maxFilePages\)/)
  await first.close()
  const keep = await opened(t, { backend, limits: { maxFilePages: 2 } })
  keep.flows.run()
  await keep.flows.retry(id)
  for await (const _ of keep.flows.watch({ job: id }));
  t.equal((await keep.flows.job(id))?.state, 'done')
})

t.test('a runner that stops leaves a file to the next one', async (t) => {
  const keep = await opened(t)
  const { job } = await keep.flows.load('default', { name: 'paper.pdf', bytes: paper })
  const runner = keep.flows.run()
  for await (const { state } of keep.flows.watch({ job })) if (state === 'active') break
  await runner.stop({ timeoutMs: 0 })
  t.match(await keep.flows.job(job), {
    state: 'queued',
    failures: [{ step: 'read', cause: 'released' }],
  })
  keep.flows.run()
  for await (const _ of keep.flows.watch({ job }));
  t.equal((await keep.flows.job(job))?.state, 'done')
})
