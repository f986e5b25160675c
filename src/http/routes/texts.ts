// Texts and files into flows: endpoint 5 of the specification, and its like for files.

import type { FileDocument, FlowQueue, TextDocument } from '../../flow/types.js'
import { scopeOf } from '../access.js'
import { isForm, maxFieldBytes, readForm } from '../form.js'
import { parseJson } from '../../json-text.js'
import { collect, mostOf, readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { aText, user } from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import { plainTriples } from '../reference/terms.js'
import { documentOf } from '../reference/texts.js'
import type { Exchange, Route } from '../routes.js'
import { requestError } from '../target.js'
import type { Triple } from '../../types.js'

interface TextRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly flows: FlowQueue
  readonly emptyJson: boolean
  readonly maxFileBytes: number
}

/** What is said of a file beside its bytes: in the query, or in the fields of a form. */
const ofFile = {
  id: aText('The document. The `name` where it is left out.'),
  user,
  collection: aText('Where it goes; `default` where it is left out.'),
  title: aText('What it is called.'),
  name: aText("The file's name: its ending tells what a text is, where no type does."),
  charset: aText('Of a text.'),
}
/** In the fields of a form alone. */
const ofForm = ['type', 'metadata'] as const

export function textRoutes(options: TextRoutesOptions): readonly Route[] {
  const { prefix, flows, emptyJson } = options
  const path = `${prefix}/flow/{flow}/service`

  return [
    {
      access: 'change',
      method: 'POST',
      path: `${path}/text-load`,
      operation: 'loadText',
      media: [],
      run: loadText,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${path}/file-load`,
      operation: 'loadFile',
      media: [],
      query: ofFile,
      run: loadFile,
    },
  ]

  // Whether the flow takes documents is asked when this one is queued, and not before: in between
  // it may have been stopped.
  async function loadText(exchange: Exchange): Promise<void> {
    const body = await readJson(exchange, options)
    await load(exchange, documentOf(exchange.principal, body))
  }

  async function loadFile(exchange: Exchange): Promise<void> {
    const { call, memory, query } = exchange
    const { maxFileBytes, idleTimeoutMs } = options
    const type = call.headers['content-type']
    const maxBytes = isForm(type) ? maxFileBytes + maxFieldBytes : maxFileBytes
    const body = call.openBody({ content: 'file', maxBytes, idleTimeoutMs })
    const bytes = await collect(body, mostOf(call, maxBytes), memory)
    const given = Object.fromEntries(query)
    if (!isForm(type)) return load(exchange, { ...typeOf(type), ...given, bytes })
    const { fields, file } = await readForm(bytes, type ?? '', {
      known: [...Object.keys(ofFile), ...ofForm],
      maxFileBytes,
    })
    const { metadata, ...said } = Object.fromEntries(fields)
    await load(exchange, {
      ...(file.name !== '' && { name: file.name }),
      ...(file.type !== '' && { type: file.type }),
      ...given,
      ...said,
      ...(metadata !== undefined && { metadata: triplesIn(metadata) }),
      bytes: file.bytes,
    })
  }

  async function load(exchange: Exchange, document: TextDocument | FileDocument): Promise<void> {
    const { call, principal, parameters } = exchange
    const scope = scopeOf(principal)
    const { job } = await flows.load(parameters.get('flow') ?? '', document, { scope })
    const headers = {
      'Lorekeep-Job': job,
      // Relative to this path, which a mount or a proxy may have shortened before it came here.
      Location: `../jobs/${encodeURIComponent(job)}`,
      'Cache-Control': 'no-store',
    }
    if (emptyJson) await answerJson(call, 200, {}, headers)
    else await answer(call, 200, { ...headers, 'Content-Length': 0 })
  }
}

/** What curl says of a body without being asked is nothing. */
function typeOf(header = ''): { readonly type?: string } {
  return header.trim() === '' || /x-www-form-urlencoded/i.test(header) ? {} : { type: header }
}

/** The queue checks that these are triples. @throws LorekeepError `LK_HTTP_REQUEST` */
function triplesIn(metadata: string): readonly Triple[] {
  try {
    return plainTriples(parseJson(metadata)) as readonly Triple[]
  } catch {
    throw requestError('metadata', 'is no JSON: a list of triples')
  }
}
