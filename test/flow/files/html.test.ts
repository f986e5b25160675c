import t from 'tap'
import { because, headingsOf, pagesOf, read } from './reading.js'

const html = (body: string, head = '') =>
  read('text/html', `<!doctype html><html><head>${head}</head><body>${body}</body></html>`)

t.test(
  'its title, headings and paragraphs are there, and nothing that is not for reading',
  async (t) => {
    const found = await html(
      `<nav><a href="/">Home</a></nav>
     <h1>The <em>River</em></h1>
     <p>It flows
        through   meadows.</p><script>alert(1)</script>
     <div hidden>hidden</div><div aria-hidden="true">icon</div>
     <h2>Bridges</h2>Old ones.<p>New ones.</p>
     <footer>Imprint</footer>`,
      '<title>News &amp; more</title><style>p {}</style>',
    )
    t.equal(
      found.text,
      'The River\n\nIt flows through meadows.\n\nBridges\n\nOld ones.\n\nNew ones.',
    )
    t.equal(found.title, 'News & more')
    t.strictSame(headingsOf(found), ['1 The River', '2 Bridges'])
  },
)

t.test('what a style of its own hides is not for reading', async (t) => {
  const hidden = [
    'display:none',
    'color: red; DISPLAY : None ',
    'display: block; display: none !important; display: block;',
    'visibility:hidden',
    'visibility: collapse ! IMPORTANT',
    '/* a; b */ display/**/: none',
  ]
  const shown = [
    'display: block',
    'display: none; display: block',
    'visibility: hidden; visibility: visible !important',
    '--display: none',
    '/* display: none */',
    'content: none; display',
  ]
  const styled = (styles: readonly string[], text: string) =>
    styles.map((style, n) => `<p style="${style}">${text} ${n} <b>bold</b></p>`).join('')
  const { text } = await html(styled(hidden, 'Hidden') + styled(shown, 'Shown'))
  t.equal(text, shown.map((_, n) => `Shown ${n} bold`).join('\n\n'))
  const main = await html('<main style="display: none">No</main><main>Yes</main>')
  t.equal(main.text, 'Yes')
  const page = '<html style="visibility: hidden"><body style="display: none"><p>Shown later</p>'
  t.equal((await read('text/html', page)).text, 'Shown later')
})

t.test('a style is read in time by its length', async (t) => {
  const since = performance.now()
  const style = `display:${'/*'.repeat(200_000)};visibility:${'! '.repeat(200_000)}`
  t.equal((await html(`<p style="${style}">Text</p>`)).text, 'Text')
  t.ok(performance.now() - since < 5000)
})

t.test('the main part is all there is, where a page has one', async (t) => {
  const { text } = await html(
    '<div>Menu</div><main><h1>One</h1><p>Two</p></main><div>Adverts</div>',
  )
  t.equal(text, 'One\n\nTwo')
})

t.test('lists, tables, preformatted text and line breaks keep their lines', async (t) => {
  const list = '<ul><li>One</li><li><p>Two</p></li></ul><p>After</p>'
  t.equal((await html(list)).text, '- One\n- Two\n\nAfter')
  const table =
    '<table><tr><th>Name</th><th>Toll</th></tr><tr><td><p>Folly</p></td><td>1 d</td></tr></table>'
  t.equal((await html(table)).text, 'Name | Toll\nFolly | 1 d')
  t.equal((await html('<pre>\n  a\n    b\n</pre>')).text, '  a\n    b')
  t.equal((await html('<p>One<br>Two</p>')).text, 'One\nTwo')
})

t.test('blocks in preformatted text are lines of it', async (t) => {
  const code = '<div>const a = 1</div><div>  let b<br></div><div>\n</div><p>c</p>d'
  t.equal((await html(`<pre>${code}</pre>`)).text, 'const a = 1\n  let b\n\nc\nd')
  const mark = '<span role="doc-pagebreak" title="2"></span>'
  const marked = await html(`<pre>a\n${mark}<div>b</div>${mark}<p>c${mark}</p>d</pre>`)
  t.equal(marked.text, 'a\nb\nc\nd', 'also behind the mark of a page')
})

t.test('many blocks in one preformatted text take time by its length', async (t) => {
  const count = 50_000
  // By the square of it: minutes.
  const code = '<div>const a = 1</div>'.repeat(count)
  t.equal((await html(`<pre>${code}</pre>`)).text, 'const a = 1\n'.repeat(count).trim())
  const marks = '<div><b role="doc-pagebreak" title="2"></b></div>'.repeat(count)
  t.equal((await html(`<pre>a\n${marks}b</pre>`)).text, 'a\nb')
})

t.test('readings of ruby are not in the words that they are of', async (t) => {
  const word =
    '<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>を<ruby>読<rtc>よ</rtc></ruby>む'
  t.equal((await html(`<p>${word}</p>`)).text, '漢字を読む')
})

t.test('a table that puts a page together has its headings and paragraphs', async (t) => {
  const page = await html(
    '<table><tr><td>Menu</td><td>Before<h1>One</h1><p>First.</p><p>Second.</p><h2>Two</h2>Third.' +
      '<table><tr><th><h4>Name</h4></th><th>Toll</th></tr><tr><td>Folly</td><td>1 d</td></tr></table>' +
      '</td></tr></table>After',
  )
  t.equal(
    page.text,
    'Menu\n\nBefore\n\nOne\n\nFirst.\n\nSecond.\n\nTwo\n\nThird.\n\nName | Toll\nFolly | 1 d\n\nAfter',
  )
  t.strictSame(headingsOf(page), ['1 One', '2 Two'])
})

t.test('a table in the head of a column loses nothing', async (t) => {
  const inner = '<table><tr><td>Folly</td><td>1 d</td></tr></table>'
  const page = await html(
    `<table><tr><th>Bridges ${inner}</th></tr><tr><td>Osney</td></tr></table>`,
  )
  t.equal(page.text, 'Bridges\n\nFolly | 1 d\n\nOsney')
})

t.test('a footer of an article is a part of it, and so is one of a quotation', async (t) => {
  for (const name of ['article', 'section', 'blockquote', 'aside', 'figure', 'details']) {
    const body = `<${name}><p>Text</p><footer>By Ellen</footer></${name}>`
    t.equal((await html(`${body}<footer>Imprint</footer>`)).text, 'Text\n\nBy Ellen', name)
  }
  const row = (cell: string) => `<table><tr><td>${cell}<footer>By Ellen</footer></td></tr></table>`
  t.equal((await html(row('Text'))).text, 'Text By Ellen')
  t.equal((await html(row('<h1>Text</h1>'))).text, 'Text', 'a cell of a layout is the page')
})

t.test('a tree as deep as it is long is read', async (t) => {
  t.equal((await html(`${'<div>'.repeat(50_000)}deep`)).text, 'deep')
})

t.test('pages of a printed edition are said by a title, or by a short text', async (t) => {
  const mark = (more: string, text = '') => `<span role="doc-pagebreak"${more}>${text}</span>`
  const found = await html(
    `<p>One</p>${mark(' title="7"')}<p>Two</p>${mark('', 'Page <b>8</b>')}<p>Three</p>
     ${mark('', `9 ${'and more '.repeat(200)}`)}<p>Four</p>`,
  )
  t.strictSame(pagesOf(found), ['7 Two\n\nPage 8\n', '8 Page 8\n\nThre'])
})

t.test(
  'a page begins where its mark stands: inside of a paragraph with the next word',
  async (t) => {
    const mark = (page: number) => `<span epub:type="pagebreak" title="${page}"></span>`
    const page = async (body: string) => {
      const found = await html(`${mark(5)}${body}`)
      return [found.text, ...pagesOf(found)]
    }
    t.strictSame(await page(`<p>Alpha beta ${mark(6)} gamma</p>`), [
      'Alpha beta gamma',
      '5 Alpha beta g',
      '6 gamma',
    ])
    t.strictSame(
      await page(`<p>One${mark(6)} two, thr${mark(7)}ee, four</p>${mark(8)}<p>Five</p>`),
      [
        'One two, three, four\n\nFive',
        '5 One two, thr',
        '6 two, three, ',
        '7 four\n\nFive',
        '8 Five',
      ],
    )
    t.strictSame(await page(`<p>漢${mark(6)}字</p><p>A<br>${mark(7)}B</p>`), [
      '漢字\n\nA\nB',
      '5 漢字\n\nA\nB',
      '6 字\n\nA\nB',
      '7 B',
    ])
    t.strictSame(await page(`<ul><li>${mark(6)} One</li><li>Tw${mark(7)}o</li></ul><p>End</p>`), [
      '- One\n- Two\n\nEnd',
      '6 - One\n- Two\n',
      '7 End',
    ])
    t.strictSame(await page(`<h1>One ${mark(6)} Two</h1><p>Three</p>`), [
      'One Two\n\nThree',
      '5 One Two\n\nThr',
      '6 Three',
    ])
    const row = `<tr><td>A</td><td>${mark(6)}B</td></tr><tr><td>${mark(7)}</td><td></td></tr>`
    t.strictSame(await page(`<table>${row}</table><p>C</p>`), [
      'A | B\n\nC',
      '5 A | B\n\nC',
      '6 B\n\nC',
      '7 C',
    ])
    t.strictSame(await page(`<pre>a\n${mark(6)}  b\n</pre>`), ['a\n  b', '5 a\n  b', '6 b'])
    t.strictSame(await page(`${mark(6)}<p>&#xD800;</p>`), ['\uFFFD', '6 \uFFFD'])
  },
)

t.test('of more pages than a book has none are kept', async (t) => {
  const of = (count: number) =>
    html(
      Array.from({ length: count }, (_, n) => {
        return `<span role="doc-pagebreak" title="${n + 1}"></span><p>${n}</p>`
      }).join(''),
    )
  const book = await of(10_000)
  t.equal(book.pages?.length, 10_000)
  const other = await of(10_001)
  t.strictSame(other.pages, [])
  t.ok(other.text.endsWith('10000'))
})

t.test('page breaks in each other are looked into once, and not all the way down', async (t) => {
  const since = performance.now()
  const breaks = '<div role="doc-pagebreak">'.repeat(20_000)
  t.equal((await html(`${breaks}deep`)).text, 'deep')
  t.ok(performance.now() - since < 5000)
})

t.test('one without a text is refused', async (t) => {
  await t.rejects(html('<nav>Home</nav>'), because('empty'))
})
