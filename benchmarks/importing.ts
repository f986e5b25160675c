// `import('lorekeep')` in a new process, and with it the opening of an empty store, which loads the stores:
// of the package that is published, whose entry points lie in few files, and of the sources as tests
// compile them.

import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compareOperations, inDirectory, interleave, median, report, reportOne } from './measure.js'

await inDirectory(async (directory) => {
  const made = join(directory, 'lorekeep')
  execFileSync(process.execPath, ['scripts/package.js', made])
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'), 'junction')
  const memory = {
    packed: join(made, 'dist/memory.js'),
    sources: resolve('dist/adapters/memory.js'),
  }
  const index = { packed: join(made, 'dist/index.js'), sources: resolve('dist/src/index.js') }
  const contestants = {
    packed: () => timeOf(importing(index.packed)),
    sources: () => timeOf(importing(index.sources)),
    packedOpen: () => timeOf(importing(index.packed) + opening(memory.packed)),
    sourcesOpen: () => timeOf(importing(index.sources) + opening(memory.sources)),
  }
  const { packed, sources, packedOpen, sourcesOpen } = await interleave(15, contestants)
  const operations = { count: 1, unit: 'a second' }
  const names = { scenario: 'import, made for release', peer: 'as compiled' }
  report(compareOperations(names, operations, packed, sources))
  const opened = { ...names, scenario: 'import and opening, made for release' }
  report(compareOperations(opened, operations, packedOpen, sourcesOpen))
  reportOne('import of the package', median(packed) * 1000, 'ms', { most: 60 })
  reportOne('import of the package, and opening', median(packedOpen) * 1000, 'ms')
})

function importing(file: string): string {
  return `const { createLorekeep } = await import(${hrefOf(file)});`
}

function opening(file: string): string {
  return `
    const { MemoryBackend } = await import(${hrefOf(file)});
    await createLorekeep({ backend: new MemoryBackend() });`
}

function hrefOf(file: string): string {
  return JSON.stringify(pathToFileURL(file).href)
}

function timeOf(code: string): Promise<number> {
  const program = `
    const start = performance.now();
    ${code}
    console.log(performance.now() - start)
    process.exit()`
  const options = ['--input-type=module', '--eval', program]
  const told = execFileSync(process.execPath, options, { encoding: 'utf8' })
  return Promise.resolve(Number(told) / 1000)
}
