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

t.test('a package may name its elements with a prefix, and its parts may be UTF-16', async (t) => {
  const chapter = '<html><body><h1>Loomings</h1><p>Call me “Ishmael”.</p></body></html>'
  const little = Buffer.from(`\uFEFF${chapter}`, 'utf16le')
  for (const bytes of [little, Buffer.from(little).swap16()]) {
    const file = epub('x', [''], {
      'META-INF/container.xml':
        '<c:container xmlns:c="urn:oasis:names:tc:opendocument:xmlns:container"><c:rootfiles><c:rootfile full-path="OEBPS/book.opf"/></c:rootfiles></c:container>',
      'OEBPS/book.opf':
        '<opf:package xmlns:opf="http://www.idpf.org/2007/opf"><opf:metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Moby Dick</dc:title></opf:metadata><opf:manifest><opf:item id="c0" href="text/c0.xhtml" media-type="application/xhtml+xml"/></opf:manifest><opf:spine><opf:itemref idref="c0"/></opf:spine></opf:package>',
      'OEBPS/text/c0.xhtml': bytes,
    })
    const { text, title } = await read(book, file)
    t.equal(text, 'Loomings\n\nCall me “Ishmael”.')
    t.equal(title, 'Moby Dick')
  }
})

t.test('a DOCX whose main part has another name is read', async (t) => {
  const members = docx([{ text: 'The engine is red.' }], {
    more: {
      '_rels/.rels':
        '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document2.xml"/></Relationships>',
      'word/document2.xml':
        '<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>The engine is blue.</w:t></w:r></w:p></w:body></w:document>',
    },
  })
  t.equal((await read(word, members)).text, 'The engine is blue.')
})

t.test('marks of text that nothing ends take time by their number', async (t) => {
  const open = '<![CDATA['
  const two = `<p>${open}1 < 2]]> and ${open}3 < 4]]></p><p>End ${open}`
  t.match((await read(book, epub('x', [two]))).text, /^1 < 2 and 3 < 4\n\nEnd/)
  // By the square of it: more than half an hour.
  const { text } = await read(book, epub('x', [`<p>One</p>${open.repeat(1e6)}`]))
  t.match(text, /^One/)
})

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
  const notes = Buffer.from(`<notes>${' '.repeat(17 * mb)}</notes>`)
  // A quarter of the memory is for what is read out of an archive.
  const bomb = docx([{ text: 'x' }], { more: { 'word/footnotes.xml': notes } })
  await t.rejects(read(word, bomb, { maxFileMemoryMb: 64 }), because('memory'))
  t.ok(await read(word, bomb, { maxFileMemoryMb: 72 }))
  const pictures = docx([{ text: 'x' }], { more: { 'word/media/x.bin': Buffer.alloc(65 * mb) } })
  t.ok(await read(word, pictures, { maxFileMemoryMb: 64 }), 'pictures are not taken out of it')
  const many = Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => [`OEBPS/text/c${n}.xhtml`, Buffer.alloc(4 * mb, ' ')]),
  )
  const long = epub('x', ['', '', '', '', ''], many)
  await t.rejects(read(book, long, { maxFileMemoryMb: 64 }), because('memory'))
})

t.test(
  'of an archive with two directories, the members that count are the ones that are read',
  async (t) => {
    const { text } = await read(
      word,
      twoDirectories(docx([{ text: 'counted' }]), docx([{ text: 'other' }])),
    )
    t.equal(text, 'counted')
  },
)

/**
 * The end says where the directory of the first archive begins, and how long that of the second is. Who
 * counts from the beginning finds the first; who counts back from the end, as JSZip does, the second.
 */
function twoDirectories(first: Buffer, second: Buffer): Buffer {
  const [one, other] = [first, second].map((archive) => {
    const end = archive.subarray(-22)
    const at = end.readUInt32LE(16)
    return {
      members: archive.subarray(0, at),
      directory: Buffer.from(archive.subarray(at, -22)),
      end,
    }
  }) as [Parts, Parts]
  const gap = Buffer.alloc(one.directory.length)
  for (let at = 0; at < other.directory.length;) {
    const moved = other.directory.readUInt32LE(at + 42) + one.members.length
    other.directory.writeUInt32LE(moved, at + 42)
    at += 46 + other.directory.readUInt16LE(at + 28)
  }
  const end = Buffer.from(other.end)
  end.writeUInt32LE(one.members.length + gap.length + other.members.length, 16)
  return Buffer.concat([one.members, gap, other.members, one.directory, other.directory, end])
}

interface Parts {
  readonly members: Buffer
  readonly directory: Buffer
  readonly end: Buffer
}
