// `import('lorekeep')` in a new process: of the package that is published, whose entry points lie in few
// files, and of the sources as tests compile them.

import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compareOperations, inDirectory, interleave, median, report, reportOne } from './measure.js'

await inDirectory(async (directory) => {
  const made = join(directory, 'lorekeep')
  execFileSync(process.execPath, ['scripts/package.js', made])
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'), 'junction')
  const contestants = {
    packed: () => importing(join(made, 'dist/index.js')),
    sources: () => importing(resolve('dist/src/index.js')),
  }
  const { packed, sources } = await interleave(15, contestants)
  const names = { scenario: 'import, made for release', peer: 'as compiled' }
  report(compareOperations(names, { count: 1, unit: 'a second' }, packed, sources))
  reportOne('import of the package', median(packed) * 1000, 'ms', { most: 60 })
})

function importing(file: string): Promise<number> {
  const program = `
    const start = performance.now()
    import(${JSON.stringify(pathToFileURL(file).href)}).then(() => console.log(performance.now() - start))`
  const told = execFileSync(process.execPath, ['--eval', program], { encoding: 'utf8' })
  return Promise.resolve(Number(told) / 1000)
}
