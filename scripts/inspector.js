// Makes the page of the inspector, of src/inspector, as files that are served as they are: minified, with
// names that change with what is in them, and as brotli beside.
//
//     node scripts/inspector.js

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const root = join(import.meta.dirname, '..')

export const page = join(root, 'dist/src/http/inspector/page')

/** @param {string} [modules] where packages are that are not in node_modules */
export async function makeInspector(modules) {
  const place = modules && pathToFileURL(join(modules, 'esbuild/lib/main.js')).href
  const { build } = await import(place ?? 'esbuild')
  rmSync(page, { recursive: true, force: true })
  mkdirSync(page, { recursive: true })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  /** @type {import('esbuild').BuildOptions & { metafile: true, write: false }} */
  const options = {
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    define: { VERSION: JSON.stringify(version) },
    outdir: page,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    logLevel: 'warning',
    ...(modules && { nodePaths: [modules] }),
  }
  // Files of their own, which the page starts as threads: what is made of them is their names alone.
  const threads = await build({
    ...options,
    entryPoints: {
      layout: 'src/inspector/graph/layout-worker.ts',
      drawing: 'src/inspector/graph/drawing-worker.ts',
    },
  })
  const threadNamed = (/** @type {string} */ start) =>
    JSON.stringify(
      threads.outputFiles.map(({ path }) => nameOf(path)).find((name) => name.startsWith(start)),
    )
  const rest = await build({
    ...options,
    entryPoints: { inspector: 'src/inspector/main.tsx', style: 'src/inspector/style.css' },
    splitting: true,
    define: {
      ...options.define,
      LAYOUT_FILE: threadNamed('layout-'),
      DRAWING_FILE: threadNamed('drawing-'),
    },
  })
  const { texts } = await wordsOf(options, build)
  const names = []
  for (const { path, contents } of [...threads.outputFiles, ...rest.outputFiles]) {
    const name = nameOf(path)
    names.push(name)
    write(name, Buffer.from(contents))
  }
  const named = (/** @type {RegExp} */ pattern) => names.find((name) => pattern.test(name)) ?? ''
  const [script, style] = [named(/^inspector-/), named(/^style-/)]
  write('page.html', Buffer.from(html(texts, script, style, '')))
  write('open.html', Buffer.from(html(texts, script, style, ' data-open')))
  write(
    'licenses.txt',
    Buffer.from(licenses([threads, rest].flatMap(({ metafile }) => Object.keys(metafile.inputs)))),
  )
}

/**
 * @param {import('esbuild').BuildOptions} options
 * @param {typeof import('esbuild').build} build
 * @returns {Promise<{ texts: { title: string, language: string, noScript: string } }>}
 */
async function wordsOf(options, build) {
  const entryPoints = ['src/inspector/texts.ts']
  const { outputFiles } = await build({ ...options, entryPoints, write: false })
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)
}

/** @param {string} path */
function nameOf(path) {
  return path.slice(path.lastIndexOf(sep) + 1)
}

/**
 * @param {string} name
 * @param {Buffer} bytes
 */
function write(name, bytes) {
  writeFileSync(join(page, name), bytes)
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength }
  writeFileSync(join(page, `${name}.br`), brotliCompressSync(bytes, { params: size }))
}

/**
 * It lies at `inspector`, and its files at `inspector/NAME`, whatever is in front.
 *
 * @param {{ title: string, language: string, noScript: string }} texts
 * @param {string} script
 * @param {string} style
 * @param {string} attributes of its body: that of a server which asks nobody for a token is open
 */
function html({ title, language, noScript }, script, style, attributes) {
  const icon = readFileSync(join(root, 'src/inspector/icon.svg'), 'utf8').trim()
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<link rel="stylesheet" href="inspector/${style}">
<script type="module" src="inspector/${script}"></script>
</head>
<body${attributes}><noscript>${noScript}</noscript></body>
</html>
`
}

/**
 * Of the packages that are in it.
 *
 * @param {readonly string[]} inputs
 */
function licenses(inputs) {
  const found = new Map()
  for (const input of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input) ?? []
    if (folder === undefined || found.has(folder)) continue
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    found.set(folder, `${name} ${version}\n\n${licenseIn(resolve(root, folder))}`)
  }
  return [...found.values()].join('\n\n')
}

/** @param {string} folder */
function licenseIn(folder) {
  for (const name of ['LICENSE', 'LICENSE.txt', 'LICENSE.md', 'license']) {
    try {
      return readFileSync(join(folder, name), 'utf8')
    } catch {
      // Under another name.
    }
  }
  throw new Error(`${dirname(folder)}: a package without a license cannot be in the page`)
}

if (process.argv[1] === import.meta.filename) await makeInspector()
