// Compiles src/graph/index/assembly/terms.ts, and writes what comes of it to terms-kernel-bytes.ts.
//
//     node scripts/kernel.js

import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const folder = join(import.meta.dirname, '../src/graph/index')
/** Memory that is shared grows without detaching a buffer: see src/web-assembly.ts. */
const memory = ['--importMemory', '--sharedMemory', '--maximumMemory', '65536']
const features = ['--enable', 'bulk-memory', '--enable', 'threads']
const options = ['-O3', '--noAssert', '--runtime', 'stub', ...memory, ...features]

/** The text of terms-kernel-bytes.ts. */
export async function kernelModule() {
  const source = readFileSync(join(folder, 'assembly/terms.ts'), 'utf8')
  let binary
  const { error, stderr } = await asc.main(['terms.ts', ...options, '--outFile', 'terms.wasm'], {
    readFile: (name) => (name === 'terms.ts' ? source : null),
    writeFile: (name, contents) => void (name === 'terms.wasm' && (binary = contents)),
    listFiles: () => [],
  })
  if (error !== null || binary === undefined) throw error ?? new Error(stderr.toString())
  const lines = Buffer.from(binary)
    .toString('base64')
    .match(/.{1,94}/g)
  const text = lines.map((line) => `  '${line}'`).join(' +\n')
  return `// What assembly/terms.ts compiles to, in base64, by scripts/kernel.js.\n\nexport const kernelBytes =\n${text}\n`
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  writeFileSync(join(folder, 'terms-kernel-bytes.ts'), await kernelModule())
}
