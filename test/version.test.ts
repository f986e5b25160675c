import { readFileSync } from 'node:fs'
import t from 'tap'
import { version } from '../src/version.js'

t.test('the version is that of the package', (t) => {
  const { version: published } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly version: string
  }
  t.equal(version, published)
  t.end()
})
