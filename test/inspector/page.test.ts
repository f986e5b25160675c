// The files of the page, as a browser gets them: their heads, their sizes, and that there are none where nobody asked.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { openPage, pageIn } from '../../src/http/inspector/files.js'
import { send, serve } from '../http/fixtures/serving.js'

const folder = 'dist/src/http/inspector/page'

t.test('there is a page where it is asked for, and nowhere else', async (t) => {
  const { url } = await serve(t)
  t.equal((await send(`${url}/api/v1/inspector`)).status, 404)
  const other = await serve(t, { inspector: true })
  const { status, headers, body } = await send(`${other.url}/api/v1/inspector`)
  t.equal(status, 200)
  t.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src/)
  t.match(headers['cache-control'], /no-cache/)
  const scripts = [...body.toString().matchAll(/(?:src|href)="(inspector\/[^"]+)"/g)]
  t.equal(scripts.length, 2, 'a script and a style')
  for (const [, path] of scripts) {
    const at = `${other.url}/api/v1/${path}`
    const plain = await send(at)
    t.equal(plain.status, 200)
    t.match(plain.headers['cache-control'], /immutable/)
    const coded = await send(at, { headers: { 'Accept-Encoding': 'gzip, br' } })
    t.equal(coded.headers['content-encoding'], 'br')
    t.equal(brotliDecompressSync(coded.body).compare(plain.body), 0, 'the same in brotli')
    t.not(coded.headers['etag'], plain.headers['etag'])
    const gzip = await send(at, { headers: { 'Accept-Encoding': 'gzip' } })
    t.equal(gzip.headers['content-encoding'], 'gzip')
    const again = { 'Accept-Encoding': 'br', 'If-None-Match': String(coded.headers['etag']) }
    const known = await send(at, { headers: again })
    t.equal(known.status, 304)
    t.equal(known.body.length, 0)
  }
  const licenses = await send(`${other.url}/api/v1/inspector/licenses.txt`)
  t.equal(licenses.status, 200)
  t.equal(licenses.headers['cache-control'], 'no-cache', 'its name says nothing of what is in it')
  for (const name of ['page.html', 'open.html', 'nothing.js', '..%2Ffiles.js', 'page.html.br']) {
    t.equal((await send(`${other.url}/api/v1/inspector/${name}`)).status, 404, name)
  }
})

t.test('files that could not be read are read again, and none may be missing', async (t) => {
  const at = t.testdir({ 'a.js': '1' })
  const files = openPage(pathToFileURL(`${at}/`))
  await t.rejects(files(), { code: 'ENOENT' }, 'a.js.br is not there')
  for (const name of ['a.js.br', 'open.html', 'open.html.br']) writeFileSync(`${at}/${name}`, name)
  const read = await files()
  t.equal(String(pageIn(read, true).bytes), 'open.html')
  t.throws(() => pageIn(read, false), /page\.html/)
})

t.test('it is small', async (t) => {
  const names = readdirSync(folder).filter((name) => !name.endsWith('.br'))
  const zipped = (name: string) => gzipSync(readFileSync(`${folder}/${name}`)).byteLength
  const sum = (some: readonly string[]) => some.reduce((sum, name) => sum + zipped(name), 0)
  const named = (pattern: RegExp) => names.filter((name) => pattern.test(name))
  const scripts = named(/\.js$/)
  // What the page fetches before anybody goes anywhere: its beginning, the view that comes first, and what both import.
  const first = new Set(named(/^(inspector|ask)-/))
  for (const name of first) {
    const text = readFileSync(`${folder}/${name}`, 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) first.add(path)
  }
  t.ok(first.size >= 3 && first.size < scripts.length, [...first].join())
  t.ok(sum([...first]) <= 120_000, `scripts of the first view: ${sum([...first])} bytes gzipped`)
  const least = Math.min(...scripts.map((name) => statSync(`${folder}/${name}`).size))
  t.ok(least >= 200, `none is a request for nothing: ${least} bytes`)
  t.ok(sum(scripts) <= 350_000, `all scripts: ${sum(scripts)} bytes gzipped`)
  t.ok(sum(named(/\.css$/)) <= 20_000, `styles: ${sum(named(/\.css$/))} bytes gzipped`)
  const whole = readdirSync(folder).reduce(
    (sum, name) => sum + readFileSync(`${folder}/${name}`).byteLength,
    0,
  )
  t.ok(whole <= 1_500_000, `in the package: ${whole} bytes`)
})
