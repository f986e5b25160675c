import t from 'tap'
import { fileKind, type FileHints } from '../../../src/flow/files/file-kind.js'
import { column, docx, epub, pdf, zip } from './made-files.js'

/** In one line: a type, `text` and a charset, or what it looks like. */
function kindOf(file: string | Uint8Array, hints: FileHints = {}): string {
  const kind = fileKind(Buffer.from(file as string), hints)
  if (kind.kind === 'file') return kind.type
  if (kind.kind === 'foreign') return kind.found
  return `${kind.type ?? 'text'} ${kind.charset}`
}
const hex = (bytes: string) => Buffer.from(bytes.replaceAll(' ', ''), 'hex')

t.test('the type is seen from the bytes, whatever somebody says', async (t) => {
  const paper = pdf([column(72, 700, ['x'])])
  t.equal(kindOf(paper, { name: 'notes.txt', type: 'text/plain' }), 'application/pdf')
  t.equal(kindOf(Buffer.concat([hex('ef bb bf 0a'), paper])), 'application/pdf')
  t.match(kindOf(docx([{ text: 'x' }])), /wordprocessingml\.document$/)
  t.match(kindOf(zip({ 'word/document2.xml': '' })), /wordprocessingml\.document$/)
  t.equal(kindOf(epub('x', [])), 'application/epub+zip')
  t.equal(kindOf('OTTO von Bismarck'), 'text utf-8')
  t.equal(kindOf('ID3 is what says the titles of songs'), 'text utf-8')
  t.equal(kindOf('How a file begins: %PDF-1.7'), 'text utf-8')
})

t.test('what nothing is read of is named', async (t) => {
  const executable = Buffer.alloc(200)
  executable.write('MZ', 0)
  executable.writeUInt32LE(128, 60)
  executable.write('PE\0\0', 128)
  const files: readonly (readonly [string | Uint8Array, string])[] = [
    [zip({ a: 'b' }), 'a ZIP archive'],
    [zip({}), 'a ZIP archive'],
    [zip({ a: 'b' }).subarray(0, 40), 'a damaged ZIP archive'],
    [zip({ 'xl/workbook.xml': '' }), 'a spreadsheet (XLSX)'],
    [zip({ 'ppt/presentation.xml': '' }), 'a presentation (PPTX)'],
    [zip({ mimetype: 'application/vnd.oasis.opendocument.text' }), 'an OpenDocument text (ODT)'],
    [zip({ 'META-INF/MANIFEST.MF': '' }), 'a Java archive'],
    [hex('7f454c46 02010100'), 'an executable (ELF)'],
    [hex('cffaedfe 07000001'), 'an executable (Mach-O)'],
    [executable, 'an executable (Windows)'],
    [hex('1f8b0800'), 'a gzip file'],
    [hex('89504e470d0a1a0a'), 'a PNG image'],
    [hex('ffd8ffe0'), 'a JPEG image'],
    ['SQLite format 3\0', 'an SQLite database'],
    ['{\\rtf1 hello}', 'an RTF document'],
    ['ID3\x03\0\0', 'an MP3 file'],
    ['RIFF\x24\x08\0\0WAVEfmt ', 'a WAV file'],
    [hex('d0cf11e0a1b11ae1'), 'a file of an older Office program (DOC, XLS, PPT or MSG)'],
    [hex('01 02 03 04 00 ff'), 'binary data of an unknown type'],
    ['plain', 'a text, and not the PDF that it is said to be'],
  ]
  for (const [file, found] of files) {
    const type = found.includes('said to be') ? 'application/pdf' : undefined
    t.equal(kindOf(file, { type, name: 'a.txt' }), found)
  }
})

t.test('texts are told apart by their type, their name, and what they are', async (t) => {
  t.equal(kindOf('# One', { name: 'a.md' }), 'text/markdown utf-8')
  t.equal(kindOf('# One', { name: 'a.md', type: 'text/plain; charset=utf-8' }), 'text utf-8')
  t.equal(
    kindOf('# One', { type: 'application/octet-stream', name: 'A.MD' }),
    'text/markdown utf-8',
  )
  t.equal(kindOf('# One'), 'text utf-8')
  t.equal(kindOf('a b', { name: 'x.constructor', type: 'constructor' }), 'text utf-8')
  for (const html of [
    '<!DOCTYPE html>x',
    '\ufeff\n<html lang="de">',
    '<?xml version="1.0"?>\n<!-- x -->\n<html xmlns="x">',
  ])
    t.equal(kindOf(html), 'text/html utf-8', html)
  t.equal(kindOf('<article/>'), 'text utf-8')
  t.equal(kindOf(`${'<!--a-->'.repeat(400)}x`), 'text utf-8', 'in little time')
  t.equal(kindOf('{"a": [1]}'), 'application/json utf-8')
  t.equal(kindOf('[1, 2]'), 'application/json utf-8')
  t.equal(kindOf('[1] A note'), 'text utf-8')
  t.equal(kindOf('name,toll,old\nFolly,1,yes\nOsney,2,no\n'), 'text/csv utf-8')
  t.equal(
    kindOf('name\ttoll\told\nFolly\t1\tyes\nOsney\t2\tno\n'),
    'text/tab-separated-values utf-8',
  )
  const lines = '{"a":1,"b":2,"c":3}\n{"a":4,"b":5,"c":6}\n{"a":7,"b":8,"c":9}\n'
  t.equal(kindOf(lines), 'text utf-8', 'objects on lines are no table')
  t.equal(kindOf(`[1,2,3]\r\n[4,5,6]\r\n[7,8,9]`), 'text utf-8', 'nor are lists')
  t.equal(kindOf('[a],[b],[c]\n1,2,3\n4,5,6\n'), 'text/csv utf-8')
  t.equal(kindOf('Well, yes, no\nand so on\nand so, on, and on\n'), 'text utf-8')
})

t.test('a name of a plain text says more than what it looks like', async (t) => {
  const table = 'name,toll,old\nFolly,1,yes\nOsney,2,no\n'
  for (const text of ['{"a": [1]}', table, '<!DOCTYPE html>x']) {
    for (const name of ['a.txt', 'A.TEXT', 'a.log']) t.equal(kindOf(text, { name }), 'text utf-8')
  }
  t.equal(kindOf('{"a": 1}', { name: 'a.txt', type: 'application/json' }), 'application/json utf-8')
})

t.test('a long text is JSON where it begins and ends so', async (t) => {
  const mebibyte = 1024 ** 2
  const filler = (text: string) => text.repeat(Math.ceil(mebibyte / text.length))
  const long: readonly (readonly [string, string])[] = [
    ['text', `[Illustration]\n\nCHAPTER I\n\n${filler('It is a truth. ')}[THE END]`],
    ['text', filler('[2026-11-28 10:00:00] GET / 200\n')],
    ['text', filler('[1] A note\n')],
    ['text', `["A", "B"]\n${filler('It is a truth. ')}[1]`],
    ['text', `[1]${filler(' ')}x]`],
    ['text', filler('{"level":"warn"}\nError: none\n')],
    ['text', `[${filler('"é", ')}`],
    ['text', `{"a": [${filler('1, ')}1]`],
    ['application/json', `\n[${filler('"é", -1.5e+3, true, ')}1]\r\n`],
    ['application/json', `{"a": "${filler('\\"é')}"}`],
    ['application/json', `${'['.repeat(mebibyte)}${']'.repeat(mebibyte)}`],
  ]
  for (const [kind, text] of long) t.equal(kindOf(text), `${kind} utf-8`, text.slice(0, 30))
  for (let cut = 0; cut < 16; cut++) {
    const list = `[${' '.repeat(cut)}${filler('false, -1.5e+3, ')}1]`
    t.equal(kindOf(list), 'application/json utf-8', 'wherever its beginning is cut')
  }
  t.equal(kindOf('[1, 2] [3]'), 'text utf-8')
  t.equal(kindOf('[1, 2'), 'text utf-8')
  t.equal(kindOf('[fals'), 'text utf-8')
})

t.test('a byte order mark counts more than what somebody says', async (t) => {
  const marked = [
    ['utf-16le', hex('fffe 4100 4200')],
    ['utf-16be', hex('feff 0041 0042')],
    ['utf-8', '\ufeffGrüße'],
  ] as const
  for (const [found, text] of marked) {
    for (const said of ['iso-8859-1', 'utf-8', 'utf-16be']) {
      t.equal(kindOf(text, { type: `text/plain; charset=${said}` }), `text ${found}`)
      t.equal(kindOf(text, { charset: said }), `text ${found}`)
    }
    for (const said of ['cp437', 'utf-7', 'binary']) {
      t.equal(kindOf(text, { type: `text/plain; charset=${said}` }), `text ${found}`)
    }
  }
  t.equal(kindOf('\ufeffa', { charset: 'cp437' }), 'text cp437', 'but for what is refused')
})

t.test('a text in UTF-32 is none in UTF-16, whatever somebody says', async (t) => {
  for (const text of [hex('fffe0000 61000000 62000000'), hex('0000feff 00000061 00000062')]) {
    t.equal(kindOf(text), 'a text in UTF-32')
    for (const said of ['utf-32', 'utf-16', 'utf-8', 'binary']) {
      t.equal(kindOf(text, { type: `text/plain; charset=${said}` }), 'a text in UTF-32', said)
      t.equal(kindOf(text, { charset: said }), 'a text in UTF-32', said)
    }
  }
})

t.test('a type whose charset is none says nothing of it', async (t) => {
  const german = Buffer.from('Gr\xfc\xdfe', 'latin1')
  for (const label of ['binary', '"Unknown-8bit"', 'x-unknown', 'UNKNOWN', '8bit', 'none']) {
    for (const type of ['text/plain', 'text/markdown; x=y', 'application/json']) {
      const said = `${type}; charset=${label}`
      t.match(kindOf(german, { type: said }), / windows-1252$/, said)
      t.match(kindOf('Grüße', { type: said }), / utf-8$/, said)
    }
  }
  for (const label of ['utf-7', 'cp437', 'iso-2022-kr', 'x-user-defined', 'unknown-9bit']) {
    t.equal(kindOf(german, { type: `text/plain; charset=${label}` }), `text ${label}`)
  }
  t.equal(kindOf(german, { charset: 'binary' }), 'text binary', 'of what somebody says himself')
})

t.test('the charset of a text is found, unless it is known', async (t) => {
  const german = Buffer.from('Gr\xfc\xdfe aus K\xf6ln', 'latin1')
  t.equal(kindOf('Grüße aus Köln'), 'text utf-8')
  t.equal(kindOf(german), 'text windows-1252')
  t.equal(kindOf(german, { charset: 'iso-8859-2' }), 'text iso-8859-2')
  const type = 'text/plain; format=flowed; Charset="iso-8859-2"'
  t.equal(kindOf(german, { type }), 'text iso-8859-2')
  t.equal(kindOf(german, { type, charset: 'latin1' }), 'text latin1')
  t.equal(kindOf(german, { type: 'application/xhtml+xml;charset=koi8-r' }), 'text/html koi8-r')
  t.equal(kindOf(german, { type: 'text/x-log; charset=koi8-r' }), 'text koi8-r')
  for (const other of ['application/octet-stream; charset=binary', 'text/plain; xcharset=koi8-r']) {
    t.equal(kindOf(german, { type: other }), 'text windows-1252')
  }
  t.equal(kindOf(hex('4100 4200'), { type: 'text/plain; charset=utf-16le' }), 'text utf-16le')
  t.equal(kindOf(hex('fffe 4100')), 'text utf-16le')
  t.equal(kindOf(hex('feff 0041')), 'text utf-16be')
  t.equal(kindOf(hex('4100 4200'), { charset: 'utf-16le' }), 'text utf-16le')
  t.equal(kindOf(hex('4100 4200'), { charset: 'latin1' }), 'binary data of an unknown type')
  const page = Buffer.from('<html><meta charset="iso-8859-2"><p>\xb1', 'latin1')
  t.equal(kindOf(page), 'text/html iso-8859-2')
  const lies = Buffer.from('<html><meta charset="utf-8"><p>\xb1', 'latin1')
  t.equal(kindOf(lies), 'text/html windows-1252')
  for (const label of ['unicode', 'utf-16', 'utf-7', 'nonsense', 'hz-gb-2312']) {
    const none = Buffer.from(`<html><meta charset="${label}"><p>\xb1`, 'latin1')
    t.equal(kindOf(none), 'text/html windows-1252', label)
  }
  const japanese = '<html><meta charset="ISO-2022-JP"><p>\x1b$B$3$s\x1b(B'
  t.equal(kindOf(japanese), 'text/html iso-2022-jp')
  t.equal(kindOf(japanese.replace(/\x1b../g, '')), 'text/html utf-8', 'without escapes')
  const xhtml = (more: string) =>
    Buffer.from(`<?xml version="1.0" encoding='windows-1251'?>\n<html>${more}<p>\xcc`, 'latin1')
  t.equal(kindOf(xhtml('')), 'text/html windows-1251')
  t.equal(kindOf(xhtml('<meta charset="koi8-r">')), 'text/html koi8-r')
  t.equal(kindOf(xhtml('<meta charset="utf-8">')), 'text/html windows-1251')
  t.equal(kindOf(''), 'text utf-8')
})
