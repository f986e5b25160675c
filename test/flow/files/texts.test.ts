import t from 'tap'
import { because, headingsOf, read } from './reading.js'

t.test('Markdown stays as it is, and its headings are found', async (t) => {
  const text = [
    '---',
    'title: "A Title"',
    '---',
    '# One **bold** [link](x) #',
    '## Two',
    'Setext',
    'heading',
    '---',
    '```sh',
    '# no heading',
    '```',
    '    # code',
    '- item',
    '---',
    '#no heading',
    'Text',
    '===',
  ].join('\n')
  const found = await read('text/markdown', text)
  t.equal(found.text, text)
  t.equal(found.title, 'A Title')
  const names = found.headings.map(({ level, text: heading }) => `${level} ${heading}`)
  t.strictSame(names, ['1 One bold link', '2 Two', '2 Setext heading', '1 #no heading Text'])
  const [first] = found.headings
  t.equal(text.slice(first?.start, first?.end), '# One **bold** [link](x) #')
  await t.rejects(read('text/markdown', ' \n'), because('empty'))
  await t.rejects(read('text/markdown', text, { maxTextLength: 10 }), because('text'))
})

t.test('each row of CSV says what its cells are', async (t) => {
  const csv = 'Name,Toll\r\n"Folly, ""old""",1 d\r\n\r\nOsney,,more\r\n'
  t.equal((await read('text/csv', csv)).text, 'Name: Folly, "old"\nToll: 1 d\n\nName: Osney\nmore')
  t.equal((await read('text/csv', 'a;b\n1,5;2,5\n')).text, 'a: 1,5\nb: 2,5', 'by semicolons')
  t.equal((await read('text/csv', 'a,b\n"two\nlines",2')).text, 'a: two lines\nb: 2')
  t.equal((await read('text/csv', 'a,b')).text, 'a\nb', 'a header alone')
  t.equal((await read('text/csv', 'a,b\n"open')).text, 'a: open', 'a quote that is not closed')
  t.equal((await read('text/tab-separated-values', 'a\tb\n1\t2')).text, 'a: 1\nb: 2')
  await t.rejects(read('text/csv', '\n\n'), because('empty'))
})

t.test('JSON is said with its paths', async (t) => {
  const value = {
    title: 'News',
    place: { river: 'Thames', old: true },
    tags: ['a', 'b', null],
    people: [{ name: 'Ellen' }, { name: 'Dick', age: 30, note: null }],
  }
  const found = await read('application/json', JSON.stringify(value))
  t.equal(found.title, 'News')
  t.equal(
    found.text,
    'title: News\nplace › river: Thames\nplace › old: true\ntags: a, b\n\npeople › name: Ellen\n\npeople › name: Dick\npeople › age: 30',
  )
  const lines = await read('application/json', '{"a":1}\n{"a":2}\n')
  t.equal(lines.text, 'a: 1\n\na: 2', 'lines of it')
  await t.rejects(read('application/json', '{"a":'), because('damaged'))
  await t.rejects(
    read('application/json', `${'['.repeat(1e5)}${']'.repeat(1e5)}`),
    because('empty'),
  )
  t.strictSame(headingsOf(found), [])
})
