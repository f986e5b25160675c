// The inspector: a page to look at what is stored, and its files. Open to everyone, as it has nothing of what is
// stored: the page asks for that with the token of whoever looks.

import { LorekeepError } from '../../errors.js'
import type { Call } from '../call.js'
import { isAccepted } from '../coding/accepted.js'
import { isKnown, knownTag, validatorHeaders } from '../conditions.js'
import { openPage, pageIn, type PageFile } from '../inspector/files.js'
import { answer } from '../reply.js'
import type { Route } from '../routes.js'

interface InspectorRoutesOptions {
  readonly prefix: string
  /** Nobody is asked for a token. */
  readonly isOpen: boolean
}

/** What the page may load: what comes from where it comes from. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ofPage = {
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
}
/** Where what is in a file is in its name. */
const ofNamed = { 'Cache-Control': 'public, max-age=31536000, immutable' }
const ofOther = { 'Cache-Control': 'no-cache' }
const named = /-[A-Z\d]{8}\.\w+$/

export function inspectorRoutes({ prefix, isOpen }: InspectorRoutesOptions): readonly Route[] {
  const files = openPage()
  return [
    {
      access: 'open',
      method: 'GET',
      path: `${prefix}/inspector`,
      operation: 'inspector',
      media: ['text/html'],
      run: async (call) => {
        await answerFile(call, pageIn(await files(), isOpen), ofPage)
      },
    },
    {
      access: 'open',
      method: 'GET',
      path: `${prefix}/inspector/{file}`,
      operation: 'inspector-file',
      media: [],
      run: async (call) => {
        const name = call.path.slice(call.path.lastIndexOf('/') + 1)
        const file = (await files()).get(name)
        if (file === undefined || name.endsWith('.html')) {
          throw new LorekeepError('LK_HTTP_NOT_FOUND', 'the inspector has no such file')
        }
        await answerFile(call, file, named.test(name) ? ofNamed : ofOther)
      },
    },
  ]
}

async function answerFile(
  call: Call,
  { type, version, bytes, brotli }: PageFile,
  fixed: Readonly<Record<string, string>>,
): Promise<void> {
  const headers = { ...fixed, ...validatorHeaders({ version }) }
  if (isKnown(call, { version })) {
    await answer(call, 304, { ...headers, ETag: knownTag(call, { version }) })
    return
  }
  const coded = isAccepted(call.headers['accept-encoding'], 'br')
  const body = coded ? brotli : bytes
  const sent = coded
    ? { ...headers, ...validatorHeaders({ version, variant: 'br' }), 'Content-Encoding': 'br' }
    : headers
  await answer(
    call,
    200,
    { ...sent, 'Content-Type': type, 'Content-Length': body.byteLength },
    body,
  )
}
