import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import { column, docx, pdf, zip } from '../flow/files/made-files.js'
import { embeddings, startModelServer } from '../openai/model-server.js'
import type { FakeModelServer } from '../openai/model-server.js'
import { fail, inTerminal, run, serve, start, succeed } from './command.js'

const text = 'Mary Shelley wrote Frankenstein in Geneva. Lord Byron met her in Geneva.'

function shelf(t: Test) {
  const dir = t.testdir({ 'a.txt': text, 'b.txt': 'Jules Verne lived in Amiens.' })
  const [a, b] = [join(dir, 'a.txt'), join(dir, 'b.txt')]
  return { dir, data: join(dir, 'data'), a, b, idOfA: pathToFileURL(a).href }
}

function lines(output: Buffer): Record<string, unknown>[] {
  const texts = String(output).split('\n').slice(0, -1)
  return texts.map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** A flow `model` whose second step asks the server; a document has one attempt. */
async function defineModelFlow(t: Test, data: string, model: FakeModelServer): Promise<void> {
  const options = { type: 'openai', model: 'm', url: model.url }
  const steps = ['chunk', { name: 'embed', options }, 'extract', 'store', 'index']
  const input = Buffer.from(JSON.stringify({ id: 'model', steps, maxAttempts: 1 }))
  await succeed(t, ['flows', 'define', '-', '--data', data], { input })
}

t.test('in a directory, texts are processed by the configuration of its server', async (t) => {
  const { dir, data, a } = shelf(t)
  const config = join(dir, 'config.json')
  const given = { defaultUser: 'mary', base: 'urn:ours:', limits: { maxTextBytes: text.length } }
  writeFileSync(config, JSON.stringify(given))
  const where = ['--data', data, '--config', config]
  const loaded = await succeed(t, ['load', a, '--id', 'note', '--wait', '--json', ...where])
  t.match(lines(loaded), [{ user: 'mary', state: 'done' }])
  const core = String(
    await succeed(t, ['export', '--id', 'note', '--user', 'mary', '--data', data]),
  )
  t.ok(core.includes('urn:ours:e/'))
  t.notOk(core.includes('trustgraph'))
  writeFileSync(a, `${text}!`)
  t.match(await fail(t, 1, ['load', a, ...where]), /at most/)
})

t.test('texts become cores, in a directory and in a server alike', async (t) => {
  const { dir, data, a, b, idOfA } = shelf(t)
  const more = join(dir, 'more.json')
  const triple = { s: { v: idOfA, e: true }, p: { v: 'urn:p', e: true }, o: { v: 'x', e: false } }
  writeFileSync(more, JSON.stringify([triple]))
  const said = ['--title', 'A title', '--creator', 'One', '--creator', 'Two', '--metadata', more]
  const local = await succeed(t, ['load', a, ...said, '--wait', '--json', '--data', data])
  t.match(lines(local), [{ file: a, id: idOfA, user: 'trustgraph', job: /./, state: 'done' }])
  const core = String(await succeed(t, ['export', '--id', idOfA, '--data', data]))
  for (const part of ['schema.org/name', 'A title', 'One', 'Two', 'urn:p', 'Frankenstein']) {
    t.ok(core.includes(part), part)
  }

  const { url, token, child, ended } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  const args = ['load', a, b, '--user', 'alice', '--collection', 'c', '--wait']
  const loaded = lines(await succeed(t, [...args, '--json', ...remote]))
  t.strictSame(new Set(loaded.map(({ file }) => file)), new Set([a, b]))
  t.ok(loaded.every(({ state, user }) => state === 'done' && user === 'alice'))
  const about = ['documents', 'show', idOfA, '--user', 'alice', '--json']
  const known = lines(await succeed(t, [...about, ...remote]))
  t.match(known, [{ completed: { job: /./ }, core: { triples: Number } }])
  const listed = lines(await succeed(t, ['documents', '--user', 'alice', '--json', ...remote]))
  t.match(listed, [{ user: 'alice', completed: { collection: 'c' } }, { user: 'alice' }])
  child.kill('SIGTERM')
  await ended
  t.strictSame(lines(await succeed(t, [...about, '--data', data])), known)

  const here = ['--user', 'alice', '--data', data]
  const plain = String(await succeed(t, ['documents', ...here]))
    .trimEnd()
    .split('\n')
  t.equal(plain.length, 2)
  for (const line of plain) t.match(line, /^file:[^\t]+\tdefault\tc\t\d{4}-[^\t]+Z$/)
  t.same(lines(await succeed(t, ['documents', '--json', ...here])), listed)
  const one = await run(t, ['documents', 'list', '--limit', '1', ...here])
  t.equal(String(one.stdout), `${plain[0]}\n`)
  t.match(one.stderr, '--limit')
  t.match((await run(t, ['documents', '--user', 'nobody', '--data', data])).stderr, 'nobody')

  await succeed(t, ['documents', 'remove', idOfA, '--user', 'alice', '--data', data])
  await fail(t, 1, ['documents', 'remove', idOfA, '--user', 'alice', '--data', data])
  const left = String(await succeed(t, ['cores', '--user', 'alice', '--data', data]))
  t.notMatch(left, 'a.txt')
  t.match(left, 'b.txt')
})

t.test('without --wait a text is queued, and stays so until it is processed', async (t) => {
  const { data, a } = shelf(t)
  const [job] = lines(await succeed(t, ['load', a, '--json', '--data', data]))
  t.match(job, { state: 'queued' })
  t.match(await run(t, ['load', a, '--id', 'urn:b', '--data', data]), { code: 0, stderr: /urn:b/ })
  const queued = lines(await succeed(t, ['jobs', '--json', '--data', data]))
  t.strictSame(
    queued.map(({ state }) => state),
    ['queued', 'queued'],
  )
  const { url, token } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  // Behind the others.
  await succeed(t, ['load', a, '--id', 'urn:b', '--wait', ...remote])
  const done = lines(await succeed(t, ['jobs', '--document', 'urn:b', '--json', ...remote]))
  t.strictSame(
    done.map(({ state }) => state),
    ['done', 'done'],
  )
})

t.test('the charset is one that is named, or looked for', async (t) => {
  const { dir, data } = shelf(t)
  const file = join(dir, 'old.txt')
  writeFileSync(file, Buffer.from('Zoë Müller lives in Köln.', 'latin1'))
  await succeed(t, ['load', '-', '--id', 'a', '--data', data], { input: Buffer.from('é') })
  t.match(await fail(t, 1, ['load', file, '--charset', 'utf-8', '--data', data]), 'old.txt')
  const args = ['load', file, '--id', 'b', '--wait', '--data', data]
  t.match(await run(t, args), { code: 0, stdout: { length: 0 }, stderr: "'b' is done" })
  t.ok(String(await succeed(t, ['export', '--id', 'b', '--data', data])).includes('Zoë'))
})

t.test('a document that fails for good is told, and can be tried again', async (t) => {
  const { data, a, b } = shelf(t)
  const model = await startModelServer(t)
  model.answer = (request) =>
    String(request.body['input']).includes('Mary')
      ? { status: 400, body: { error: { message: 'not that' } } }
      : embeddings(request)
  await defineModelFlow(t, data, model)
  const where = ['--flow', 'model', '--data', data]
  const outcome = await run(t, ['load', a, b, '--wait', '--json', ...where])
  t.equal(outcome.code, 1)
  t.match(JSON.parse(outcome.stderr), { error: { code: 'FAILED', message: /^1 of 2 / } })
  const told = lines(outcome.stdout)
  t.match(new Set(told.map(({ state }) => state)), new Set(['dead', 'done']))
  const dead = told.find(({ state }) => state === 'dead')
  t.match(dead, { file: a, failure: { step: 'embed', code: 'LK_MODEL_REFUSED', attempt: 1 } })
  t.match((await run(t, ['load', a, '--wait', ...where])).stderr, 'embed')

  const job = String(dead?.['job'])
  t.match(String(await succeed(t, ['jobs', 'show', job, ...where])), /^state +dead\n/m)
  t.equal(lines(await succeed(t, ['jobs', '--state', 'dead', '--json', ...where])).length, 2)
  await fail(t, 1, ['jobs', 'show', job, '--data', data])
  t.match(lines(await succeed(t, ['jobs', 'retry', job, '--json', ...where])), [
    { state: 'queued', completedSteps: [] },
  ])
  await fail(t, 1, ['jobs', 'retry', job, ...where])
  await succeed(t, ['jobs', 'cancel', job, ...where])
  await fail(t, 1, ['jobs', 'show', job, ...where])
})

t.test('waiting goes on when the server was away, and sees what happened meanwhile', async (t) => {
  const { data, a } = shelf(t)
  const model = await startModelServer(t)
  const asked = new Promise<void>((resolve) => (model.onHang = resolve))
  model.answer = () => 'hang'
  await defineModelFlow(t, data, model)
  const args = ['--data', data, '--token', 'secret=alice', '--stop-timeout', '0']
  const first = await serve(t, args)
  const remote = ['--flow', 'model', '--url', first.url, '--token', 'secret']
  const waiting = start(t, ['load', a, '--wait', '--json', ...remote])
  await asked
  first.child.kill('SIGTERM')
  t.equal((await first.ended).code, 0)
  model.answer = embeddings
  const again = start(t, ['serve', '--port', new URL(first.url).port, ...args])
  await again.until('listening')
  const { code, stdout } = await waiting.ended
  t.equal(code, 0)
  t.match(lines(stdout), [{ user: 'alice', state: 'done' }])
})

t.test('an interrupt ends the waiting, and leaves the document in the queue', async (t) => {
  const { data, a } = shelf(t)
  const model = await startModelServer(t)
  const asked = new Promise<void>((resolve) => (model.onHang = resolve))
  model.answer = () => 'hang'
  await defineModelFlow(t, data, model)
  const where = ['--flow', 'model', '--data', data]
  const { child, ended } = start(t, ['load', a, '--wait', ...where])
  await asked
  child.kill('SIGINT')
  t.equal((await ended).code, 130)
  t.match(lines(await succeed(t, ['jobs', '--json', ...where])), [{ state: 'queued' }])
})

const skip = process.platform === 'win32' && 'it has no pipes with names'

for (const [who, hasWriter] of [
  ['that nobody writes to', false],
  ['that is silent', true],
] as const) {
  t.test(`an interrupt does not wait for a pipe ${who} among the files`, { skip }, async (t) => {
    const { dir, data, a } = shelf(t)
    const pipe = join(dir, 'pipe')
    execFileSync('mkfifo', [pipe])
    const { child, ended, until } = start(t, ['load', a, pipe, '--data', data])
    await until('lorekeep: queued')
    if (hasWriter) {
      // It waits for somebody who reads.
      const writer = await open(pipe, 'w')
      t.teardown(() => writer.close())
    }
    child.kill('SIGINT')
    const { code, stderr } = await ended
    t.equal(code, 130)
    t.ok(stderr.includes(`${pipe}: interrupted`), stderr)
    t.match(lines(await succeed(t, ['jobs', '--json', '--data', data])), [{ state: 'queued' }])
  })
}

t.test('what cannot be loaded is one line, and leaves nothing', async (t) => {
  const { dir, data, a, b } = shelf(t)
  const where = ['--data', data]
  await fail(t, 2, ['load', '-', ...where])
  await fail(t, 2, ['load', a, b, '--id', 'x', ...where])
  await fail(t, 2, ['load', a, b, '--title', 'x', ...where])
  await fail(t, 2, ['load', '-', '--id', 'x', '--metadata', '-', ...where])
  await fail(t, 1, ['load', join(dir, 'none.txt'), ...where])
  await fail(t, 1, ['load', dir, '--ext', 'rst', ...where])
  await fail(t, 2, ['load', dir, '--id', 'x', ...where])
  await fail(t, 2, ['load', dir, '--ext', 'a/b', ...where])
  await fail(t, 1, ['load', a, '--metadata', b, ...where])
  t.notOk(existsSync(data))
  t.match(await fail(t, 1, ['load', a, '--charset', 'x-none', ...where]), 'charset')
  await fail(t, 1, ['load', a, '--flow', 'none', ...where])
  t.strictSame(lines(await succeed(t, ['jobs', '--json', ...where])), [])
})

t.test('of a directory the texts are loaded, in a fixed order and under their paths', async (t) => {
  const dir = t.testdir({
    outside: { 'secret.txt': 'Not for loading.' },
    shelf: {
      'b.txt': 'Two.',
      'a.MD': 'One.',
      'photo.jpg': 'no text',
      '.hidden.txt': 'hidden',
      '.git': { 'config.txt': 'hidden' },
      Z: { 'c.txt': 'Four.', deep: { 'd.txt': 'Three.' } },
      'link.txt': t.fixture('symlink', '../outside/secret.txt'),
      out: t.fixture('symlink', '../outside'),
      round: t.fixture('symlink', '.'),
    },
    other: { shelf: { 'b.txt': 'Another.' } },
  })
  const [data, shelf] = [join(dir, 'data'), join(dir, 'shelf')]
  const load = async (...args: readonly string[]) =>
    lines(await succeed(t, ['load', ...args, '--json', '--data', data])).map(({ id }) => id)
  const all = ['shelf/Z/c.txt', 'shelf/Z/deep/d.txt', 'shelf/a.MD', 'shelf/b.txt']
  t.strictSame(await load(shelf), all)
  t.strictSame(await load(`${shelf}/`, '--ext', 'TXT'), [all[0], all[1], all[3]])
  t.strictSame(await load(join(dir, 'shelf', 'b.txt'), join(dir, 'shelf', 'Z')), [
    pathToFileURL(join(dir, 'shelf', 'b.txt')).href,
    'Z/c.txt',
    'Z/deep/d.txt',
  ])
  const inside = await run(t, ['load', '.', '--data', data], { cwd: shelf })
  t.match(inside.stderr, /queued 'shelf\/a\.MD'[^]*: loaded 4 files; 6 others were passed over\n$/)
  const twins = ['load', shelf, join(dir, 'other', 'shelf'), '--data', data]
  t.match(await fail(t, 1, twins), "the document 'shelf/b.txt'")
})

const paper = pdf([
  [
    { x: 72, y: 740, text: 'Of Tolls', size: 20 },
    ...column(72, 700, ['The toll was a penny then.']),
  ],
])

/** A folder as people have it. */
function files(t: Test) {
  const dir = t.testdir()
  const shelf = join(dir, 'shelf')
  mkdirSync(shelf)
  for (const [name, bytes] of Object.entries({
    'notes.md': '# Notes\n\nThe mill at Iffley burned down.',
    'page.html': '<title>A Page</title><h1>Locks</h1><p>Sandford lock is the deepest.</p>',
    'paper.pdf': paper,
    'report.docx': docx([{ text: 'Engines', style: 'heading 1' }, { text: 'Barges went up.' }]),
    'brief.txt': Buffer.from('Die Br\xfccke ist gesperrt.', 'latin1'),
    'broken.pdf': paper.subarray(0, 300),
    'really.txt': zip({ a: 'b' }),
    'archive.zip': zip({ a: 'b' }),
    'program.exe': Buffer.from('7f454c4602010100', 'hex'),
    'program.c': 'int main() {}',
  })) {
    writeFileSync(join(shelf, name), bytes)
  }
  return { dir, shelf, data: join(dir, 'data') }
}

t.test('of a folder of files, what is loaded is cited, and what is not is told why', async (t) => {
  const { shelf, data } = files(t)
  const outcome = await run(t, ['load', shelf, '--wait', '--data', data])
  t.equal(outcome.code, 1)
  for (const line of [
    /refused '[^']*really\.txt': [^\n]*it looks like a ZIP archive;/,
    /passed over '[^']*archive\.zip': it looks like a ZIP archive\n/,
    /passed over '[^']*program\.exe': it looks like an executable \(ELF\)\n/,
    /passed over '[^']*program\.c': --ext does not name its ending\n/,
    /loaded 6 files; 3 others were passed over\n/,
    /'shelf\/broken\.pdf' failed for good at 'read': [^\n]*a damaged PDF/,
    /'shelf\/paper\.pdf' is done\n/,
    /1 of 6 documents did not become knowledge\n/,
  ]) {
    t.match(outcome.stderr, line)
  }
  const where = ['--user', 'trustgraph', '--data', data]
  const [passage] = lines(await succeed(t, ['search', 'penny', '--json', ...where]))
  t.match(passage, { core: 'shelf/paper.pdf', heading: 'Of Tolls', page: 1 })
  t.match(String(await succeed(t, ['search', 'penny', ...where])), /paper\.pdf>, page 1, 0 to /)
  t.match(String(await succeed(t, ['search', 'Brücke', ...where])), /gesperrt/)
})

t.test('all is loaded, and a refusal is told, also where nobody reads of it', async (t) => {
  const { dir, data, a, b } = shelf(t)
  const c = join(dir, 'c.txt')
  writeFileSync(c, 'Emma Goldman lived in Toronto.')
  const archive = join(dir, 'archive.txt')
  writeFileSync(archive, zip({ a: 'b' }))
  for (const more of [[], ['--wait']]) {
    const where = ['--data', `${data}${more.length}`]
    const { child, ended } = start(t, ['load', a, archive, b, c, '--json', ...more, ...where])
    child.stdout?.destroy()
    const { code, stderr } = await ended
    t.equal(code, 1)
    t.match(stderr, '1 of 4 files was refused')
    t.equal(lines(await succeed(t, ['jobs', '--json', ...where])).length, 3)
  }
})

t.test('a server gets files as they are', async (t) => {
  const { shelf, data } = files(t)
  const { url, token } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token, '--user', 'alice']
  const named = ['paper.pdf', 'really.txt'].map((name) => join(shelf, name))
  const said = ['--creator', 'Ö', '--wait', '--json']
  const outcome = await run(t, ['load', ...named, ...said, ...remote])
  t.match(JSON.parse(outcome.stderr), { error: { message: '1 of 2 files was refused' } })
  t.match(lines(outcome.stdout), [
    { file: named[1], state: 'refused', failure: { code: 'LK_DOCUMENT_TYPE', message: /a ZIP/ } },
    { file: named[0], state: 'done', user: 'alice' },
  ])
  const id = pathToFileURL(named[0] ?? '').href
  t.ok((await succeed(t, ['export', '--id', id, ...remote])).includes('Ö'))
  t.match(await fail(t, 1, ['load', named[1] ?? '', ...remote]), /looks like a ZIP archive/)
  const [passage] = lines(await succeed(t, ['search', 'penny', '--json', ...remote]))
  t.match(passage, { heading: 'Of Tolls', page: 1 })
})

t.test('on a terminal each document has a bar', async (t) => {
  const { dir, data } = shelf(t)
  const file = join(dir, 'long.txt')
  writeFileSync(file, `${text}\n\n`.repeat(500))
  const outcome = inTerminal(['load', file, '--wait', '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.equal(outcome.code, 0)
  t.match(outcome.text, /=+-* (embed|extract|index) \d+ of \d+ \| [^\n]*long\.txt/)
  t.match(outcome.text, /lorekeep: '[^\n]+long\.txt' is done\r\n$/)
})
