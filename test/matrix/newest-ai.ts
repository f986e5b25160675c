// Before the tests of `lorekeep/ai`: what they and it import of the AI SDK is the major that only newer versions of Node
// run, which npm run matrix has installed as `ai-7`.

import * as nodeModule from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

type Resolve = (specifier: string, context: { readonly parentURL?: string }) => unknown

// Since Node 22.15, which the types are older than.
const { registerHooks } = nodeModule as unknown as {
  registerHooks(hooks: {
    resolve(specifier: string, context: { readonly parentURL?: string }, next: Resolve): unknown
  }): void
}

const parentURL = pathToFileURL(resolve('node_modules/.matrix/none.js')).href

registerHooks({
  resolve: (specifier, context, next) =>
    /^ai(\/|$)/.test(specifier)
      ? next(specifier.replace('ai', 'ai-7'), { ...context, parentURL })
      : next(specifier, context),
})
