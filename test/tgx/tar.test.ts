import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { hasCode } from '../../src/errors.js'
import { readTar } from '../../src/tgx/tar.js'
import { block, chunksOf, file, pax, tar } from './archives.js'
import { byPython, byTar, longId } from './real-archives.js'

interface Read {
  readonly name: string
  readonly type: string
  readonly text: string
}

async function read(bytes: Uint8Array, size = 4096, maxMembers = 1000): Promise<Read[]> {
  const members: Read[] = []
  for await (const { name, type, content } of readTar(copies(bytes, size), { maxMembers })) {
    const chunks: Uint8Array[] = []
    for await (const chunk of content) chunks.push(chunk)
    members.push({ name, type, text: Buffer.concat(chunks).toString() })
  }
  return members
}

async function* copies(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(bytes, size)) yield Uint8Array.from(chunk)
}

const long = `knowledge/${'long/'.repeat(60)}name`

t.test('members of archives by Python and by GNU tar', async (t) => {
  const python = await read(gunzipSync(byPython))
  t.equal(python.length, 22)
  t.equal(python.at(-1)?.name, 'manifest.json')
  t.match(JSON.parse(python.at(-1)?.text ?? ''), { format: 'tgx', workspace: 'source-ws' })
  const name = `knowledge/library/${encodeURIComponent(longId)}.content`
  t.equal(
    python.find((member) => member.name === name)?.text,
    '# A title\n\nThe Guest is a visitor.',
  )

  const gnu = await read(gunzipSync(byTar))
  t.same(new Set(gnu.map(({ type }) => type)), new Set(['directory', 'file']))
  const texts = (members: readonly Read[]) =>
    new Map(members.map(({ name, text }) => [name.replace(/^\.\//, ''), text]))
  const files = texts(gnu.filter(({ type }) => type === 'file'))
  t.same([...files].sort(), [...texts(python)].sort())
})

t.test('names and sizes in every way that there is', async (t) => {
  const binary = Buffer.alloc(12)
  binary[0] = 0x80
  binary[11] = 2
  const members = await read(
    tar([
      file('short', 'a'),
      { name: 'x'.repeat(100), content: 'b' },
      { name: 'end', prefix: 'p'.repeat(155), content: 'c' },
      { name: 'gnu', prefix: 'no prefix', magic: 'ustar  \0', content: 'd' },
      { name: 'old', magic: '', type: '\0', content: 'e' },
      { name: 'old/', magic: '', type: '\0' },
      pax({ path: long, mtime: '1.5', comment: 'a=b\nc' }),
      { name: 'cut', content: 'f' },
      { name: '././@LongLink', type: 'K', content: 'a link' },
      { name: '././@LongLink', type: 'L', content: `${long}é\0` },
      { name: 'cut', content: 'g' },
      { name: 'binary', content: 'hi', size: binary },
      { name: 'blanks', content: 'jk', size: '         2 \0' },
      pax({ size: '3' }),
      { name: 'sized', content: 'lmn', size: '00000000000\0' },
      { name: 'contiguous', content: 'o', type: '7' },
      { name: 'Ā', content: 'p', isSigned: true },
    ]),
  )
  t.strictSame(
    members.map(({ name, type, text }) => [name, type, text]),
    [
      ['short', 'file', 'a'],
      ['x'.repeat(100), 'file', 'b'],
      [`${'p'.repeat(155)}/end`, 'file', 'c'],
      ['gnu', 'file', 'd'],
      ['old', 'file', 'e'],
      ['old/', 'directory', ''],
      [long, 'file', 'f'],
      [`${long}é`, 'file', 'g'],
      ['binary', 'file', 'hi'],
      ['blanks', 'file', 'jk'],
      ['sized', 'file', 'lmn'],
      ['contiguous', 'file', 'o'],
      ['Ā', 'file', 'p'],
    ],
  )
})

t.test('what a global header says holds until it is said otherwise', async (t) => {
  const members = await read(
    tar([
      pax({ path: 'all', size: '1' }, 'g'),
      file('a', 'x'),
      pax({ path: 'one' }),
      file('b', 'y'),
    ]),
  )
  t.strictSame(
    members.map(({ name, text }) => [name, text]),
    [
      ['all', 'x'],
      ['one', 'y'],
    ],
  )
})

t.test('links and devices have no content, what is not known has', async (t) => {
  const members = await read(
    tar([
      { name: 'link', type: '2', size: '00000000777\0' },
      { name: 'hard', type: '1', size: '00000000777\0' },
      { name: 'volume', type: 'V' },
      { name: 'vendor', type: 'Z', content: 'what?' },
      { name: 'directory', type: '5', size: '00000000777\0' },
      file('behind', 'z'),
    ]),
  )
  t.strictSame(
    members.map(({ name, type, text }) => [name, type, text]),
    [
      ['link', 'other', ''],
      ['hard', 'other', ''],
      ['volume', 'other', ''],
      ['vendor', 'other', 'what?'],
      ['directory', 'directory', ''],
      ['behind', 'file', 'z'],
    ],
  )
})

t.test('content that nobody reads, or not to its end, is passed over', async (t) => {
  const bytes = tar([file('a', 'x'.repeat(5000)), file('b', 'y'.repeat(5000)), file('c', 'z')])
  const names: string[] = []
  for await (const { name, content } of readTar(copies(bytes, 1000), { maxMembers: 3 })) {
    names.push(name)
    if (name !== 'b') continue
    for await (const _chunk of content) break
  }
  t.strictSame(names, ['a', 'b', 'c'])
})

t.test('the chunks make no difference', async (t) => {
  const bytes = tar([pax({ path: long }), file('a', 'x'.repeat(700)), file('b'), file('c', 'z')])
  const whole = await read(bytes)
  for (const size of [1, 7, 511, 512, 513]) t.strictSame(await read(bytes, size), whole)
})

t.test('an archive that is cut anywhere is refused', async (t) => {
  const bytes = tar([pax({ path: long }), file('a', 'x'.repeat(700)), file('b', 'y')])
  const marked = bytes.length - 1024 + 512
  for (let end = 0; end < marked; end += end % 512 > 1 ? 101 : 1) {
    const code = end < 512 ? 'LK_WORKSPACE_FORMAT' : 'LK_WORKSPACE_DAMAGED'
    await t.rejects(read(bytes.subarray(0, end)), { code }, String(end))
  }
  t.equal((await read(bytes.subarray(0, marked))).length, 2)
  await t.rejects(read(bytes.subarray(0, 512 * 4 + 100)), {
    code: 'LK_WORKSPACE_DAMAGED',
    details: { member: long, byteOffset: 512 * 4 + 100 },
  })
})

t.test('what is no archive, or is not what was written, is told with its place', async (t) => {
  const refused = (code: string, byteOffset: number | undefined, bytes: Uint8Array) =>
    t.rejects(read(bytes), byteOffset === undefined ? { code } : { code, details: { byteOffset } })
  const first = block(file('a', 'x'))
  const behind = (...members: Parameters<typeof tar>[0]) => Buffer.concat([first, tar(members)])
  await refused('LK_WORKSPACE_FORMAT', undefined, Buffer.from('{}'.repeat(600)))
  await refused('LK_WORKSPACE_DAMAGED', 1024, behind({ name: 'b', isSumWrong: true }))
  await refused('LK_WORKSPACE_DAMAGED', 1024, behind({ name: 'b', size: '12345678\x0099' }))
  for (const size of ['-0000000001\0', '0000000000x\0', Buffer.alloc(12, 0xff)]) {
    await refused('LK_WORKSPACE_DAMAGED', 1024, behind({ name: 'b', size }))
  }
  const huge = Buffer.alloc(12, 0x7f)
  huge[0] = 0x80
  await refused('LK_WORKSPACE_DAMAGED', 1024, behind({ name: 'b', size: huge }))
  for (const content of [
    'nothing',
    '5 a=',
    '5 a=b\n',
    '9999999 a=b\n',
    '7 a=b c',
    '5 ab\n',
    '0 a=\n',
  ]) {
    const header = { name: 'PaxHeader', type: 'x', content }
    await refused('LK_WORKSPACE_DAMAGED', 1024, behind(header, file('b')))
  }
  for (const size of ['-1', '1e3', '99999999999999999999']) {
    await refused('LK_WORKSPACE_DAMAGED', 1024, behind(pax({ size }), file('b')))
  }
  await refused('LK_WORKSPACE_FORMAT', undefined, behind({ name: 'b', type: 'S' }))
  await refused('LK_WORKSPACE_FORMAT', 1024, behind(pax({ 'GNU.sparse.major': '1' }), file('b')))
  const end = Buffer.alloc(2048)
  end[1500] = 1
  await refused('LK_WORKSPACE_FORMAT', 1536, tar([file('a', 'x')], end))
})

t.test('members and headers are bounded', async (t) => {
  const three = tar([file('a'), pax({ path: 'c' }), file('b')])
  t.equal((await read(three, 4096, 3)).length, 2)
  await t.rejects(read(three, 4096, 2), {
    code: 'LK_WORKSPACE_TOO_LARGE',
    details: { maxMembers: 2 },
  })
  const named = (length: number) =>
    tar([{ name: 'L', type: 'L', content: 'x'.repeat(length) }, file('b')])
  t.equal((await read(named(1024 * 1024)))[0]?.name.length, 1024 * 1024)
  await t.rejects(read(named(1024 * 1024 + 1)), { code: 'LK_WORKSPACE_TOO_LARGE' })
})

t.test(
  'every byte of a header that is changed is told, or is a member by another name',
  async (t) => {
    const bytes = tar([file('abc', 'x'), file('def', 'y')])
    for (let at = 0; at < 1024; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x11
      try {
        t.equal((await read(changed)).length, 2, String(at))
      } catch (error) {
        t.ok(
          hasCode(error, 'LK_WORKSPACE_FORMAT') || hasCode(error, 'LK_WORKSPACE_DAMAGED'),
          String(at),
        )
      }
    }
  },
)
