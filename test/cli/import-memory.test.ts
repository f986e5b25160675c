// `lorekeep import` of the file of the reference memory server for assistants.

import { join } from 'node:path'
import t from 'tap'
import type { Triple } from '../../src/types.js'
import { vocabulary } from '../../src/vocabulary.js'
import { fail, run, succeed } from './command.js'

/** As that server writes it, with what it lets through: names that no line is about, and lines twice. */
const lines = [
  {
    type: 'entity',
    name: 'John_Smith',
    entityType: 'person',
    observations: ['Speaks fluent Spanish', 'Graduated in 2019'],
  },
  { type: 'entity', name: 'Anthropic', entityType: 'organization', observations: [] },
  {
    type: 'entity',
    name: 'Zoë "Z" 王',
    entityType: 'person',
    observations: ['Keeps bees in Bath 🐝', 'Keeps bees in Bath 🐝'],
  },
  { type: 'relation', from: 'John_Smith', to: 'Anthropic', relationType: 'works_at' },
  { type: 'relation', from: 'John_Smith', to: 'Eve', relationType: 'knows' },
  { type: 'relation', from: 'John_Smith', to: 'Anthropic', relationType: 'works_at' },
  { type: 'entity', name: 'john_smith', entityType: 'person', observations: [], createdAt: 7 },
]
const text = (values: readonly unknown[]) =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')

t.test('what a memory says is found, with where it stands', async (t) => {
  const place = t.testdir({ 'memory.jsonl': `\n${text(lines)}` })
  const where = ['--data', join(place, 'data'), '--user', 'alice']
  const { stderr } = await run(t, ['import', join(place, 'memory.jsonl'), ...where])
  t.match(stderr, /3 entities, 3 observations, 2 relations/)
  t.match(stderr, /1 name in relations alone/)
  t.match(stderr, /said twice, and kept once: 3/)
  t.match(stderr, /left out: 1 createdAt/)

  const found = async (...args: string[]) => {
    const { stdout } = await run(t, [...args, ...where, '--json'])
    return stdout.toString()
  }
  t.match(await found('search', 'smith spanish'), '"text":"John Smith: Speaks fluent Spanish"')
  t.match(await found('search', 'bees'), '"core":"memory"')
  t.match(await found('ask', 'Where does John Smith work?'), 'John Smith works at Anthropic.')
  const s = '<http://trustgraph.ai/e/john-smith>'
  const triples = await found('match', '--s', s)
  t.match(triples, 'http://trustgraph.ai/e/works-at')
  t.match(triples, 'http://trustgraph.ai/e/person')
  t.match(triples, 'Graduated in 2019')

  const again = await run(t, ['import', join(place, 'memory.jsonl'), ...where])
  t.match(again.stderr, /held this already, nothing was stored/)
})

t.test('a name of a memory and of a text is one entity, whatever the base', async (t) => {
  const base = 'urn:ours:'
  const place = t.testdir({
    'memory.jsonl': text(lines),
    'note.txt': 'John Smith lives in Paris.',
    'config.json': JSON.stringify({ base }),
  })
  const file = (name: string) => join(place, name)
  for (const [data, more] of [
    [file('usual'), { load: [], import: [] }],
    [file('ours'), { load: ['--config', file('config.json')], import: ['--base', base] }],
  ] as const) {
    const where = ['--data', data]
    await succeed(t, ['load', file('note.txt'), '--id', 'note', '--wait', ...where, ...more.load])
    const triplesOf = async (...pattern: string[]) =>
      String(await succeed(t, ['match', ...pattern, ...where, '--json']))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Triple)
    const label = ['--p', `<${vocabulary.label}>`, '--o', '"John Smith"']
    const [ofText, ...others] = await triplesOf(...label)
    t.equal(others.length, 0)
    await succeed(t, ['import', file('memory.jsonl'), ...where, ...more.import])
    t.same(await triplesOf(...label), [ofText], 'no other has the name')
    const said = await triplesOf('--s', `<${ofText?.s.v}>`)
    const objects = said.map(({ o }) => o.v.replace(/.*[/:]/, ''))
    for (const object of ['paris', 'anthropic', 'Speaks fluent Spanish']) {
      t.ok(objects.includes(object), object)
    }
  }
})

t.test('what is no word without its underscores stays as it is', async (t) => {
  const place = t.testdir({ 'memory.jsonl': text([{ ...lines[1], name: '__' }]) })
  const where = ['--data', join(place, 'data')]
  await succeed(t, ['import', join(place, 'memory.jsonl'), ...where])
  const triples = await succeed(t, ['match', '--s', '<http://trustgraph.ai/e/__>', ...where])
  t.match(String(triples), 'organization')
})

t.test('a line that is wrong is named, and nothing is stored', async (t) => {
  const entity = lines[0] as object
  for (const [line, message] of [
    ['{"type":"entity",', /memory\.jsonl:2: /],
    ['[]', /:2: a line has to be a JSON object/],
    ['{"type":"thing"}', /:2: type has to be "entity" or "relation", not "thing"/],
    ['{"type":"entity","entityType":"a","observations":[]}', /:2: name: a name has to be a string/],
    [JSON.stringify({ ...entity, name: ' ' }), /:2: name: a name is empty/],
    [JSON.stringify({ ...entity, name: 'x'.repeat(1001) }), /:2: name: a name has 1001/],
    [JSON.stringify({ ...entity, observations: 'a' }), /:2: observations has to be a list/],
    [JSON.stringify({ ...entity, observations: ['a', 7] }), /:2: observations\[1\] .* not 7/],
    [JSON.stringify({ ...entity, observations: ['a'.repeat(500_001)] }), /:2: .* 500000 bytes/],
    ['{"type":"relation","from":"a","to":"b"}', /:2: relationType: /],
    ['"\ud800"', /:2: /],
  ] as const) {
    const place = t.testdir({ 'memory.jsonl': `${text([entity])}${line}\n${text(lines)}` })
    const where = ['--data', join(place, 'data')]
    t.match(await fail(t, 1, ['import', join(place, 'memory.jsonl'), ...where]), message)
    const { stdout } = await run(t, ['cores', ...where, '--json'])
    t.equal(stdout.toString(), '', line.slice(0, 40))
  }
})

t.test('flags of other formats are refused, and --format says what a file is', async (t) => {
  const place = t.testdir({ memory: text(lines) })
  const where = ['--data', join(place, 'data')]
  const file = join(place, 'memory')
  t.match(await fail(t, 2, ['import', `${file}.jsonl`, '--loss', 'drop']), /not for memory files/)
  const noIri = ['import', `${file}.jsonl`, '--base', 'ours']
  t.match(await fail(t, 2, noIri), /--base must be the beginning of a URI/)
  await succeed(t, ['import', file, '--format', 'memory', '--id', 'mine', ...where])
  t.match((await run(t, ['cores', ...where, '--json'])).stdout.toString(), '"id":"mine"')
})
