import * as fc from 'fast-check'
import t from 'tap'
import { pickSeed } from '../../fixtures/random.js'
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

t.test('what stands in a comment is no heading, and signs close one behind a space', async (t) => {
  const text = '<!--\n# no\n-->\n# One ##\n## Two#\n# ##\n###\n# C # \t\n<!-- x -->\n#\tTab\t#\n'
  const { headings, title } = await read('text/markdown', text)
  const names = headings.map(({ level, text: heading }) => `${level} ${heading}`)
  t.strictSame(names, ['1 One', '2 Two#', '1 C', '1 Tab'])
  t.equal(title, 'One')
})

t.test('emphasis of a heading goes, and marks of none stay', async (t) => {
  const names = [
    ['*a* `b` **c** __d__ _e_', 'a b c d _e_'],
    ['2 * 3 * 4 *', '2 * 3 * 4 *'],
    ['**a *b* **', '*a *b **'],
    ['***a** b*', '*a b*'],
    ['**a*', '*a'],
  ]
  const found = await read('text/markdown', names.map(([marked]) => `## ${marked}\n`).join(''))
  t.strictSame(
    found.headings.map(({ text }) => text),
    names.map(([, text]) => text),
  )
})

t.test('headings take no longer than their length, which has an end', async (t) => {
  const since = process.cpuUsage()
  const names = ['x'.repeat(1000), 'x'.repeat(1001), '*a '.repeat(100_000)]
  const { headings } = await read('text/markdown', names.map((name) => `${name}\n===\n`).join('\n'))
  t.strictSame(
    headings.map(({ text }) => text),
    names.slice(0, 1),
  )
  const many = `${'*a '.repeat(330)}\n===\n\n`.repeat(10_000)
  const found = await read('text/markdown', many, { maxTextLength: many.length })
  t.equal(found.headings.length, 10_000)
  const { user, system } = process.cpuUsage(since)
  t.ok(user + system < 5e6, `${user + system} us of the processor`)
})

t.test('a title of front matter is read in time by its length, which has an end', async (t) => {
  const titleOf = async (said: string) => {
    const text = `---\ntitle:${said}\n---\n# One\n`
    return (await read('text/markdown', text, { maxTextLength: text.length })).title
  }
  t.equal(await titleOf(" \t'A  title'\t "), 'A title')
  t.equal(await titleOf(' '), 'One')
  t.equal(await titleOf('A'), 'One')
  t.equal(await titleOf(' \nTitle: A\ntitle: B\ntitle: C'), 'B')
  t.equal(await titleOf(` ${'x'.repeat(1000)}`), 'x'.repeat(1000))
  t.equal(await titleOf(` ${'x'.repeat(1001)}`), 'One')
  // By the square of it: more than half an hour.
  t.equal(await titleOf(` x${' '.repeat(4e6)}y`), 'One')
  // The same of lines: five minutes.
  t.equal(await titleOf('\ntitle:'.repeat(100_000)), 'One')
  t.equal(await titleOf(` |${'\n'.repeat(100_000)} A`), 'One')
})

t.test('a title of front matter is read as YAML reads a scalar', async (t) => {
  const titles: readonly (readonly [said: string, title: string | undefined])[] = [
    ['A title # and a comment', 'A title'],
    ['C# and F#', 'C# and F#'],
    ['# a comment', undefined],
    ['', undefined],
    ['""', undefined],
    ["' '", undefined],
    ['~', undefined],
    ['null # none', undefined],
    ['!!str null', 'null'],
    ['2024', '2024'],
    ["'It''s'", "It's"],
    ["'a\\n\n  b' # c", 'a\\n b'],
    ['"a\\"b \\u00e9\\x21 \\U0001F600"', 'a"b é! 😀'],
    ['"over \n\n  two\\\n  lines"', 'over twolines'],
    ['"a\\tb\\nc"', 'a b c'],
    ['"a\\q"', undefined],
    ['"a\\ud800"', 'a\ufffd'],
    ['"a\\U00110000"', undefined],
    ['"not closed', undefined],
    ["'a' b", undefined],
    ['>-\n  Folded\n  text', 'Folded text'],
    ['|2+ # as it is\n    Kept\n\n  text # too\n # comment\nother: 1', 'Kept text # too'],
    ['>\n', undefined],
    ['>x\n  Text', undefined],
    ['Over\n  two lines # comment\nother: x', 'Over two lines'],
    ['\n  # comment\n  Below\n  it', 'Below it'],
    ['!!str\n  ~', '~'],
    ['&name\n  "Below"', 'Below'],
    ['!!str &name A', 'A'],
    ['&name !<tag:yaml.org,2002:str> "A"', 'A'],
    ['*name', undefined],
    ['[a, b]', undefined],
    ['{ a: b }', undefined],
    ['@a', undefined],
    ['- a', undefined],
    ['-a', '-a'],
    ['\n  - a', undefined],
    ['\n  de: A', undefined],
    ['\n  &name de: A # c', undefined],
    ['\n  A #: c', 'A'],
    ['The River: a history', 'The River: a history'],
    [`"${'\\u00e9'.repeat(1000)}"`, 'é'.repeat(1000)],
    [`"${'\\u00e9'.repeat(1001)}"`, undefined],
    [`>\n${`  ${'x'.repeat(200)}\n`.repeat(5)}`, undefined],
  ]
  for (const [said, title = 'Heading'] of titles) {
    const text = `---\nlang: en\ntitle: ${said}\n---\n# Heading\n`
    t.equal((await read('text/markdown', text)).title, title, said.slice(0, 40))
  }
  const keyed = '---\ntext: |\n  title: A\n"title" : B\n---\n'
  t.equal((await read('text/markdown', keyed)).title, 'B')
  const long = `---\n${'a: 1\n'.repeat(100)}title: A\n---\n# Heading\n`
  t.equal((await read('text/markdown', long)).title, 'Heading')
})

t.test('of more than 10,000 headings the outermost levels stay, as a whole', async (t) => {
  const levels = async (text: string, type: 'text/markdown' | 'text/html' = 'text/markdown') => {
    const { headings } = await read(type, text)
    const counts = new Map<number, number>()
    for (const { level } of headings) counts.set(level, (counts.get(level) ?? 0) + 1)
    return Object.fromEntries(counts)
  }
  const threes = '### C\n'.repeat(9_998)
  t.strictSame(await levels(`${threes}# A\n## B\n`), { 1: 1, 2: 1, 3: 9_998 })
  t.strictSame(await levels(`${threes}# A\n## B\n## B\n### C\n`), { 1: 1, 2: 2 })
  t.strictSame(await levels(`${threes}# A\n${'## B\n'.repeat(10_000)}`), { 1: 1 })
  t.strictSame(await levels(`<html><h1>A</h1>${'<h2>B</h2>'.repeat(10_000)}`, 'text/html'), {
    1: 1,
  })
  const found = await read('text/markdown', '# A\n'.repeat(10_001))
  t.strictSame([found.title, found.headings], ['A', []])
})

t.test('each row of CSV says what its cells are', async (t) => {
  const csv = 'Name,Toll\r\n"Folly, ""old""",1 d\r\n\r\nOsney,,more\r\n'
  t.equal((await read('text/csv', csv)).text, 'Name: Folly, "old"\nToll: 1 d\n\nName: Osney\nmore')
  t.equal((await read('text/csv', 'a;b\n1,5;2,5\n')).text, 'a: 1,5\nb: 2,5', 'by semicolons')
  t.equal((await read('text/csv', 'a,b\n"two\nlines",2')).text, 'a: two lines\nb: 2')
  t.equal((await read('text/csv', 'a,b')).text, 'a\nb', 'a header alone')
  t.equal((await read('text/csv', 'a,b\n"open')).text, 'a: open', 'a quote that is not closed')
  t.equal((await read('text/tab-separated-values', 'a\tb\n1\t2')).text, 'a: 1\nb: 2')
  t.equal((await read('text/csv', '\uFEFFsep=;\r\na;b\r\n1,5;2\r\n')).text, 'a: 1,5\nb: 2')
  await t.rejects(read('text/csv', '\n\n'), because('empty'))
})

/** The rows of a table by tabs, each on a line. */
async function tabbed(rows: string, header = 'a\tb\n'): Promise<string[]> {
  const { text } = await read('text/tab-separated-values', header + rows)
  return text.split('\n\n').map((row) => row.replaceAll('\n', '; '))
}

t.test('quotes in a table by tabs are characters where they enclose no cell', async (t) => {
  t.strictSame(await tabbed('1\t"Rome\n2\tParis'), ['a: 1; b: "Rome', 'a: 2; b: Paris'])
  t.strictSame(await tabbed('1\t"Rome\n2\t9"\n'), ['a: 1; b: "Rome', 'a: 2; b: 9"'])
  t.strictSame(await tabbed('"Rome" is old\t"\n2\t"'), ['a: "Rome" is old; b: "', 'a: 2; b: "'])
  const disks = await tabbed('1\t"5" disk\n2\t3.5" disk')
  t.strictSame(disks, ['a: 1; b: "5" disk', 'a: 2; b: 3.5" disk'])
  const within = await tabbed('1\t"\n2\t"A "B" C"\n3\t"')
  t.strictSame(within, ['a: 1; b: "', 'a: 2; b: "A "B" C"', 'a: 3; b: "'])
  const three = 'a\tb\tc\n'
  const above = await tabbed('1\t"\t"\n"\t"\t2', three)
  t.strictSame(above, ['a: 1; b: "; c: "', 'a: "; b: "; c: 2'])
  const rows = await tabbed('1\t"x\ty\n2\t\tz\n3\tp\tq"', three)
  t.strictSame(rows, ['a: 1; b: "x; c: y', 'a: 2; c: z', 'a: 3; b: p; c: q"'])
  t.strictSame(await tabbed('\t"\n\t"'), ['b: "', 'b: "'])
  t.strictSame(await tabbed('2\t9"', 'a\t"b\n'), ['a: 2; "b: 9"'])
  const far = `1\t"x\n${'only one\n'.repeat(5000)}2\tz"`
  t.equal((await tabbed(far)).length, 5002, 'nor do they enclose more than a cell has')
})

t.test('no rows of a table by tabs are lost to quotes below a blank line or a title', async (t) => {
  const table = 'name\tsize\n"Heroes\t4\nplate\t12"\n'
  const rows = ['name: "Heroes; size: 4', 'name: plate; size: 12"']
  for (const above of ['\n', ' \t\n\n', '\t\t\n']) t.strictSame(await tabbed(table, above), rows)
  for (const title of ['Report 2024\n', '\nReport 2024\n\n', 'Report\n2024\n']) {
    const found = await tabbed(table, title)
    t.match(found.at(-2), /"Heroes; 4$/)
    t.match(found.at(-1), /plate; 12"$/)
  }
  const ofExcel = await tabbed('a\t"b\nor\tc"\r\n1\t2', '\t\r\n')
  t.strictSame(ofExcel, ['a: 1; b or c: 2'], 'nor are cells of Excel torn')
})

t.test('rows of a table by tabs may lack empty cells where quotes are characters', async (t) => {
  const four = 'id\tname\tsize\tnote\n'
  const rows = await tabbed('1\t"Heroes\t\tx\n2\tplate\t12"\n', four)
  t.strictSame(rows, ['id: 1; name: "Heroes; note: x', 'id: 2; name: plate; size: 12"'])
  const short = await tabbed('1\t"Heroes\n2\tdisk\t5"\n3\tplate', four)
  t.strictSame(short, ['id: 1; name: "Heroes', 'id: 2; name: disk; size: 5"', 'id: 3; name: plate'])
  const long = await tabbed('1\t"Heroes\n2\tdisk\t\tx\ty\n3\tplate"\n', four)
  t.strictSame(long, ['id: 1; name: Heroes 2 disk x y 3 plate'], 'but have no more than the header')
  t.strictSame(await tabbed('1\t"two\nlines"\n', four), ['id: 1; name: two lines'])
  t.strictSame(await tabbed('"1\t2"\tx\n', four), ['id: 1 2; name: x'])
  const ofExcel = await tabbed('1\t"a\nb\tc"\r\n', four.replace('\n', '\r\n'))
  t.strictSame(ofExcel, ['id: 1; name: a b c'])
})

t.test('a cell of a table by tabs that has tabs or line ends is in quotes', async (t) => {
  t.strictSame(await tabbed('"1\t2"\t"two\nlines ""old"""'), ['a: 1 2; b: two lines "old"'])
  t.strictSame(await tabbed('""\t"x"\r\n"y"\t2'), ['b: x', 'a: y; b: 2'])
  t.strictSame(await tabbed('"x\n\ty"\t2\n3\t4'), ['a: x y; b: 2', 'a: 3; b: 4'])
  t.strictSame(await tabbed('1\t"if:\n\tthen"\n3\t4'), ['a: 1; b: if: then', 'a: 3; b: 4'])
  const lines = await tabbed('1\t"two\n\nof\tthem"\n3\t4')
  t.strictSame(lines, ['a: 1; b: two of them', 'a: 3; b: 4'])
  t.strictSame(await tabbed('"two\nlines"\n3', 'a\n'), ['a: two lines', 'a: 3'])
  const three = 'a\tb\tc\n'
  const middle = await tabbed('1\t"x\n2\ty"\t3\n4\t5\t6', three)
  t.strictSame(middle, ['a: 1; b: x 2 y; c: 3', 'a: 4; b: 5; c: 6'])
  const all = await tabbed('"p\tq"\t"r\ts ""t"""\t"u\tv"', three)
  t.strictSame(all, ['a: p q; b: r s "t"; c: u v'])
  const ofExcel = await tabbed('1\t"Rome\n2\t9"\r\n3\t4', 'a\tb\r\n')
  t.strictSame(ofExcel, ['a: 1; b: Rome 2 9', 'a: 3; b: 4'])
  t.strictSame(await tabbed('1\t2', '"a\tb"\tc\n'), ['a b: 1; c: 2'])
  t.strictSame(await tabbed('1\t2', '"a\n(m\tin)"\tc\n'), ['a (m in): 1; c: 2'])
})

t.test('a cell of the first row of a table by tabs that has line ends is in quotes', async (t) => {
  for (const end of ['\n', '\r\n']) {
    const found = await tabbed(`1\tBob\t7${end}`, `id\t"Name\nof person"\tAge${end}`)
    t.strictSame(found, ['id: 1; Name of person: Bob; Age: 7'])
    const blank = await tabbed(`1\tBob\t7${end}`, `\t${end}id\t"Name\nof person"\tAge${end}`)
    t.strictSame(blank, found, 'below a blank one')
  }
  const ofExcel = await tabbed('1\tBob\r\n', 'id\t"Name\n(of\tall)"\r\n')
  t.strictSame(ofExcel, ['id: 1; Name (of all): Bob'], 'and one with tabs where rows end otherwise')
  const uneven = await tabbed('1\t2\t3', 'a\t"b\tc\td\ne"\tf\n')
  t.strictSame(uneven, ['a: 1; b c d e: 2; f: 3'], 'or its lines have not as many cells each')
})

t.test('rows of a table by tabs that lack cells keep one of several lines', async (t) => {
  const four = 'id\tname\tsize\tnote\n'
  const two = await tabbed('1\t"two\nlines"\t5\n2\tdisk\n', four)
  t.strictSame(two, ['id: 1; name: two lines; size: 5', 'id: 2; name: disk'])
  const both = await tabbed('1\t"two\nlines"\t"x\nor y"\n', four)
  t.strictSame(both, ['id: 1; name: two lines; size: x or y'])
  const tabs = await tabbed('1\t"two\nlines"\t"x\ty"\t6\n', four)
  t.strictSame(tabs, ['id: 1; name: two lines; size: x y; note: 6'], 'nor is a whole one torn')
  const rows = await tabbed('1\t"Rome\nParis"\t2\n')
  t.strictSame(rows, ['a: 1; b: "Rome', 'a: Paris"; b: 2'], 'but two whole rows are two')
})

t.test('tables by tabs are read in time by their length, whatever quotes they have', async (t) => {
  const ofLines = ['\t"\n', '"\t"\n', '"\tx\n', '"a\n\tb"', '\t"\t\t\n', 'x\t"\n']
  // A row of more cells than 100,000 is refused.
  const ofRows = ['\t"', '\t"\t"', '\t"x', '\t"""\t""'].map((cells) => `${cells.repeat(20_000)}\n`)
  for (const piece of [...ofLines, ...ofRows]) {
    const text = `a\tb\n${piece.repeat(Math.ceil(1e6 / piece.length))}\nend`
    const found = await read('text/tab-separated-values', text, { maxTextLength: 1e7 })
    t.ok(found.text.endsWith('end'), JSON.stringify(piece.slice(0, 12)))
  }
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

t.test('numbers are said as they are written, and lists of plain values on lines', async (t) => {
  const said = async (json: string) => (await read('application/json', json)).text
  t.equal(
    await said('{"id":12345678901234567890,"price":1.10}'),
    'id: 12345678901234567890\nprice: 1.10',
  )
  t.equal(await said('{"a":[1,[],2,{"b":3},"x","y"]}'), 'a: 1\na: 2\n\na › b: 3\na: x, y')
  t.equal(await said('{"__proto__":{"a\\n":"\\u00e9"}}'), '__proto__ › a\n: é')
  t.equal(await said('1\n\n"two"\r\n[3]\n'), '1\n\ntwo\n\n3')
  const long = JSON.stringify(Array.from({ length: 30_000 }, (_, n) => n))
  t.equal((await said(long)).replaceAll('\n', ', '), long.slice(1, -1).replaceAll(',', ', '))
})

t.test('JSON is refused where JSON.parse refuses it, and says where', async (t) => {
  const pieces = fc.constantFrom(
    ...'{ } [ ] , : "a" "" "\\n" "\\x" " 0 -1 1.5e3 01 . true nul null \\ \u0001 x'.split(' '),
    ' ',
  )
  const taken = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((some) => some.join('')),
    fc.tuple(fc.json(), fc.nat(60), pieces).map(([json, at, piece]) => {
      const place = at % (json.length + 1)
      return json.slice(0, place) + piece + json.slice(place)
    }),
    fc.json(),
  )
  const property = fc.asyncProperty(taken, async (json) => {
    const isJson = (() => {
      try {
        JSON.parse(json)
        return true
      } catch {
        return false
      }
    })()
    const reason = await read('application/json', json).then(
      () => undefined,
      (error: { reason: string; message: string }) => error.reason,
    )
    return isJson ? reason !== 'damaged' : reason === 'damaged' || json.trim() === ''
  })
  await fc.assert(property, { seed: pickSeed(), numRuns: 2000 })
  await t.rejects(read('application/json', '{"a": [1, 2'), /it ends at character 11/)
  await t.rejects(read('application/json', '[1, 2,]'), /"\]" is unexpected at character 6/)
  await t.rejects(read('application/json', '[]'.repeat(2)), because('damaged'))
  await t.rejects(read('application/json', '['.repeat(100_001)), /nested more than 100000 deep/)
})
