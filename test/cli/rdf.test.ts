import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { fail, inTerminal, run, serve, succeed } from './command.js'

const turtle = `@prefix ex: <http://example.org/> .
ex:ishmael ex:name "Ishmael"@en ; ex:age 30 ; ex:knows [ ex:name "Queequeg" ] .
`
const extras = { statements: 2, datatypes: 1, languages: 1, directions: 0, graphs: 0 }

t.test('a Turtle file is a core, with its languages and datatypes', async (t) => {
  const dir = t.testdir({ 'whale.ttl': turtle })
  const data = ['--data', join(dir, 'data')]
  const plain = await run(t, ['import', join(dir, 'whale.ttl'), ...data])
  t.equal(plain.code, 0)
  t.match(
    plain.stderr,
    /imported 'whale'[^\n]*\b4 triples\b[^\n]*\n[^\n]*1 literal with a datatype, 1 with a language/,
  )
  const again = await succeed(t, ['import', join(dir, 'whale.ttl'), '--json', ...data])
  t.match(JSON.parse(String(again)), { triples: 4, duplicate: true, kept: extras })
  const where = ['--id', 'whale', ...data]
  const text = String(await succeed(t, ['export', '--format', 'nt', ...where]))
  t.match(text, '"Ishmael"@en')
  t.match(text, '"30"^^<http://www.w3.org/2001/XMLSchema#integer>')
  const args = ['import', join(dir, 'whale.ttl'), '--id', 'b', '--loss', 'drop', ...data]
  t.match(
    (await run(t, args)).stderr,
    'left out: 1 literal with a datatype, 1 with a language (--loss keep keeps them)',
  )
})

t.test('--loss reify keeps everything until it is exported again', async (t) => {
  const dir = t.testdir({ 'whale.ttl': turtle })
  const where = ['--id', 'a', '--data', join(dir, 'data')]
  const args = ['import', join(dir, 'whale.ttl'), '--loss', 'reify', ...where]
  const { stderr } = await run(t, args)
  t.match(stderr, 'kept as reified statements: 1 literal with a datatype, 1 with a language')
  const lines = String(await succeed(t, ['export', '--format', 'nt', ...where])).split('\n')
  t.equal(lines.length, 5)
  t.ok(lines.includes('<http://example.org/ishmael> <http://example.org/name> "Ishmael"@en .'))
  const file = join(dir, 'copy.ttl')
  await succeed(t, ['export', '-o', file, ...where])
  t.match(readFileSync(file, 'utf8'), '<http://example.org/age> 30')
})

t.test('--loss refuse, and a text that is not valid, leave nothing', async (t) => {
  const data = ['--data', t.testdir()]
  const args = ['import', '-', '--id', 'a', '--format', 'turtle', ...data]
  const input = Buffer.from(turtle)
  t.match(
    await fail(t, 1, [...args, '--loss', 'refuse'], { input }),
    '1 literal with a datatype, 1 with a language',
  )
  t.match(await fail(t, 1, args, { input: input.subarray(0, -4) }), 'line 2')
  t.equal(String(await succeed(t, ['cores', ...data])), '')
})

t.test('a server gets the same core as a data directory', async (t) => {
  const { url, token } = await serve(t, ['--data', t.testdir({ sub: {} })])
  const input = Buffer.from(turtle)
  const args = ['import', '-', '--id', 'a', '--format', 'ttl', '--loss', 'reify', '--json']
  const there = ['--url', url, '--token', token]
  const local = await succeed(t, [...args, '--data', join(t.testdirName, 'sub')], { input })
  const remote = await succeed(t, [...args, ...there], { input })
  t.strictSame(JSON.parse(String(remote)), JSON.parse(String(local)))
  const text = String(await succeed(t, ['export', '--id', 'a', '--format', 'trig', ...there]))
  t.match(text, '"Ishmael"@en')
})

t.test('an export as RDF tells how many embeddings it leaves out', async (t) => {
  const where = ['--id', sampleId, '--data', t.testdir()]
  await succeed(t, ['import', '-', ...where], { input: await succeed(t, ['sample']) })
  const { stdout, stderr } = await run(t, ['export', '--format', 'nq', ...where])
  t.equal(String(stdout).split('\n').length, 45)
  t.match(stderr, '8 entities left out')
  const outcome = inTerminal(['export', '--format', 'turtle', ...where])
  if (outcome !== undefined) t.equal(outcome.code, 0, 'text may go to a terminal')
})

t.test('a format that there is none of, and flags that a core has no use for', async (t) => {
  const dir = t.testdir({ 'a.ttl': turtle, 'a.core': '' })
  const data = ['--data', join(dir, 'data')]
  await fail(t, 2, ['import', join(dir, 'a.ttl'), '--format', 'rdf/xml', ...data])
  await fail(t, 2, ['import', join(dir, 'a.ttl'), '--base', 'books', ...data])
  for (const flag of [
    ['--loss', 'drop'],
    ['--base', 'urn:a'],
    ['--collection', 'c'],
  ]) {
    await fail(t, 2, ['import', join(dir, 'a.core'), ...flag, ...data])
  }
  t.match(await fail(t, 1, ['import', join(dir, 'a.ttl'), '--format', 'core', ...data]), 'Turtle')
})
