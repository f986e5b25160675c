// Makes the folder that is packed and published, dist/package, of what is compiled: entry points with
// their own modules in few files, the declarations that these show, and the docs. Node spends most
// of an import on finding and opening files, of which `lorekeep` alone would be 460; and who installs
// it has no use for two thousand files of ours.
//
//     node scripts/package.js [FOLDER] && npm pack ./dist/package

import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, resolve } from 'node:path'
import { build } from 'esbuild'
import { page } from './inspector.js'

const [folder = join(import.meta.dirname, '../dist/package'), ...surplus] = process.argv.slice(2)
if (folder.startsWith('-') || surplus.length > 0) {
  console.error(`'${[folder, ...surplus].join(' ')}' is no folder`)
  console.error('usage: node scripts/package.js [FOLDER]')
  process.exit(2)
}
const out = resolve(folder)
process.chdir(join(import.meta.dirname, '..'))

const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt', 'docs']

const source = JSON.parse(readFileSync('package.json', 'utf8'))

rmSync(out, { recursive: true, force: true })
const { exports, programs, declarations } = entryPoints()
await bundle(programs)
escapeLetters(join(out, 'dist'))
cpSync(page, join(out, 'dist/page'), { recursive: true })
copyDeclarations(declarations)
// The pictures of the docs are looked at where the repository is: half a megabyte that nobody runs.
const isWanted = (/** @type {string} */ file) => !/^docs.images/.test(file)
for (const page of ['LICENSE', ...pages]) {
  cpSync(page, join(out, page), { recursive: true, filter: isWanted })
}
writeManifest(exports)

function entryPoints() {
  const bin = source.bin.lorekeep
  const found = { exports: {}, programs: { cli: bin }, declarations: [] }
  for (const [path, target] of Object.entries(source.exports)) {
    if (path === './package.json') {
      found.exports[path] = target
      continue
    }
    const name = path === '.' ? 'index' : path.slice(2)
    const { types, default: file = target } = target
    found.programs[name] = file
    if (types !== undefined) found.declarations.push(types.slice(2))
    found.exports[path] =
      types === undefined
        ? `./dist/${name}.js`
        : { types: `./${typesOf(types.slice(2))}`, default: `./dist/${name}.js` }
  }
  return found
}

/**
 * All in one folder: workers are looked for beside whatever starts them. Names stay, and so do lines,
 * for whoever reads a stack.
 *
 * @param {Record<string, string>} programs
 */
async function bundle(programs) {
  await build({
    entryPoints: programs,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    outdir: join(out, 'dist'),
    chunkNames: '[name]-[hash]',
    logLevel: 'warning',
  })
}

/**
 * V8 keeps a source with one letter beyond Latin-1 as two bytes a character, all of it: of the 19 MiB of an idle
 * server's heap that was 1.5. A build leaves such letters only in regular expressions and comments.
 *
 * @param {string} folder
 */
function escapeLetters(folder) {
  const escapeOf = (/** @type {string} */ unit) =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, escapeOf))
  }
}

/**
 * These, and those that they import.
 *
 * @param {readonly string[]} files
 */
function copyDeclarations(files) {
  const found = new Set(files)
  for (const file of found) {
    const text = readFileSync(file, 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)) {
      found.add(posix.join(posix.dirname(file), `${path}.d.ts`))
    }
    const copy = join(out, typesOf(file))
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(file, copy)
  }
}

/** @param {string} file */
function typesOf(file) {
  return file.replace(/^dist\//, 'dist/types/')
}

/** @param {object} exports */
function writeManifest(exports) {
  const manifest = {
    ...source,
    exports,
    bin: { lorekeep: 'dist/cli.js' },
    files: ['dist', ...pages],
  }
  for (const own of ['private', 'scripts', 'devDependencies']) delete manifest[own]
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}
