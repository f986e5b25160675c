// What is published: made as a release makes it, read by the linters of packages, installed in an
// empty folder from what is here already, and used there.

import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import t from 'tap'

interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const root = process.cwd()
// Not below this repository, whose packages would be found.
const app = mkdtempSync(join(tmpdir(), 'lorekeep-package-'))
t.teardown(() => rmSync(app, { recursive: true }))
writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
const installed = join(app, 'node_modules/lorekeep')
await run(root, 'scripts/package.js', installed)
const manifest = manifestOf(installed)
/** Workers are there for bundlers, which ask for no types. */
const entries = Object.keys(manifest.exports).filter((path) => !/worker$|\.json$/.test(path))

t.test('has what is needed and nothing else', async (t) => {
  const files = filesOf(installed)
  const kinds = new Set(files.map((file) => /^(dist\/types|dist|docs|[^/]+)/.exec(file)?.[0]))
  t.strictSame([...kinds].sort(), [
    ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'],
    ...['dist', 'dist/types', 'docs', 'llms.txt', 'package.json'],
  ])
  for (const file of files) t.match(file, /\.(js|d\.ts|md|txt|json)$|^LICENSE$|^dist\/page\//, file)
  for (const file of pagesOfDocs()) t.ok(files.includes(`docs/${file}`), file)
  const text = readFileSync(join(installed, 'package.json'), 'utf8')
  t.notMatch(text, /devDependencies|"scripts"|"private"/)
  t.ok(files.length < 450, `${files.length} files`)
})

t.test('the pages in it lead to pages in it', async (t) => {
  const pages = filesOf(installed).filter((file) => /\.(md|txt)$/.test(file))
  for (const page of pages) {
    const text = readFileSync(join(installed, page), 'utf8').replace(/^```[^]*?^```/gm, '')
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)) {
      // Pictures are where the repository is.
      const place = /\.(png|svg)$/.test(target) ? root : installed
      t.ok(existsSync(join(place, dirname(page), target)), `${page}: ${target}`)
    }
  }
  const index = readFileSync('llms.txt', 'utf8')
  for (const file of pagesOfDocs()) t.ok(index.includes(`(docs/${file})`), file)
})

t.test('the linters of packages and of their types have nothing to say', async (t) => {
  const { messages } = await publint({ pkgDir: installed, strict: true, pack: false })
  t.strictSame(
    messages.map((message) => formatMessage(message, { ...manifest })),
    [],
  )
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', app, installed],
    { shell: process.platform === 'win32' },
  )
  const tarball = readFileSync(join(app, stdout.trim()))
  t.ok(tarball.length < 2_000_000, `${tarball.length} bytes`)
  const checked = await checkPackage(createPackageFromTarballData(tarball), {
    excludeEntrypoints: [/worker$/],
  })
  // CommonJS and the resolution of Node 10 are not served: the package is ES modules alone.
  const served = (problem: object) =>
    !('resolutionKind' in problem) || /esm|bundler/.test(String(problem.resolutionKind))
  t.ok(checked.types)
  if (checked.types) t.strictSame(checked.problems.filter(served), [])
})

t.test('is at most 35 MB and 45 packages when it is installed', async (t) => {
  const packages = installDependencies()
  t.ok(packages.length + 1 <= 45, `${packages.length + 1} packages`)
  const bytes = filesOf(join(app, 'node_modules'))
    .map((file) => Math.ceil(lstatSync(join(app, 'node_modules', file)).size / 4096) * 4096)
    .reduce((sum, size) => sum + size, 0)
  t.ok(bytes <= 35_000_000, `${bytes} bytes on a disk with blocks of 4 KiB`)
  t.comment(`${packages.length + 1} packages, ${(bytes / 1e6).toFixed(1)} MB`)
})

t.test('every entry point is there, with the names that the sources have', async (t) => {
  const names = entries.map((path) => `lorekeep${path.slice(1)}`)
  const program = `
    const told = {}
    for (const name of ${JSON.stringify(names)}) {
      told[name] = await import(name).then(Object.keys, (error) => error.message)
    }
    console.log(JSON.stringify(told))`
  const told = JSON.parse(await run(app, '--input-type=module', '--eval', program)) as object
  const expected: Record<string, unknown> = {}
  for (const name of names) expected[name] = Object.keys((await import(name)) as object)
  // They are made for those who have their peers.
  const missing = {
    'lorekeep/ai': /Cannot find package 'ai'/,
    'lorekeep/langchain': /Cannot find package '@langchain\/core'/,
    'lorekeep/otel': /Cannot find package '@opentelemetry\/api'/,
  }
  t.match(told, { ...expected, ...missing })
  for (const name of Object.keys(missing)) delete expected[name]
  t.strictSame(Object.keys(told).sort(), Object.keys({ ...expected, ...missing }).sort())
  for (const [name, names] of Object.entries(expected)) {
    t.strictSame((told as Record<string, unknown>)[name], names)
  }
})

t.test('no source has a letter for which V8 would keep two bytes a character', (t) => {
  const sources = filesOf(join(installed, 'dist')).filter((file) => /^[^/]+\.js$/.test(file))
  t.ok(sources.length > entries.length / 2, `${sources.length} sources`)
  for (const file of sources) {
    const letters = /[^\0-\x7f].*/.exec(readFileSync(join(installed, 'dist', file), 'utf8'))
    t.equal(letters?.[0], undefined, file)
  }
  t.end()
})

t.test('has the page of the inspector', async (t) => {
  const program = `
    import { createLorekeep } from 'lorekeep'
    import { createFetchHandler } from 'lorekeep/http'
    import { MemoryBackend } from 'lorekeep/memory'
    const keep = await createLorekeep({ backend: new MemoryBackend() })
    const handler = createFetchHandler({
      knowledge: keep.knowledge,
      authenticate: 'none',
      inspector: true,
    })
    const ask = (path) => handler(new Request('http://localhost/api/v1/' + path))
    const page = await (await ask('inspector')).text()
    const script = await ask(/src="([^"]+)"/.exec(page)[1])
    console.log(script.status, script.headers.get('content-type'))
    await keep.close()`
  const told = await run(app, '--input-type=module', '--eval', program)
  t.equal(told.trim(), '200 text/javascript; charset=utf-8')
})

t.test('importing lorekeep loads next to nothing', async (t) => {
  // Counted, not timed: what it costs grows with what is read and compiled.
  const loaded = await filesLoadedBy(`await import('lorekeep')`)
  for (const { url } of loaded) t.match(url, '/node_modules/lorekeep/dist/')
  const bytes = loaded.reduce((sum, { size }) => sum + size, 0)
  t.ok(bytes > 1000 && bytes <= 20_000, `${bytes} bytes of JavaScript`)
  t.comment(`${loaded.length} files, ${(bytes / 1000).toFixed(1)} kB`)
})

t.test(
  'what checks objects, matches patterns, takes cores apart and reads texts is loaded when it is used',
  async (t) => {
    const opening = `
    const { createLorekeep } = await import('lorekeep')
    const { MemoryBackend } = await import('lorekeep/memory')
    const { objects } = await createLorekeep({ backend: new MemoryBackend() })
    await objects.collections()`
    const packageOf = (url: string) => /.*\/node_modules\/(@[^/]+\/[^/]+|[^/]+)/.exec(url)?.[1]
    const packagesOf = async (program: string) =>
      new Set((await filesLoadedBy(program)).map(({ url }) => packageOf(url)))
    const files = await filesLoadedBy(opening)
    const opened = new Set(files.map(({ url }) => packageOf(url)))
    const bytes = files
      .filter(({ url }) => packageOf(url) === 'lorekeep')
      .reduce((sum, { size }) => sum + size, 0)
    t.ok(bytes > 500_000 && bytes < 1_900_000, `${bytes} bytes of our JavaScript`)
    const later = ['ajv', 'ajv-formats', 're2js', '@orama/stemmers', 'msgpackr', 'wink-nlp']
    for (const name of later) t.notOk(opened.has(name), name)
    const defining = `
    await objects.defineSchema({ name: 'a', id_field: 'id', fields: { id: { type: 'string', required: true } } })`
    t.ok((await packagesOf(opening + defining)).has('ajv'))
    const asking = `
    await objects.query({ schema_name: 'a', filters: { id: { $regex: '^b.' } } })`
    t.ok((await packagesOf(opening + defining + asking)).has('re2js'))
  },
)

t.test('the first program of the README runs, and so does the command', async (t) => {
  const [making, asking] = [
    ...readFileSync('README.md', 'utf8').matchAll(/```js\n([^]*?)```/g),
  ].map(([, code]) => code as string)
  writeFileSync(join(app, 'program.js'), `${making}\n${asking}`)
  // The thread that reads texts is found: there is no warning.
  const printed = await run(app, '--throw-deprecation', 'program.js')
  t.match(printed, /^[1-9]\d* triples, [1-9]\d* vectors$/m)
  t.match(printed, /Ellen – Thames/)
  const command = join(installed, 'dist/cli.js')
  t.equal(await run(app, command, '--version'), `${manifest.version}\n`)
})

t.test('a folder is all that the script takes', async (t) => {
  const script = join(root, 'scripts/package.js')
  for (const args of [['--help'], ['one', 'two']]) {
    await t.rejects(run(app, script, ...args), { code: 2, stdout: '', stderr: /usage: / })
    t.notOk(existsSync(join(app, args[0] as string)))
  }
})

/** What npm would put there: what the manifest needs, and what that needs. */
function installDependencies(): string[] {
  const found = new Set<string>()
  const add = (from: string, { dependencies, optionalDependencies = {} }: Manifest) => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(from, name)
      if (place === undefined && name in optionalDependencies) continue
      if (place === undefined) throw new Error(`${name} is not installed`)
      if (found.has(place)) continue
      found.add(place)
      cpSync(join(root, place), join(app, place), {
        recursive: true,
        filter: (file) =>
          !relative(join(root, place), file).split(/[\\/]/).includes('node_modules'),
      })
      add(place, manifestOf(join(root, place)))
    }
  }
  add('', manifest)
  return [...found]
}

/** Where Node finds a package, from the root of this repository. */
function placeOf(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder === '.' ? '' : folder, 'node_modules', name)
    if (existsSync(join(root, place, 'package.json'))) return place
    if (folder === '' || folder === '.') return undefined
  }
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

/** Files that a program loads as modules, and those that are no modules as far as modules load them. */
async function filesLoadedBy(program: string): Promise<{ url: string; size: number }[]> {
  const hooks = `
    import { statSync, writeSync } from 'node:fs'
    export const load = (url, context, next) => {
      if (url.startsWith('file:')) writeSync(1, url + ' ' + statSync(new URL(url)).size + '\\n')
      return next(url, context)
    }`
  const whole = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
    ${program}
    process.exit()`
  const printed = await run(app, '--input-type=module', '--eval', whole)
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  return lines.map(([url = '', size]) => ({ url, size: Number(size) }))
}

/** What Node prints, run in a folder. */
async function run(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  return stdout
}

function pagesOfDocs(): readonly string[] {
  return readdirSync('docs').filter((file) => file.endsWith('.md'))
}
