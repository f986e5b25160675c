// The command where the SDK of the protocol is not installed.

import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { script } from '../cli/command.js'

/** Gives what it says on stderr before it fails. */
export function runWithoutSdk(args: readonly string[]): string {
  const program = `
    import { register } from 'node:module'
    const hook = \`export async function resolve(name, context, next) {
      if (!name.startsWith('@modelcontextprotocol/')) return next(name, context)
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
    }\`
    register('data:text/javascript,' + encodeURIComponent(hook))
    process.argv = [process.execPath, ...${JSON.stringify(args)}]
    await import(${JSON.stringify(`file://${script}`)})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: resolve('.'),
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (status === 0 || status === null) throw new Error(`it ran: ${stderr}`)
  return stderr
}
