import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cacheDirectory } from '../../src/cli/cache-directory.js'

const own = mkdtempSync(join(tmpdir(), 'lorekeep-cache-'))
t.teardown(() => rmSync(own, { recursive: true }))

t.test('compiled code lies where caches of the user do', async (t) => {
  t.equal(cacheDirectory({ HOME: own }, 'linux'), join(own, '.cache/lorekeep'))
  t.equal(cacheDirectory({ HOME: '/', XDG_CACHE_HOME: own }, 'linux'), join(own, 'lorekeep'))
  t.equal(cacheDirectory({ LOCALAPPDATA: own, HOME: '/' }, 'win32'), join(own, 'lorekeep'))
})

t.test('and nowhere else', async (t) => {
  t.equal(cacheDirectory({}, 'linux'), undefined)
  t.equal(cacheDirectory({ HOME: '' }, 'linux'), undefined)
  t.equal(cacheDirectory({ HOME: join(own, 'none') }, 'linux'), undefined)
  t.equal(cacheDirectory({}, 'win32'), undefined)
  const file = fileURLToPath(import.meta.url)
  t.equal(cacheDirectory({ HOME: join(file, 'home') }, 'linux'), undefined, 'no directory')
  // The person who runs it has said where.
  t.equal(cacheDirectory({ HOME: own, NODE_COMPILE_CACHE: own }, 'linux'), undefined)
})

t.test(
  'not in a directory of somebody else',
  { skip: process.getuid?.() !== 0 && 'only root can read that of another' },
  async (t) => {
    const { chownSync } = await import('node:fs')
    chownSync(own, 12_345, 12_345)
    t.equal(cacheDirectory({ HOME: own }, 'linux'), undefined)
    t.equal(cacheDirectory({ HOME: '/', XDG_CACHE_HOME: own }, 'linux'), undefined)
  },
)
