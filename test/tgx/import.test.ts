import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { open as openFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { catalogue, type LorekeepError } from '../../src/errors.js'
import type { Lorekeep } from '../../src/lorekeep.js'
import { importInto, importWorkspace } from '../../src/tgx/import.js'
import type { WorkspaceOptions, WorkspaceProgress, WorkspaceTarget } from '../../src/tgx/types.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { openStore } from '../fixtures/stores.js'
import { chunksOf, collection, document, file, manifest, tar, workspace } from './archives.js'
import { byPython, byTar, longId } from './real-archives.js'

const user = 'alice'
const whole = { user, flow: 'default' }

const open = (t: Test, limits = {}) => openStore(t, new MemoryBackend(), { limits })

async function coresOf({ knowledge }: Lorekeep): Promise<Record<string, number>> {
  const cores: Record<string, number> = {}
  for await (const { id, triples } of knowledge.list({ user })) cores[id] = triples
  return cores
}

async function queuedIn({ flows }: Lorekeep, flow = 'default'): Promise<string[]> {
  const documents: string[] = []
  for await (const { document } of flows.jobs({ flow, user })) documents.push(document)
  return documents.sort()
}

const research = 'urn:trustgraph:collection:research'
const small = workspace(
  collection('research', '"one"', '<urn:two> <urn:own>', '"3"^^<urn:number>'),
  ...document('urn:doc', 'Ellen lives by the Thames.', { title: 'Ellen' }),
)

for (const [name, bytes] of [
  ['the reference system', byPython],
  ['GNU tar, with its members in another order,', byTar],
] as const) {
  t.test(`an archive by ${name} becomes cores and documents`, async (t) => {
    const keep = await open(t)
    const summary = await importWorkspace(keep, bytes, whole)
    t.match(summary, {
      workspace: 'source-ws',
      exportedAt: /^2026-/,
      documents: {
        ...{ total: 8, queued: 3, present: 0, refused: 0, refusals: [], withoutFlow: 0 },
        ...{ parts: 2, answers: 1, kinds: { 'application/pdf': 1, 'image/png': 1 } },
      },
      config: 3,
      unknown: { count: 0, names: [] },
    })
    const { total, refusals: _refusals, kinds, ...counts } = summary.documents
    const sum = (counts: object) => Object.values(counts).reduce((a: number, b) => a + Number(b), 0)
    t.equal(sum(counts) + sum(kinds), total, 'nothing is left out of the counts')
    const cheese = 'urn:trustgraph:collection:K%C3%A4se%20%26%20Brot%20%281%29'
    const [first, second] = summary.cores.toSorted((a, b) => a.triples - b.triples)
    t.match(first, { id: cheese, collection: 'Käse & Brot (1)', triples: 1, duplicate: false })
    t.match(second, {
      collection: 'default',
      triples: 3,
      kept: { statements: 2, datatypes: 1, languages: 1, graphs: 0 },
    })
    t.strictSame(await coresOf(keep), { [cheese]: 1, 'urn:trustgraph:collection:default': 3 })
    t.strictSame(await queuedIn(keep), [longId, 'urn:doc:policy', 'urn:page:1'])

    const found: string[] = []
    const graph = keep.knowledge.graph({ user, collection: 'default' })
    for await (const { o } of graph.match({})) found.push([o.v, o.dt, o.ln].join())
    t.strictSame(found.sort(), [
      '42,http://www.w3.org/2001/XMLSchema#integer,',
      'Ellen "die\\Gute"\n\t,,de',
      'http://ex.com/thames,,',
    ])
  })
}

t.test('documents come with their text and their metadata', async (t) => {
  const keep = await open(t)
  const seen: unknown[] = []
  const run = (document: unknown) => void seen.push(document)
  await keep.flows.define({ id: 'seen', steps: [{ name: 'see', run }] })
  const latin = Buffer.from([0x4b, 0xe4, 0x73, 0x65])
  const bytes = workspace(
    ...document('urn:doc', 'Käse', { title: 'Cheese' }),
    ...document('urn:latin', latin, { kind: 'text/plain; charset=latin1' }),
  )
  await importWorkspace(keep, bytes, { user, flow: 'seen', collection: 'shelf' })
  const runner = keep.flows.run({ flows: ['seen'] })
  t.teardown(() => runner.stop())
  for await (const job of keep.flows.jobs({ flow: 'seen' })) {
    for await (const event of keep.flows.watch({ job: job.id })) t.ok(event)
  }
  const metadata = [
    {
      s: { v: 'urn:doc', e: true },
      p: { v: 'http://purl.org/dc/terms/title', e: true },
      o: { v: 'Cheese', e: false },
    },
  ]
  seen.sort((a, b) => ((a as { id: string }).id < (b as { id: string }).id ? -1 : 1))
  t.match(seen, [
    { id: 'urn:doc', user, collection: 'shelf', text: 'Käse', metadata },
    { id: 'urn:latin', user, collection: 'shelf', text: 'Käse' },
  ])
})

t.test('a graph of the user stays, that of the archive goes', async (t) => {
  const keep = await open(t)
  const { cores } = await importWorkspace(keep, small, { user })
  t.match(cores, [{ id: research, triples: 3, kept: { datatypes: 1, graphs: 1 } }])
  for await (const [type, data] of keep.knowledge.messages({ user, id: research })) {
    if (type !== 't') continue
    t.strictSame(
      data.t.map(({ g }) => g),
      [undefined, 'urn:own', undefined],
    )
  }
  for (const loss of ['drop', 'reify'] as const) {
    const [core] = (await importWorkspace(keep, small, { user: loss, loss })).cores
    t.match(core, { [loss === 'drop' ? 'lost' : 'reified']: { datatypes: 1, graphs: 1 } })
  }
  await t.rejects(importWorkspace(keep, small, { user, loss: 'refuse' }), {
    code: 'LK_RDF_LOSS',
    details: { member: 'knowledge/research/triples.nq', graphs: 1 },
  })
  const plain = workspace(collection('research', '"one"'))
  t.equal((await importWorkspace(keep, plain, { user, loss: 'refuse' })).cores.length, 1)
})

t.test('without a flow texts are counted, and not loaded', async (t) => {
  const keep = await open(t)
  const { documents } = await importWorkspace(keep, byPython, { user })
  t.match(documents, { total: 8, queued: 0, withoutFlow: 3, parts: 2, answers: 1 })
  t.strictSame(await queuedIn(keep), [])
})

t.test('to import it again changes nothing, and replacing does all of it again', async (t) => {
  const keep = await openStore(t, new MemoryBackend(), { indexThreads: 0 })
  await importWorkspace(keep, small, whole)
  const before = await keep.knowledge.stat({ user, id: research })
  t.equal((await keep.knowledge.indexState({ user, id: research })).state, 'none')
  const again = await importWorkspace(keep, small, { ...whole, index: true })
  t.match(again, { cores: [{ duplicate: true }], documents: { queued: 0, present: 1 } })
  const indexed = await keep.knowledge.indexState({ user, id: research })
  t.equal(indexed.state, 'complete')
  t.strictSame(await keep.knowledge.stat({ user, id: research }), before)
  t.strictSame(await queuedIn(keep), ['urn:doc'])

  const newer = workspace(collection('research', '"one"'), ...document('urn:doc', 'Another.'))
  t.match(await importWorkspace(keep, newer, whole), { documents: { present: 1 } })
  t.equal((await coresOf(keep))[research], 4, 'it is added')
  const replaced = await importWorkspace(keep, newer, { ...whole, mode: 'replace' })
  t.match(replaced, { cores: [{ duplicate: false }], documents: { queued: 1, present: 0 } })
  t.equal((await coresOf(keep))[research], 1)
  t.strictSame(await queuedIn(keep), ['urn:doc', 'urn:doc'])
})

t.test('a document that was done is known, and one that was removed is not', async (t) => {
  const keep = await open(t)
  await keep.flows.define({ id: 'quick', steps: [{ name: 'nothing', run() {} }], keepDone: 0 })
  const runner = keep.flows.run({ flows: ['quick'] })
  t.teardown(() => runner.stop())
  const { job } = await keep.flows.load('quick', { id: 'urn:doc', user, content: 'x' })
  for await (const event of keep.flows.watch({ job })) t.ok(event)
  t.match(await importWorkspace(keep, small, whole), { documents: { queued: 0, present: 1 } })
  await keep.flows.removeDocument({ user, document: 'urn:doc' })
  t.match(await importWorkspace(keep, small, whole), { documents: { queued: 1, present: 0 } })
})

t.test('the source may be a file, bytes or a stream, which is not left behind', async (t) => {
  const path = join(t.testdir(), 'small.tgx')
  writeFileSync(path, small)
  const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('lorekeep-workspace-'))
  const before = left().length
  const sources = [
    path,
    pathToFileURL(path),
    small,
    [small.subarray(0, 100), small.subarray(100)],
    chunksOf(small, 1),
    chunksOf(small, 77),
    new Blob([Uint8Array.from(small)]).stream(),
  ]
  const expected = await importWorkspace(await open(t), small, whole)
  for (const source of sources) {
    t.strictSame(await importWorkspace(await open(t), source, whole), expected)
  }
  if (process.platform !== 'win32') t.equal(left().length, before)
  await t.rejects(importWorkspace(await open(t), `${path}.none`, whole), { code: 'ENOENT' })
  await t.rejects(importWorkspace(await open(t), t.testdirName, whole), Error)
})

t.test('the source may be the path of a pipe, which is read once', async (t) => {
  const path = join(t.testdir(), 'pipe')
  if (spawnSync('mkfifo', [path]).status !== 0) return t.pass('skipped', { skip: 'no mkfifo' })
  const writing = writeFile(path, small)
  t.match(await importWorkspace(await open(t), path, whole), { documents: { queued: 1 } })
  await writing
})

t.test('an abort does not wait for a pipe that is silent', async (t) => {
  const path = join(t.testdir(), 'pipe')
  if (spawnSync('mkfifo', [path]).status !== 0) return t.pass('skipped', { skip: 'no mkfifo' })
  const keep = await open(t)
  const opening = openFile(path, 'w')
  const controller = new AbortController()
  const importing = importWorkspace(keep, path, { ...whole, signal: controller.signal })
  const writer = await opening
  // Most likely it reads by then; it ends alike before.
  await sleep(50)
  controller.abort(new Error('enough'))
  await t.rejects(importing, { message: 'enough' })
  await writer.close()
})

t.test('an archive that is cut anywhere, or changed, stores nothing', async (t) => {
  const keep = await open(t)
  const typed = async (bytes: Uint8Array, what: string) => {
    const error: unknown = await importWorkspace(keep, bytes, whole).catch((e: unknown) => e)
    const { code } = error as LorekeepError
    t.ok(Object.hasOwn(catalogue, code), `${what}: ${String(error)}`)
  }
  for (let end = 1; end < small.length; end++) {
    const cut = importWorkspace(keep, small.subarray(0, end), whole)
    await t.rejects(cut, { code: 'LK_WORKSPACE_DAMAGED' }, String(end))
  }
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const random = new Random(seed)
  const plain = tar([
    collection('research', '"one"', '<urn:two>'),
    ...document('urn:doc', 'Ellen lives by the Thames.'),
    manifest({ knowledge: { documents: 1, triples: { research: 2 } } }),
  ])
  for (let cut = 0; cut < plain.length - 1024; cut += 1 + random.below(200)) {
    await typed(gzipSync(plain.subarray(0, cut)), `cut at ${cut}`)
  }
  t.strictSame(await coresOf(keep), {})
  t.strictSame(await queuedIn(keep), [])

  // What a changed byte says may be as good as before.
  for (let run = 0; run < 200; run++) {
    const changed = Buffer.from(plain)
    const at = random.below(plain.length)
    changed[at] = random.below(256)
    const error: unknown = await importWorkspace(keep, gzipSync(changed), {
      ...whole,
      mode: 'replace',
    }).catch((e: unknown) => e)
    const { code = 'LK_WORKSPACE_FORMAT' } = error as LorekeepError
    t.ok(Object.hasOwn(catalogue, code), `byte ${at} as ${changed[at]}: ${String(error)}`)
  }
})

t.test('what is wrong with an archive is told with its member, and stores nothing', async (t) => {
  const keep = await open(t)
  const [description, content] = document('urn:doc', 'text')
  const triples = collection('research', '"one"')
  const said = (knowledge: object) => manifest({ knowledge })
  for (const [code, member, members] of [
    ['LK_WORKSPACE_FORMAT', 'manifest.json', [triples, said({ triples: { research: 2 } })]],
    ['LK_WORKSPACE_FORMAT', 'manifest.json', [triples, said({ documents: 1 })]],
    ['LK_WORKSPACE_FORMAT', 'manifest.json', [triples, manifest(), manifest()]],
    ['LK_WORKSPACE_FORMAT', 'manifest.json', [triples, manifest({ format_version: 2 })]],
    ['LK_WORKSPACE_FORMAT', 'manifest.json', [triples, file('manifest.json', '{"format":')]],
    ['LK_WORKSPACE_FORMAT', 'manifest.json', [file('manifest.json', Buffer.from([0xff]))]],
    ['LK_WORKSPACE_FORMAT', triples.name, [triples, triples]],
    ['LK_WORKSPACE_FORMAT', description.name, [description]],
    ['LK_WORKSPACE_FORMAT', content.name, [content]],
    ['LK_WORKSPACE_FORMAT', description.name, [description, description, content]],
    ['LK_WORKSPACE_FORMAT', content.name, [description, content, content]],
    [
      'LK_WORKSPACE_FORMAT',
      'knowledge/library/b.meta.json',
      [description, content, { ...description, name: 'knowledge/library/b.meta.json' }],
    ],
    ['LK_WORKSPACE_FORMAT', description.name, [{ ...description, content: '{}' }, content]],
    ['LK_WORKSPACE_FORMAT', `knowledge/${'x'.repeat(1000)}/triples.nq`, undefined],
    ['LK_RDF_FORMAT', triples.name, [collection('b', '"x"'), { ...triples, content: 'no' }]],
  ] as const) {
    const long = [
      { name: '@LongLink', type: 'L', content: member },
      { ...triples, name: 'cut' },
    ]
    const imported = importWorkspace(keep, workspace(...(members ?? long)), whole)
    await t.rejects(imported, { code, details: { member } }, `${code} ${member}`)
  }
  const bare = gzipSync(tar([triples]))
  await t.rejects(importWorkspace(keep, bare, whole), /manifest\.json is missing/)
  const broken = collection('research', '"one"', '"two')
  await t.rejects(importWorkspace(keep, workspace(broken), whole), {
    code: 'LK_RDF_FORMAT',
    message: /^not valid RDF: knowledge\/research\/triples\.nq: line 2: /,
    details: { line: 2 },
  })
  t.strictSame(await coresOf(keep), {})
})

t.test('a flow that takes no documents is told before anything else', async (t) => {
  const keep = await open(t)
  const imported = (flow: string) => importWorkspace(keep, small, { user, flow })
  await t.rejects(imported('none'), { code: 'LK_FLOW_NOT_FOUND', details: { flow: 'none' } })
  await keep.flows.stop('default')
  await t.rejects(imported('default'), { code: 'LK_FLOW_INACTIVE' })
  t.strictSame(await coresOf(keep), {})
})

t.test('a document that the flow refuses does not hold up the others', async (t) => {
  const keep = await open(t, { maxTextBytes: 100 })
  const bytes = workspace(
    ...document('urn:long', 'x'.repeat(101)),
    ...document('urn:bytes', Buffer.from([0xff, 0xfe, 0xfd])),
    ...document('urn:longer', 'x'.repeat(3000)),
    ...document('urn:good', 'x'.repeat(100)),
  )
  const { documents } = await importWorkspace(keep, bytes, {
    ...whole,
    limits: { maxDocumentBytes: 2999 },
  })
  t.match(documents, { total: 4, queued: 1, refused: 3 })
  const codes = new Map(documents.refusals.map(({ document, code }) => [document, code]))
  t.strictSame(
    codes,
    new Map([
      ['urn:longer', 'LK_DOCUMENT_TOO_LARGE'],
      ['urn:long', 'LK_DOCUMENT_TOO_LARGE'],
      ['urn:bytes', 'LK_DOCUMENT_INVALID'],
    ]),
  )
  t.strictSame(await queuedIn(keep), ['urn:good'])
  const many = Array.from({ length: 105 }, (_, n) => document(`urn:${n}`, 'x'.repeat(101)))
  const refused = await importWorkspace(keep, workspace(...many.flat()), whole)
  t.equal(refused.documents.refused, 105)
  t.equal(refused.documents.refusals.length, 100)
})

t.test('what fails in the middle leaves whole ones, and goes on from there', async (t) => {
  const keep = await open(t)
  const bytes = workspace(
    collection('a', '"one"'),
    ...Array.from({ length: 40 }, (_, n) => document(`urn:${n}`, `Text ${n}.`)).flat(),
    collection('b', '"two"'),
  )
  await keep.flows.define({ id: 'short', maxQueued: 25 })
  const told: WorkspaceProgress[] = []
  const onProgress = (progress: WorkspaceProgress) => void told.push(progress)
  const options = { user, flow: 'short', onProgress }
  await t.rejects(importWorkspace(keep, bytes, options), { code: 'LK_FLOW_FULL' })
  t.strictSame(await coresOf(keep), { 'urn:trustgraph:collection:a': 1 })
  t.equal((await queuedIn(keep, 'short')).length, 25)
  t.match(told.at(-1), { step: 'importing', cores: 1, documents: 25 })

  await keep.flows.define({ id: 'short', maxQueued: 1000 })
  t.match(await importWorkspace(keep, bytes, options), {
    cores: [{ duplicate: true }, { duplicate: false }],
    documents: { queued: 15, present: 25 },
  })
  t.equal((await queuedIn(keep, 'short')).length, 40)
})

t.test('a file that changes while it is read is told', async (t) => {
  const keep = await open(t)
  const path = join(t.testdir(), 'ours.tgx')
  writeFileSync(path, small)
  const other = workspace(collection('research', '"1"', '"2"'), ...document('urn:other', 'x'))
  t.ok(other.length <= small.length, 'else there is more of it in the first reading')
  let isWritten = false
  const onProgress = ({ step, bytes }: WorkspaceProgress) => {
    if (isWritten || step !== 'checking' || bytes < small.length) return
    isWritten = true
    writeFileSync(path, other)
  }
  await t.rejects(importWorkspace(keep, path, { ...whole, onProgress }), {
    code: 'LK_WORKSPACE_DAMAGED',
    message: /changed while it was read/,
  })
  t.strictSame(await queuedIn(keep), [])
  t.match(await importWorkspace(keep, path, whole), { documents: { queued: 1 } })
})

t.test('an abort ends it with its reason', async (t) => {
  const keep = await open(t)
  for (const step of ['checking', 'importing']) {
    const controller = new AbortController()
    const reason = `enough of ${step}`
    const onProgress = (progress: WorkspaceProgress) => {
      if (progress.step === step) controller.abort(reason)
    }
    const options = { ...whole, signal: controller.signal, onProgress }
    t.equal(await importWorkspace(keep, small, options).catch((e: unknown) => e), reason)
    t.equal(await importWorkspace(keep, small, options).catch((e: unknown) => e), reason)
  }
  t.strictSame(await coresOf(keep), {})
  const controller = new AbortController()
  const silent = {
    async *[Symbol.asyncIterator]() {
      yield small.subarray(0, 100)
      setImmediate(() => controller.abort(new Error('too long')))
      await new Promise(() => {})
    },
  }
  const { signal } = controller
  await t.rejects(importWorkspace(keep, silent, { user, signal }), /too long/)
})

t.test('a source that fails fails with its own error', async (t) => {
  const error = new Error('the disk is gone')
  const source = (async function* () {
    yield small.subarray(0, 100)
    throw error
  })()
  const keep = await open(t)
  t.equal(await importWorkspace(keep, source, whole).catch((e: unknown) => e), error)
})

t.test('what is not known is counted and named, up to a bound', async (t) => {
  const keep = await open(t)
  const others = Array.from({ length: 30 }, (_, n) => file(`${n}${'x'.repeat(90)}`, 'what?'))
  const bytes = workspace(
    file('config/prompt/a.json', '{'),
    { name: '../../etc/passwd', type: '2' },
    { name: 'a directory', type: '5' },
    ...others,
  )
  const { config, unknown } = await importWorkspace(keep, bytes, { user })
  t.equal(config, 1)
  t.equal(unknown.count, 31)
  t.equal(unknown.names.length, 20)
  t.equal(unknown.names[0], '../../etc/passwd')
})

t.test('kinds that are no texts are counted, up to a bound', async (t) => {
  const keep = await open(t)
  const bytes = workspace(
    ...Array.from({ length: 120 }, (_, n) => document(`urn:${n}`, '', { kind: `a/${n}` })).flat(),
    ...document('urn:proto', '', { kind: '__proto__' }),
  )
  const { total, kinds } = (await importWorkspace(keep, bytes, whole)).documents
  t.equal(total, 121)
  t.equal(Object.keys(kinds).length, 101)
  t.equal(kinds['others'], 21)
})

t.test('limits hold where they are, and not before', async (t) => {
  const keep = await open(t)
  const [description, content] = document('urn:doc', 'text', { title: 'x'.repeat(1000) })
  const { length } = String(description.content)
  const bytes = workspace(description, content)
  for (const [limit, most] of [
    ['maxJsonBytes', length],
    ['maxMembers', 3],
    ['maxUnpackedBytes', 512 * (1 + 3 + 2 + 2 + 2)],
  ] as const) {
    const within = { ...whole, limits: { [limit]: most } }
    t.equal((await importWorkspace(keep, bytes, within)).documents.total, 1, limit)
    const limits = { [limit]: most - 1 }
    await t.rejects(importWorkspace(keep, bytes, { ...whole, limits }), {
      code: 'LK_WORKSPACE_TOO_LARGE',
      details: limits,
    })
  }
})

t.test('descriptions that lie apart from their contents are held up to a bound', async (t) => {
  const keep = await open(t)
  const many = Array.from({ length: 5 }, (_, n) =>
    document(`urn:${n}`, '', { comments: 'x'.repeat(15 * 1024 * 1024) }),
  )
  const apart = [...many.map(([description]) => description), ...many.map(([, content]) => content)]
  const early = [...many.map(([, content]) => content), ...many.map(([description]) => description)]
  const limits = { maxRatio: 10_000 }
  for (const members of [apart, early]) {
    await t.rejects(importWorkspace(keep, workspace(...members), { user, limits }), {
      code: 'LK_WORKSPACE_TOO_LARGE',
      details: { maxHeldBytes: 64 * 1024 * 1024 },
    })
  }
  const beside = await importWorkspace(keep, workspace(...many.flat()), { user, limits })
  t.equal(beside.documents.total, 5)
})

t.test('so many documents are on their way at once, and so many bytes of them', async (t) => {
  /** Lets documents go a while after so many wait, or all have come: no other may come meanwhile. */
  const mostWaiting = async (count: number, bytes: number, expected: number): Promise<number> => {
    let [come, most] = [0, 0]
    let waiting: (() => void)[] = []
    const target: WorkspaceTarget = {
      checkFlow: async () => {},
      write: async () => t.fail('there are no cores') as never,
      async *known() {},
      async load() {
        const turn = new Promise<void>((resolve) => waiting.push(resolve))
        most = Math.max(most, waiting.length)
        if (++come === count || waiting.length >= expected) {
          setTimeout(() => {
            for (const go of waiting) go()
            waiting = []
          }, 100)
        }
        await turn
      },
    }
    const texts = Array.from({ length: count }, (_, n) => document(`urn:${n}`, 'x'.repeat(bytes)))
    const options = { ...whole, limits: { maxRatio: 10_000 } }
    const { documents } = await importInto(workspace(...texts.flat()), options, target)
    t.equal(documents.queued, count)
    return most
  }
  t.equal(await mostWaiting(50, 10, 16), 16)
  t.equal(await mostWaiting(8, 3 * 1024 * 1024, 3), 3)
})

t.test('arguments that cannot be are programming mistakes', async (t) => {
  const keep = await open(t)
  const wrong: readonly [unknown, unknown, unknown][] = [
    [undefined, small, { user }],
    [{ knowledge: keep.knowledge }, small, { user }],
    [keep, 5, { user }],
    [keep, undefined, { user }],
    [keep, small, undefined],
    [keep, small, {}],
    [keep, small, { user, mode: 'merge' }],
    [keep, small, { user, limits: { maxMembers: 0 } }],
    [keep, small, { user, dryRun: true }],
    [keep, [5], { user }],
  ]
  for (const [first, source, options] of wrong) {
    const call = importWorkspace(first as never, source as never, options as WorkspaceOptions)
    await t.rejects(call, TypeError)
  }
})
