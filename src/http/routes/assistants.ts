// The Model Context Protocol: one message in, one out, under the token of whoever sends it.

import { userStores, type AskedStores } from '../../mcp/stores.js'
import { answerMessage, type Answered } from '../../mcp/streamable.js'
import { askedCollection, forbidden, scopeOf } from '../access.js'
import { actingUser } from '../auth.js'
import type { Call } from '../call.js'
import { eventHeaders, eventsType } from '../events.js'
import { readJson, type JsonLimits } from '../json.js'
import { isFamiliar, isLoopback } from '../pages.js'
import { user } from '../parameters.js'
import type { Places } from '../places.js'
import { errorForClients, status } from '../problem.js'
import { answer, answerJsonText } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { answerStream, whileConnected, withinTime } from '../stream.js'
import { requestError } from '../target.js'

interface AssistantRoutesOptions extends JsonLimits {
  readonly stores: AskedStores
  /** Whether whoever may change things is offered tools that do. */
  readonly mayWrite: boolean
  /** Nobody is asked for a token. */
  readonly isOpen: boolean
  /** Pages of these may ask. */
  readonly origins: readonly string[] | '*'
  readonly defaultUser: string
  readonly maxQueryMs: number
  readonly exportIdleTimeoutMs: number
  readonly questions: Places
}

export function assistantRoutes(options: AssistantRoutesOptions): readonly Route[] {
  const { stores, mayWrite, defaultUser, maxQueryMs, exportIdleTimeoutMs, questions } = options
  return [
    {
      access: 'read',
      method: 'POST',
      path: '/mcp',
      operation: 'assistant',
      media: ['application/json', eventsType],
      query: { user },
      run: converse,
    },
  ]

  async function converse(exchange: Exchange): Promise<void> {
    const { call, principal, query } = exchange
    checkWhence(call, options)
    const named = query.get('user')
    if (named === '') throw requestError('user', 'must not be empty')
    const isAnyone = principal.user === '*' && named === undefined
    const user = isAnyone ? defaultUser : actingUser(principal, named)
    const message = await readJson(exchange, options)
    const own = userStores(stores, {
      user,
      flow: 'default',
      scope: { ...scopeOf(principal), user },
      collectionOf: (asked) => askedCollection(principal, asked),
    })
    const failures: unknown[] = []
    const takesEvents = call.headers.accept?.includes(eventsType) ?? false
    await whileConnected(call, (signal) =>
      answerMessage(
        { message, headers: protocolHeaders(call), takesEvents, signal },
        {
          stores: own,
          mayWrite: mayWrite && principal.access !== 'read',
          writing: mayWrite
            ? 'a token that may change things is offered it'
            : "whoever runs this server offers it by mcp: 'write'",
          onError: (error) => failures.push(error),
          onRefusal: (error) => {
            if (status[error.code] >= 500) failures.push(error)
            return errorForClients(error)
          },
          bounded: (work) =>
            questions.hold(principal, () => withinTime(maxQueryMs, ({ signal }) => work(signal))),
        },
        (answered) => send(call, answered),
      ),
    )
    // The assistant has its answer; what it was not told is for the host.
    if (failures.length > 0) throw failures[0]
  }

  async function send(call: Call, answered: Answered): Promise<void> {
    const { status } = answered
    if ('events' in answered) {
      await answerStream(
        call,
        eventHeaders,
        answered.events,
        exportIdleTimeoutMs,
        undefined,
        status,
      )
    } else if (answered.text === '') await answer(call, status)
    else await answerJsonText(call, status, answered.text)
  }
}

function protocolHeaders({ headers }: Call): Record<string, string> {
  const ofProtocol = Object.entries(headers).filter(([name]) => name.startsWith('mcp-'))
  return Object.fromEntries(ofProtocol.map(([name, value]) => [name, String(value)]))
}

/**
 * A page in a browser may be led to this server under a name of its own, and asks whatever the browser may: without a
 * token that would be everything.
 * @throws LorekeepError `LK_HTTP_FORBIDDEN`
 */
function checkWhence(
  { headers }: Call,
  { isOpen, origins }: Pick<AssistantRoutesOptions, 'isOpen' | 'origins'>,
): void {
  const { origin } = headers
  const host = typeof headers['host'] === 'string' ? headers['host'] : undefined
  if (isOpen && host !== undefined && !isLoopback(`http://${host}`)) {
    throw forbidden(`Host is '${host}', and a server without tokens is for its own machine`)
  }
  if (isFamiliar({ origin, host }, origins)) return
  throw forbidden(`Origin is '${origin}', which is none of cors.origins`)
}
