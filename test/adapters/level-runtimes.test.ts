// What other runtimes have otherwise than Node, tried in Node.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

/** As Deno's: of several results it gives the first. */
const promisifyOfOne = `
import util from 'node:util'
import { syncBuiltinESMExports } from 'node:module'
util.promisify = (call) => (...given) => new Promise((resolve, reject) => {
  call(...given, (error, result) => (error ? reject(error) : resolve(result)))
})
syncBuiltinESMExports()
`

const adapter = pathToFileURL(join(import.meta.dirname, '../../adapters/level/index.js')).href

const writeAndRead = `
import { LevelBackend } from '${adapter}'
const backend = new LevelBackend(process.argv[1])
const slices = await backend.open('slices')
const key = new Uint8Array([1])
await slices.write([{ type: 'put', key, value: new Uint8Array(3_000_000).fill(7) }], { durable: true })
const read = await slices.get(key)
await backend.close()
process.stdout.write(read.length + ' ' + read.every((byte) => byte === 7))
`

t.test('values in files are written where promisify() gives one result', async (t) => {
  const hook = `data:text/javascript,${encodeURIComponent(promisifyOfOne)}`
  const args = ['--import', hook, '--input-type=module', '--eval', writeAndRead, t.testdir()]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  t.equal(stdout, '3000000 true')
})
