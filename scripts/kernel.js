// Compiles what is written in AssemblyScript, and writes what comes of it to the modules that have it as text.
//
//     node scripts/kernel.js

import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

/** Memory that is shared grows without detaching a buffer: see src/web-assembly.ts. */
const shared = ['--sharedMemory', '--maximumMemory', '65536', '--enable', 'threads']

export const kernels = [
  {
    source: 'src/codec/assembly/triples.ts',
    module: 'src/codec/triples-kernel-bytes.ts',
    features: ['--enable', 'simd'],
  },
  {
    source: 'src/graph/index/assembly/terms.ts',
    module: 'src/graph/index/terms-kernel-bytes.ts',
    features: shared,
  },
]

const root = join(import.meta.dirname, '..')
const options = [
  '-O3',
  '--noAssert',
  '--runtime',
  'stub',
  '--importMemory',
  '--enable',
  'bulk-memory',
]

/** The text of a kernel's module. */
export async function kernelModule({ source, features }) {
  const text = readFileSync(join(root, source), 'utf8')
  let binary
  const { error, stderr } = await asc.main(
    ['kernel.ts', ...options, ...features, '--outFile', 'kernel.wasm'],
    {
      readFile: (name) => (name === 'kernel.ts' ? text : null),
      writeFile: (name, contents) => void (name === 'kernel.wasm' && (binary = contents)),
      listFiles: () => [],
    },
  )
  if (error !== null || binary === undefined) throw new Error(stderr.toString(), { cause: error })
  const lines = Buffer.from(binary)
    .toString('base64')
    .match(/.{1,94}/g)
  const base64 = lines.map((line) => `  '${line}'`).join(' +\n')
  const from = source.slice(source.indexOf('assembly/'))
  return `// What ${from} compiles to, in base64, by scripts/kernel.js.\n\nexport const kernelBytes =\n${base64}\n`
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for (const kernel of kernels) writeFileSync(join(root, kernel.module), await kernelModule(kernel))
}
