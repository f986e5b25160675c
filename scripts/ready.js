// Before anything of a clone runs: installs and compiles what is missing or has changed, and says so.
//
//     node scripts/ready.js        all of it, types checked, for tests, benchmarks and a release
//     node scripts/ready.js run    what running needs: no tools of tests, and types are not checked
//
// In JavaScript, since nothing is compiled yet.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { makeInspector, page } from './inspector.js'

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'))

const forRunning = process.argv[2] === 'run'

const inspector = join('src', 'inspector')

/** Of which lock file what is there was installed. Where npm looks at nothing but packages. */
const marker = 'node_modules/.ready'
/** What compiles on its own, where the tools of tests are not there. */
const compiler = 'node_modules/.compiler'

// Tools that are there stay: to install for running alone would remove them.
const withTools = !forRunning || existsSync('node_modules/typescript')
const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex')
const wanted = `${withTools ? 'all' : 'run'} ${lock}`
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) install()

if (forRunning) await transpile()
else {
  const tsc = 'node_modules/typescript/bin/tsc'
  run(process.execPath, [tsc])
  if (isInspectorOld()) run(process.execPath, [tsc, '-p', 'src/inspector'])
}
if (isInspectorOld()) {
  say('making the page of the inspector')
  await makeInspector(withTools ? undefined : join(process.cwd(), compiler, 'node_modules'))
}

function install() {
  rmSync(marker, { force: true })
  say(withTools ? 'installing, with the tools of tests' : 'installing what running needs')
  if (withTools) npm([])
  else {
    npm(['--omit=dev'])
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const tools = ['typescript', 'esbuild', 'preact', 'd3-force']
    const editor = Object.keys(devDependencies).filter((name) => name.startsWith('@codemirror/'))
    const wanted = [...tools, ...editor].map((name) => `${name}@${devDependencies[name]}`)
    npm(['--prefix', compiler, ...wanted])
  }
  writeFileSync(marker, wanted)
}

/** @param {readonly string[]} args */
function npm(args) {
  const quietly = [
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  run('npm', ['install', ...quietly, ...args])
}

/** What has changed since it was compiled. What was deleted stays in dist, and nothing imports it. */
async function transpile() {
  const changed = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith('.ts') && !file.startsWith(inspector))
      .filter((file) => isNewer(file, outputOf(file))),
  )
  if (changed.length === 0) return
  say(`compiling ${changed.length} ${changed.length === 1 ? 'file' : 'files'}`)
  const place = `${withTools ? '.' : compiler}/node_modules/typescript/lib/typescript.js`
  const { default: ts } = await import(pathToFileURL(place).href)
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    sourceMap: true,
    verbatimModuleSyntax: true,
  }
  for (const file of changed) {
    const source = readFileSync(file, 'utf8')
    const { outputText, sourceMapText } = ts.transpileModule(source, {
      fileName: file,
      compilerOptions,
    })
    const output = outputOf(file)
    mkdirSync(dirname(output), { recursive: true })
    writeFileSync(`${output}.map`, sourceMapText)
    writeFileSync(output, outputText)
  }
}

/** Its page is made of its own files, of the client's, and of what these have in common with others. */
function isInspectorOld() {
  const parts = [inspector, join('src', 'client')].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const common = ['errors.ts', 'json-text.ts', 'vocabulary.ts'].map((name) => join('src', name))
  const made = join(page, 'page.html')
  const sources = [...parts, ...common, 'scripts/inspector.js', 'package-lock.json']
  return sources.some((file) => statSync(file).isFile() && isNewer(file, made))
}

/** @param {string} file */
function outputOf(file) {
  return join('dist', file.replace(/\.ts$/, '.js'))
}

/**
 * @param {string} file
 * @param {string} output
 */
function isNewer(file, output) {
  return !existsSync(output) || statSync(file).mtimeMs > statSync(output).mtimeMs
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    stdio: 'inherit',
    // npm is a script there; a path of Node with a space would fall apart.
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** @param {string} what */
function say(what) {
  process.stderr.write(`lorekeep: ${what} …\n`)
}
