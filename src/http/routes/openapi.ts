// What describes the routes. Open to everyone: it says which there are, and nothing of what is stored.

import { answerJsonText } from '../reply.js'
import type { Route } from '../routes.js'

interface OpenapiRoutesOptions {
  readonly prefix: string
  /** All routes there are, these among them. */
  readonly all: () => readonly Route[]
}

export function openapiRoutes({ prefix, all }: OpenapiRoutesOptions): readonly Route[] {
  let made: Promise<string> | undefined

  return [
    {
      access: 'open',
      method: 'GET',
      path: `${prefix}/openapi.json`,
      operation: 'openapi',
      run: async (call) => {
        made ??= make()
        await answerJsonText(call, 200, await made, { 'Cache-Control': 'no-cache' })
      },
    },
  ]

  /** Loaded when it is asked for: most processes never are. */
  async function make(): Promise<string> {
    const [{ documentOf }, { shared }] = await Promise.all([
      import('../openapi/document.js'),
      import('../openapi/sharing.js'),
    ])
    return JSON.stringify(shared(documentOf(all(), prefix)))
  }
}
