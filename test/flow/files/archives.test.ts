import t from 'tap'
import { docx, epub, zip } from './made-files.js'
import { because, headingsOf, pagesOf, read } from './reading.js'

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const book = 'application/epub+zip'
const mb = 1024 ** 2

t.test('DOCX has its headings by its styles, and its title', async (t) => {
  const file = docx(
    [
      { text: 'Report', style: 'Title' },
      { text: 'Engines', style: 'heading 1' },
      { text: 'The engine is red.' },
      { text: 'Steam', style: 'heading 2' },
      { text: 'It is hot.' },
    ],
    { title: 'Yearly &amp; monthly' },
  )
  const found = await read(word, file)
  t.equal(found.text, 'Report\n\nEngines\n\nThe engine is red.\n\nSteam\n\nIt is hot.')
  t.strictSame(headingsOf(found), ['1 Report', '1 Engines', '2 Steam'])
  t.equal(found.title, 'Yearly & monthly')
})

t.test('EPUB has its chapters in their order, and the pages of its printed edition', async (t) => {
  const file = epub('Moby Dick', [
    '<h1>Loomings</h1><p>Call me Ishmael.</p>',
    '<span epub:type="pagebreak" title="12"/><h1>The Carpet-Bag</h1><p>I stuffed a shirt.</p><a id="x"/>More.',
  ])
  const found = await read(book, file)
  t.equal(
    found.text,
    'Loomings\n\nCall me Ishmael.\n\nThe Carpet-Bag\n\nI stuffed a shirt.\n\nMore.',
  )
  t.equal(found.title, 'Moby Dick')
  t.strictSame(headingsOf(found), ['1 Loomings', '1 The Carpet-Bag'])
  t.strictSame(pagesOf(found), ['12 The Carpet-B'])
})

t.test(
  'a chapter is XML: its line breaks are single ones, and what is marked as text is',
  async (t) => {
    const chapter =
      '<p>One<br/>Two<br></br>Three<br />Four</p><p><![CDATA[a < b & c]]></p><script/><p>End</p>'
    const { text } = await read(book, epub('x', [chapter]))
    t.equal(text, 'One\nTwo\nThree\nFour\n\na < b & c\n\nEnd')
  },
)

t.test('what is encrypted says so', async (t) => {
  const quoted = "<encryption><CipherReference URI='OEBPS/text/%630.xhtml'/></encryption>"
  const other = epub('x', ['<p>x</p>'], { 'META-INF/encryption.xml': quoted })
  await t.rejects(read(book, other), because('encrypted'))
  const key = '<encryption><CipherReference URI="OEBPS/text/c0.xhtml"/></encryption>'
  const locked = epub('x', ['<p>x</p>'], { 'META-INF/encryption.xml': key })
  await t.rejects(read(book, locked), because('encrypted'))
  await t.rejects(read(word, zip({ 'word/document.xml': 'x' }, { flags: 1 })), because('encrypted'))
})

t.test('what is damaged says what', async (t) => {
  const file = epub('x', ['<p>x</p>'])
  await t.rejects(read(book, file.subarray(0, file.length - 30)), because('damaged'))
  await t.rejects(read(book, zip({ mimetype: book })), /container\.xml' is missing/)
  const broken = Buffer.from(file)
  broken.fill(
    0xff,
    broken.indexOf('OEBPS/text/c0.xhtml') + 19,
    broken.indexOf('OEBPS/text/c0.xhtml') + 60,
  )
  await t.rejects(read(book, broken), because('damaged'))
  await t.rejects(read(word, zip({ 'word/document.xml': '<w:document' })))
})

t.test('an archive that becomes too large is not taken apart', async (t) => {
  const zeros = Buffer.alloc(17 * mb)
  // A quarter of the memory is for what comes out of an archive.
  const bomb = docx([{ text: 'x' }], { more: { 'word/media/x.bin': zeros } })
  await t.rejects(read(word, bomb, { maxFileMemoryMb: 64 }), because('memory'))
  t.ok(await read(word, bomb, { maxFileMemoryMb: 72 }))
  const many = Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => [`OEBPS/text/c${n}.xhtml`, Buffer.alloc(4 * mb, ' ')]),
  )
  const long = epub('x', ['', '', '', '', ''], many)
  await t.rejects(read(book, long, { maxFileMemoryMb: 64 }), because('memory'))
})
