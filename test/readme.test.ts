// The examples of the README and of docs/ compile as strict TypeScript, and what of them is a whole
// program runs as it stands, from a directory of its own. Links lead somewhere.

import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import ts from 'typescript'

const root = process.cwd()
const readme = readFileSync(join(root, 'README.md'), 'utf8')

t.test('the examples of the README make a core of a text, and ask it', async (t) => {
  const [making, asking] = [...readme.matchAll(/```js\n([^]*?)```/g)].map(
    ([, code]) => code as string,
  )
  const directory = t.testdir({})
  const lines = (await run(directory, `${making}\n${asking}`)).split('\n')
  const made = lines.findIndex((line) => /^[1-9]\d* triples, [1-9]\d* vectors$/.test(line))
  const progress = lines.slice(0, made)
  t.ok(progress.includes('extract 1 of 1'))
  for (const line of progress) t.match(line, /^\w+ \d+ of \d+$/)
  const [found, source, ...asked] = lines.slice(made + 1)
  t.match([found, source], [/^Ellen lives/, /^Ellen lives in a house by/])
  t.ok(asked.includes('Ellen – Thames'))
  t.ok(asked.includes('http://www.w3.org/2000/01/rdf-schema#label Ellen'))
  t.ok(statSync(join(directory, 'visit.core')).size > 0)
})

/** What examples that are fragments take for granted. */
const preludes: Readonly<Record<string, string>> = {
  'docs/errors.md': `
    declare const keep: import('lorekeep').Lorekeep
    declare const ref: import('lorekeep').CoreRef
    declare const source: import('lorekeep').ByteSource
  `,
  'docs/api.md': `
    const [user, id] = ['alice', 'novel']
    declare const source: import('lorekeep').ByteSource
    declare const signal: AbortSignal
    const onProgress = () => {}
    declare function write(chunk: Uint8Array): Promise<void>
  `,
  'docs/operations.md': `
    import { createLorekeep, restore, type Lorekeep } from 'lorekeep'
    import { LevelBackend } from 'lorekeep/level'
    declare const keep: Lorekeep
  `,
  'docs/adapters.md': `
    declare class MyBackend extends ExampleBackend { constructor(directory: string) }
  `,
}

/** Each host of docs/http.md is a program of its own, and all have the first one before them. */
const hosts = `
  declare const handler: import('lorekeep/http').Handler
`
/** What the first one makes; those that make it anew have it of their own. */
const made = `
  declare global {
    const knowledge: import('lorekeep').KnowledgeStore
    const objects: import('lorekeep').ObjectStore
    const flows: import('lorekeep').FlowQueue
    const authenticate: (token?: string) => { user: string } | undefined
  }
`

t.test('the examples compile as strict TypeScript', async (t) => {
  const directory = t.testdir({})
  link(directory)
  const files: string[] = []
  const add = (name: string, text: string) => {
    files.push(join(directory, `${name.replace('/', '-')}.mts`))
    writeFileSync(files.at(-1) as string, `${text}\nexport {}\n`)
  }
  for (const page of ['README.md', ...pagesOfDocs().map((file) => `docs/${file}`)]) {
    const blocks = blocksOf(readFileSync(join(root, page), 'utf8'))
    if (page !== 'docs/http.md') add(page, [preludes[page] ?? '', ...blocks].join('\n'))
    else
      for (const [n, block] of blocks.entries()) add(`${page}-${n}`, (n > 0 ? hosts : '') + block)
  }
  add('made', made)
  const program = ts.createProgram(files, {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  })
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file?.text.slice(0, start).split('\n').length ?? 0
    const text = ts.flattenDiagnosticMessageText(messageText, ' ')
    const code = file?.text.split('\n')[line - 1]
    return `${file?.fileName.split('/').at(-1)}: ${code?.trim()} – ${text}`
  })
  t.strictSame(problems, [])
})

for (const name of [
  'objects.md',
  'flows.md',
  'graph.md',
  'rdf.md',
  'sparql.md',
  'langchain.md',
  'ai.md',
]) {
  t.test(`the examples of docs/${name} print what the page says`, async (t) => {
    const program = blocksOf(readFileSync(join(root, 'docs', name), 'utf8')).join('\n')
    const expected = [...program.matchAll(/\/\/ → (.*)/g)].map(([, line]) => line)
    t.ok(expected.length > 5)
    t.strictSame((await run(t.testdir({}), program)).split('\n'), [...expected, ''])
  })
}

t.test('the README opens with the two commands', async (t) => {
  const commands = /```sh\n([^]*?)```/
    .exec(readme)?.[1]
    ?.split('\n')
    .map((line) => line.split('#')[0]?.trim())
  t.strictSame(commands?.slice(0, 2), ['npm start', 'npm test'])
  t.match(readFileSync(join(root, '.ci', 'run'), 'utf8'), /^npm test$/m)
})

t.test('links between the docs lead to files', async (t) => {
  const docs = pagesOfDocs().map((file) => join('docs', file))
  for (const file of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs]) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      t.ok(existsSync(join(root, dirname(file), target as string)), `${file}: ${target}`)
    }
  }
})

function blocksOf(page: string): string[] {
  return [...page.matchAll(/```(?:js|ts)\n([^]*?)```/g)].map(([, code]) => code as string)
}

/** The package installed in a directory. */
function link(directory: string): void {
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(root, join(directory, 'node_modules', 'lorekeep'))
}

/** What a program prints that has the package installed. */
async function run(directory: string, program: string): Promise<string> {
  link(directory)
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  })
  writeFileSync(join(directory, 'example.mjs'), outputText)
  const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], {
    cwd: directory,
  })
  return stdout
}

/** Beside them are pictures. */
function pagesOfDocs(): readonly string[] {
  return readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'))
}
