import t from 'tap'
import { maxFieldBytes, readForm } from '../../src/http/form.js'
import { longest } from '../../src/turns.js'
import { countTurns } from '../fixtures/turns.js'

const options = { known: ['id', 'title'], maxFileBytes: 100 }
const type = 'multipart/form-data; boundary=x'
const part = (head: string, content = '1') =>
  `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
const file = part('name="f"; filename="a.txt"\r\nContent-Type: text/plain', 'text')
const read = (body: string, header = type) => readForm(Buffer.from(body, 'utf8'), header, options)

t.test('forms of fetch are read', async (t) => {
  const form = new FormData()
  form.append('id', 'ö "quoted"\r\nline')
  form.append('file', new Blob(['a\r\n--b'], { type: 'text/x' }), 'a "b" ö.txt')
  const sent = new Response(form)
  const header = sent.headers.get('content-type') ?? ''
  const found = await readForm(Buffer.from(await sent.arrayBuffer()), header, options)
  t.strictSame([...found.fields], [['id', 'ö "quoted"\r\nline']])
  t.match(found.file, { name: 'a "b" ö.txt', type: 'text/x' })
  t.equal(Buffer.from(found.file.bytes).toString(), 'a\r\n--b')
})

t.test('those of others are, too', async (t) => {
  const end = '--x--'
  t.equal((await read(`${file}${end}`)).file.name, 'a.txt')
  t.equal((await read(`preamble\r\n${file}${end}\r\nepilogue`)).file.name, 'a.txt')
  t.equal(
    (await read(`${part('name="f"; filename="a\\"b"')}${end}`)).file.name,
    'a"b',
    'as curl has it',
  )
  t.equal((await read(`${part('name="f"; filename=""', '')}${end}`)).file.bytes.byteLength, 0)
  t.equal(
    (await read(`${file}${end}`, 'Multipart/Form-Data;charset=utf-8; boundary="x"')).file.type,
    'text/plain',
  )
  const bare = await read(
    `${part("name=f; filename=a.pdf; filename*=utf-8''b.pdf")}${part('name=id')}${end}`,
  )
  t.strictSame([bare.file.name, ...bare.fields], ['a.pdf', ['id', '1']], 'as .NET has it')
  const odd = await read(`${file}${part('x="; filename=y; name=z"; NAME="id"')}${end}`)
  t.strictSame([odd.file.name, ...odd.fields], ['a.txt', ['id', '1']], 'a value is no parameter')
  const inside = await read(`${part('name="f"; filename="a"', 'a\r\n--xy\r\n--xz')}${end}`)
  t.equal(
    Buffer.from(inside.file.bytes).toString(),
    'a\r\n--xy\r\n--xz',
    'a longer line is content',
  )
  t.strictSame(
    [...(await read(`--x \t\r\n${file.slice(5)}${part('name="id"')}${end}`)).fields],
    [['id', '1']],
  )
})

t.test('lines that begin as the boundary are content, and not without end', async (t) => {
  const ended = (count: number) =>
    read(`${part('name="f"; filename="a"', '\r\n--xy'.repeat(count))}--x--`)
  options.maxFileBytes = 10_000
  t.equal((await ended(1000)).file.bytes.byteLength, 6000)
  await t.rejects(ended(1001), { code: 'LK_HTTP_REQUEST', message: /begin as its boundary/ })
  options.maxFileBytes = 100
})

t.test('what is no form says why', async (t) => {
  const code = 'LK_HTTP_REQUEST'
  for (const [body, header, message] of [
    [file, type, /may have been cut/],
    ['', type, /may have been cut/],
    [`${file}--x--`, 'multipart/form-data', /no boundary/],
    [`--x\r\n\r\n\r\n--x--`, type, /part 1/],
    [`${part('filename="a"')}--x--`, type, /part 1 has no name/],
    [`--x\r\n${'A: b\r\n'.repeat(5000)}`, type, /head of part 1 does not end/],
    [`${part('name="id"').repeat(33)}--x--`, type, /more than 32 parts/],
    [`${file}${file}--x--`, type, /one, not 2/],
    [`${part('name="id"')}--x--`, type, /one, not 0/],
    [`${file}${part('name="id"').repeat(2)}--x--`, type, /given twice/],
    [`${file}${part('name="usr"')}--x--`, type, /usr/],
  ] as const) {
    await t.rejects(read(body, header), { code, message } as never, `${message}`)
  }
  const latin = Buffer.from(`${file}${part('name="id"', '\xfc')}--x--`, 'latin1')
  await t.rejects(readForm(latin, type, options), { code, message: /not UTF-8/ } as never)
  // Two names would be one.
  const named = Buffer.from(`${part('name="f"; filename="\xe9.txt"')}--x--`, 'latin1')
  const told = { code, message: /head of part 1 is not UTF-8/ }
  await t.rejects(readForm(named, type, options), told as never)
})

t.test('files and fields have their limits', async (t) => {
  const code = 'LK_HTTP_TOO_LARGE'
  const sized = (size: number) => part('name="f"; filename="a"', 'x'.repeat(size))
  t.equal((await read(`${sized(100)}--x--`)).file.bytes.byteLength, 100)
  await t.rejects(read(`${sized(101)}--x--`), { code } as never)
  const titled = (size: number) => `${file}${part('name="title"', 'x'.repeat(size))}--x--`
  t.ok(await read(titled(maxFieldBytes)))
  await t.rejects(read(titled(maxFieldBytes + 1)), { code } as never)
})

t.test('a long search for a boundary lets others have their turns', async (t) => {
  const before = longest.ms
  longest.ms = -1
  t.teardown(() => (longest.ms = before))
  const turnsSince = countTurns()
  const ends = '\r\n'.repeat(4 * 1024 ** 2)
  await t.rejects(read(ends), { code: 'LK_HTTP_REQUEST', message: /may have been cut/ })
  const turns = turnsSince()
  t.ok(turns >= 8, `${turns}`)
  // Where a step ends in the midst of it.
  options.maxFileBytes = 2 * 1024 ** 2
  const head = part('name="f"; filename="a"', '').length - 2
  for (const length of [-4, -3, -2, -1, 0, 1].map((by) => 1024 ** 2 - head + by)) {
    const { file } = await read(`${part('name="f"; filename="a"', 'x'.repeat(length))}--x--`)
    t.equal(file.bytes.byteLength, length)
  }
  options.maxFileBytes = 100
})
