import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'

t.test('without ws the error names what to install', async (t) => {
  const script = `
    import { register } from 'node:module'
    const hook = \`export async function resolve(name, context, next) {
      if (name !== 'ws') return next(name, context)
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
    }\`
    register('data:text/javascript,' + encodeURIComponent(hook))
    const { loadWs } = await import('${new URL(`file://${resolve('dist/src/http/socket/peer.js')}`)}')
    await loadWs().catch((error) => console.log(error.code, error.details.package, error.message))`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script])
  t.match(output.toString(), /^LK_PEER_MISSING ws .*npm install ws\n$/)
})
