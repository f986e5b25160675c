// Questions to cores, in a directory and in a server alike.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { sampleMessages } from '../../src/cli/commands/cores/sample.js'
import type { Subgraph } from '../../src/graph/types.js'
import { fail, inTerminal, run, serve, succeed } from './command.js'

const data = t.testdir()
const sample = await succeed(t, ['sample'])
await succeed(t, ['import', '-', '--id', 'books', '--data', data], { input: sample })
const note = Buffer.from('Mary Shelley wrote Frankenstein in Geneva. Mary Shelley was a novelist.')
await succeed(t, ['load', '-', '--id', 'urn:note', '--wait', '--data', data], { input: note })

const library = 'https://example.org/library/'
const [label, author] = ['http://www.w3.org/2000/01/rdf-schema#label', 'https://schema.org/author']
const moby = `${library}moby-dick`

/** The vector that the sample has of an entity. */
function vectorOf(entity: string): Buffer<ArrayBuffer> {
  for (const [type, { ...message }] of sampleMessages()) {
    if (type !== 'ge' || !('e' in message)) continue
    const found = message.e.find(({ e }) => e.v === entity)
    if (found) return Buffer.from(JSON.stringify(Array.from(found.v[0] ?? [])))
  }
  throw new Error(`the sample has no vector of ${entity}`)
}

/** Everything that is asked both here and there, by name. */
async function askAll(where: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const ask = async (args: readonly string[], input: Uint8Array = new Uint8Array()) =>
    String(await succeed(t, [...args, ...where], { input }))
  const lines = async (args: readonly string[], input?: Uint8Array) =>
    (await ask(args, input)).split('\n').sort()

  const authors = await lines(['match', '--p', author, '--core', 'books'])
  const same = await lines(['match', '--p', `<${author}>`, '--core', 'books', '--json'])
  const limited = await lines(['match', '--limit', '5'])
  const nearest = await ask(['nearest', '--vector', '-', '-k', '2'], vectorOf(moby))
  const subgraph = JSON.parse(await ask(['ask', 'Who wrote Frankenstein?', '--json'])) as Subgraph
  const select = `SELECT ?name WHERE { ?s <${author}> ?a . ?a <${label}> ?name } ORDER BY ?name`
  return {
    authors,
    same,
    limited: limited.length,
    none: await ask(['match', '--s', 'urn:none']),
    label: await ask(['match', '--o', '"Nantucket"', '--p', label]),
    count: await ask(['match', '--s', moby, '--count', '--collection', 'default']),
    between: await lines(['match', '--p', label, '--gte', '"M"', '--lt', '"N"']),
    numbers: await ask(['match', '--gt', '9', '--count']),
    inNoGraph: await ask(['match', '--s', moby, '--count', '--default-graph']),
    inGraph: await ask(['match', '--s', moby, '--count', '--g', 'urn:graph']),
    countElsewhere: await ask(['match', '--count', '--collection', 'none', '--json']),
    nearest,
    nearestJson: await ask(
      ['nearest', '--vector', '-', '-k', '2', '--exact', '--json', '--core', 'books'],
      vectorOf(moby),
    ),
    nearText: await ask(['nearest', '--text', 'Mary Shelley', '-k', '1', '--core', 'urn:note']),
    subgraph,
    tree: await ask(['ask', 'Who wrote Frankenstein?', '--all', '--entities', '2', '--depth', '1']),
    page: await ask(['ask', 'Who', 'wrote', 'Frankenstein?']),
    search: await ask(['search', 'writing', 'in', 'Geneva']),
    searchJson: JSON.parse(
      await ask(['search', '"mary shelley" -whale', '-k', '1', '--explain', '--json']),
    ),
    searchAll: await ask(['search', 'novel*', '--all', '--core', 'urn:note', '--language', 'en']),
    searchDocument: await ask(['search', 'novelist', '--document', 'urn:none']),
    searchElsewhere: await ask(['search', 'novelist', '--collection', 'none', '--json']),
    dot: await ask(['ask', 'Who wrote Frankenstein?', '--max-triples', '3', '--dot']),
    select: await ask(['sparql', select, '--core', 'books', '--core', 'urn:note']),
    selectJson: JSON.parse(await ask(['sparql', '--file', '-', '--json'], Buffer.from(select))),
    boolean: await ask(['sparql', `ASK { <${moby}> ?p ?o }`, '--collection', 'none']),
    byPattern: await ask([
      'sparql',
      'SELECT DISTINCT ?o { ?s ?p ?o FILTER regex(?o, "^nan", "i") }',
    ]),
    booleanOfCore: await ask(['sparql', `ASK { <${moby}> ?p ?o }`, '--core', 'urn:note']),
    construct: await ask(['sparql', `CONSTRUCT { ?s ?p "x" } WHERE { ?s ?p "Nantucket" }`]),
  }
}

t.test('cores are asked in a directory and in a server alike', async (t) => {
  const where = ['--data', data]
  // Small cores are indexed while others come, or not yet.
  t.match(
    String(await succeed(t, ['index', 'books', '--state', ...where])),
    /^segments +[01] of 1$/m,
  )
  t.equal(String(await succeed(t, ['index', 'books', ...where])), '')
  t.match(String(await succeed(t, ['index', 'books', '--state', ...where])), /^triples +44$/m)

  const local = await askAll(where)
  t.same(local['authors'], [
    '',
    `<${library}frankenstein> <${author}> <${library}mary-shelley> .`,
    `<${library}les-miserables> <${author}> <${library}victor-hugo> .`,
    `<${moby}> <${author}> <${library}herman-melville> .`,
  ])
  const objects = (local['same'] as string[]).slice(1).map((line) => JSON.parse(line).o)
  t.same(objects[0], { v: `${library}mary-shelley`, e: true })
  t.equal(local['limited'], 6)
  t.equal(local['none'], '')
  t.equal(local['label'], `<${library}nantucket> <${label}> "Nantucket" .\n`)
  t.equal(local['count'], '6\n')
  t.match(local['between'], [
    /^$/,
    /> "Mary Shelley" \.$/,
    /> "Mary Shelley" \.$/,
    /> "Moby-Dick; or, The Whale" \.$/,
  ])
  t.equal(local['numbers'], '0\n')
  t.equal(local['inNoGraph'], '6\n')
  t.equal(local['inGraph'], '0\n')
  t.equal(local['countElsewhere'], '{"count":0}\n')
  t.match(
    local['nearest'],
    /^(1|0\.99999\d+)\t<https:\/\/example\.org\/library\/moby-dick>\tbooks\n/,
  )
  const entities = String(local['nearestJson']).trimEnd().split('\n')
  t.equal(entities.length, 2)
  t.match(JSON.parse(entities[0] ?? ''), { entity: { v: moby, e: true }, core: 'books' })
  t.match(local['nearText'], /mary-shelley>\turn:note\n$/)
  t.match(local['subgraph'], { sources: [{ text: String(note), core: 'urn:note' }] })
  t.match(local['tree'], /^Frankenstein {2}<http[^>]+> {2}\S+ {2}\[1\]\n├─ [^]*Mary Shelley/)
  t.match(local['tree'], /\n\nPassages\n\[1\] .*\n {4}Mary Shelley wrote/)
  t.match(
    local['page'],
    /^\[1\] {2}<urn:note>, 0 to \d+ {2}\S+\n {4}Mary Shelley wrote [^]*\n\n.* – /,
  )
  t.notMatch(local['page'], '\u001b')
  t.equal(local['search'], `[1]  <urn:note>, 0 to ${note.length}\n    ${note}\n`)
  t.match(local['searchJson'], {
    chunk: { v: 'urn:note/c0' },
    core: 'urn:note',
    text: String(note),
    explanation: [{ word: '"mary shelley"', passages: 1 }],
  })
  t.match(local['searchAll'], /^\[1\] {2}<urn:note>, 0 to \d+\n {4}Mary [^]* novelist\.\n$/)
  t.equal(local['searchDocument'], '')
  t.equal(local['searchElsewhere'], '')
  t.match(local['dot'], /^digraph lorekeep \{\n[^]*\n\}\n$/)
  t.equal(local['select'], '?name\n"Herman Melville"\n"Mary Shelley"\n"Victor Hugo"\n')
  t.match(local['selectJson'], { results: { bindings: [{ name: { value: 'Herman Melville' } }] } })
  t.equal(local['boolean'], 'false\n')
  t.equal(local['booleanOfCore'], 'false\n')
  t.equal(local['byPattern'], '?o\n"Nantucket"\n')
  t.equal(local['construct'], `<${library}nantucket> <${label}> "x" .\n`)

  const wrong = async (where: readonly string[]) => [
    await fail(t, 1, ['match', '--core', 'none', ...where]),
    await fail(t, 1, ['ask', 'what?', '--core', 'none', ...where]),
    await fail(t, 1, ['search', 'what?', '--core', 'none', ...where]),
    await fail(t, 1, ['search', 'what?', '-k', '10001', ...where]),
    await fail(t, 1, ['sparql', 'SELECT', ...where]),
    await fail(t, 1, ['index', 'none', ...where]),
    await fail(t, 1, ['index', 'none', '--state', ...where]),
  ]
  const complaints = await wrong(where)

  const { url, token, child, ended } = await serve(t, ['--data', data])
  const remote = ['--url', url, '--token', token]
  t.same(await askAll(remote), local)
  t.same(await wrong(remote), complaints)
  t.match(JSON.parse(String(await succeed(t, ['index', 'books', '--json', ...remote]))), {
    state: 'complete',
    triples: 44,
  })
  const all = JSON.parse(String(await succeed(t, ['index', '--json', ...remote]))) as object
  t.match(all, { state: 'complete', waiting: { segments: 0, bytes: 0 } })
  t.same(JSON.parse(String(await succeed(t, ['index', '--state', '--json', ...remote]))), all)
  child.kill('SIGTERM')
  await ended
})

t.test('all cores of a user are indexed together', async (t) => {
  const where = ['--user', 'carol', '--data', data]
  const digest = createHash('shake256', { outputLength: 80_000 })
  const noise = Buffer.from(`<urn:a> <urn:b> "${digest.update('noise').digest('hex')}" .\n`)
  // Too large to be indexed by itself.
  for (const id of ['a', 'b']) {
    await succeed(t, ['import', '-', '--format', 'nt', '--id', id, ...where], { input: noise })
  }
  const state = async () => String(await succeed(t, ['index', '--state', ...where]))
  t.match(await state(), /^state +none\nwaiting +2 segments\nparts +0\ntriples +0\n/)
  const { code, stdout, stderr } = await run(t, ['index', ...where])
  t.match({ code, stdout: String(stdout) }, { code: 0, stdout: '' })
  t.match(stderr, /^lorekeep: indexed all of 'carol': 1 triple, 0 vectors, 0 passages, 1 part, /m)
  t.match(await state(), /^state +complete\nwaiting +0 segments\nparts +1\ntriples +1\n/)
  const json = JSON.parse(String(await succeed(t, ['index', '--json', ...where]))) as object
  t.match(json, { state: 'complete', waiting: { segments: 0 }, triples: 1 })
})

t.test('who has no cores is told so, and not that nothing was found', async (t) => {
  const empty = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await run(t, [...args, '--data', data])
    t.match({ code, stdout: String(stdout) }, { code: 0, stdout: '' })
    return stderr
  }
  for (const question of [
    ['ask', 'what?'],
    ['nearest', '--text', 'what?'],
    ['search', 'what?'],
  ]) {
    t.match(await empty([...question, '--user', 'nobody']), "user 'nobody' has no cores")
    t.match(await empty([...question, '--collection', 'nope']), "nothing in the collection 'nope'")
    t.match(
      await empty([...question, '--core', 'books']),
      /nothing was found.* common words alone|no passage was found/,
    )
  }
  const json = await run(t, ['ask', 'what?', '--user', 'nobody', '--json', '--data', data])
  t.match(json, { code: 0, stderr: '' })
})

t.test('an answer that breaks off is an error', async (t) => {
  const triple = { s: { v: 'urn:a', e: true }, p: { v: 'urn:b', e: true }, o: { v: 'c', e: false } }
  const server = createServer((request, response) => {
    request.resume()
    response.write(`${JSON.stringify(triple)}\n`, () => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, stdout, stderr } = await run(t, ['match', '--user', 'alice', '--url', url])
  t.equal(code, 1)
  t.equal(String(stdout), '<urn:a> <urn:b> "c" .\n')
  t.match(stderr, /^lorekeep: [^\n]+ broke before the end [^\n]+\n$/)
})

t.test('a question that is refused before all of it was sent is not sent on', async (t) => {
  const problem = { detail: 'the body is too large: no', code: 'LK_HTTP_TOO_LARGE', status: 413 }
  let hungUp = () => {}
  const closed = new Promise<void>((resolve) => (hungUp = resolve))
  const body = JSON.stringify(problem)
  const head = `HTTP/1.1 413 No\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}`
  const server = createTcpServer((socket) => {
    // Reads no more than the beginning, and leaves it to the client to hang up.
    socket.once('data', () => {
      socket.pause().write(`${head}\r\n\r\n${body}`)
      // Only who writes notices that nobody is there, when nothing is read.
      const probe = setInterval(() => socket.write(' '), 50)
      socket.on('close', () => clearInterval(probe))
    })
    socket.on('error', hungUp).on('close', hungUp)
    t.teardown(() => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const file = join(t.testdir({ 'long.rq': `ASK {} #${'x'.repeat(32 * 1024 * 1024)}` }), 'long.rq')
  const url = `http://127.0.0.1:${port}`
  const { code, stderr } = await run(t, ['sparql', '--file', file, '--user', 'a', '--url', url])
  t.equal(code, 1)
  t.equal(stderr, 'lorekeep: the body is too large: no\n')
  const late = AbortSignal.timeout(10_000)
  await Promise.race([closed, once(late, 'abort')])
  t.notOk(late.aborted, 'the client has hung up')
})

t.test('the embedder of a config file makes vectors of questions', async (t) => {
  const config = join(
    t.testdir({ 'lorekeep.json': '{"embedder":{"dimensions":16}}' }),
    'lorekeep.json',
  )
  const near = ['nearest', '--text', 'a whale', '-k', '1', '--data', data]
  const { stdout } = await run(t, [...near, '--config', config])
  t.match(String(stdout), /\tbooks\n$/)
  t.notMatch(String((await run(t, near)).stdout), /\tbooks\n$/)
  const nothing = await run(t, [...near, '--core', 'books'])
  t.equal(nothing.code, 0)
  t.equal(String(nothing.stdout), '')
  t.match(nothing.stderr, /^lorekeep: [^\n]+\n$/)
})

t.test('on a terminal entities are a table', async (t) => {
  const dir = t.testdir({ 'vector.json': vectorOf(moby) })
  const outcome = inTerminal(['nearest', '--vector', join(dir, 'vector.json'), '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  const lines = outcome.text.trimEnd().split(/\r?\n/)
  t.equal(lines.length, 9)
  t.match(lines[0], /^ +SCORE {2}ENTITY +CORE$/)
  t.match(lines[1], /^ +1\.0000 {2}<https:\/\/example\.org\/library\/moby-dick> +books$/)
})

t.test('on a terminal words that were searched are in bold', async (t) => {
  const outcome = inTerminal(['search', 'geneva', 'writing', '--data', data])
  if (outcome === undefined) return t.pass('', { skip: 'no script(1) to fake a terminal with' })
  t.match(outcome.text, ' in \u001b[1mGeneva\u001b[22m.')
})

t.test('who finds nothing since all is in named graphs is told so', async (t) => {
  const where = ['--data', t.testdir(), '--user', 'u']
  const hint = /^lorekeep: the default graph is empty: all triples are in named graphs/m
  const told = async (query: string) => {
    const { code, stderr } = await run(t, ['sparql', query, ...where])
    t.equal(code, 0)
    return hint.test(stderr)
  }
  const quad = (graph: string) => Buffer.from(`<urn:a> <urn:p> "1" ${graph} .\n`)
  const load = (id: string, graph: string) =>
    run(t, ['import', '-', '--format', 'nquads', '--id', id, ...where], { input: quad(graph) })
  t.equal((await load('named', '<urn:g>')).code, 0)
  for (const query of ['SELECT * { ?s ?p ?o }', 'CONSTRUCT WHERE { ?s ?p ?o }', 'ASK { ?s ?p ?o }'])
    t.equal(await told(query), true, query)
  for (const graph of ['<urn:g>', '?g'])
    t.equal(await told(`SELECT * { GRAPH ${graph} { ?s ?p ?o } }`), false, graph)
  t.equal((await load('unnamed', '')).code, 0)
  t.equal(await told('SELECT * { ?s <urn:none> ?o }'), false)
})

t.test('flags that cannot be are wrong usage', async (t) => {
  const wrong: readonly (readonly string[])[] = [
    ['match', '--s', 'London'],
    ['match', '--limit', '0'],
    ['match', '--limit', '1', '--count'],
    ['match', '--core', ''],
    ['nearest'],
    ['nearest', '--text', 'a', '--vector', '-'],
    ['nearest', '--text', 'a', '--exact'],
    ['nearest', '--text', 'a', '-k', '0'],
    ['nearest', '--text', 'a', '--url', 'http://127.0.0.1:1', '--config', 'a.json'],
    ['ask'],
    ['ask', 'what?', '--depth', '101'],
    ['ask', 'what?', '--json', '--dot'],
    ['ask', 'what?', '--json', '--all'],
    ['search'],
    ['search', ''],
    ['search', 'boat', '-church'],
    ['search', 'boat', '-k', '0'],
    ['search', 'boat', '--all', '--json'],
    ['search', 'boat', '--language', 'no language'],
    ['sparql'],
    ['sparql', 'ASK {}', '--file', 'a.rq'],
    ['index', ''],
    ['index', 'a', 'b'],
  ]
  for (const args of wrong) await fail(t, 2, args)
  for (const input of ['{}', '[]', '["1"]', '[1e999]', '[1']) {
    await fail(t, 1, ['nearest', '--vector', '-', '--data', data], { input: Buffer.from(input) })
  }
})

t.test('passages that a server leaves out are told', async (t) => {
  const chunk = { v: 'urn:a', e: true }
  const passage = { chunk, core: 'a', text: 'The river.', score: 1, highlights: [[4, 9]] }
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ passages: [passage], truncated: true }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const more of [[], ['--json']]) {
    const args = ['search', 'river', '--user', 'alice', '--url', url, ...more]
    const { code, stdout, stderr } = await run(t, args)
    t.equal(code, 0)
    t.match(String(stdout), /The river\./)
    t.match(stderr, /^lorekeep: [^\n]+ there are more$/m)
  }
})
