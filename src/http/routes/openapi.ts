// What describes the routes. Open to everyone: it says which there are, and nothing of what is stored.

import { answer, answerJsonText } from '../reply.js'
import type { Route } from '../routes.js'

interface OpenapiRoutesOptions {
  readonly prefix: string
  /** All routes there are, these among them. */
  readonly all: () => readonly Route[]
}

export function openapiRoutes({ prefix, all }: OpenapiRoutesOptions): readonly Route[] {
  let made: Promise<string> | undefined
  let page: Promise<{ readonly body: Buffer; readonly policy: string }> | undefined

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
    {
      access: 'open',
      method: 'GET',
      path: `${prefix}/reference`,
      operation: 'reference',
      media: ['text/html'],
      run: async (call) => {
        page ??= makePage()
        const { body, policy } = await page
        const headers = {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Length': body.byteLength,
          'Content-Security-Policy': policy,
          'Cache-Control': 'no-cache',
        }
        await answer(call, 200, headers, body)
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

  async function makePage() {
    const [{ documentOf }, { pageOf, policy }] = await Promise.all([
      import('../openapi/document.js'),
      import('../openapi/page/page.js'),
    ])
    return { body: Buffer.from(pageOf(documentOf(all(), prefix))), policy }
  }
}
