// What can be asked for by a socket, and how it is answered.

import { own } from '../../door/members.js'
import { LorekeepError } from '../../errors.js'
import type { FlowQueue } from '../../flow/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import type { JsonObject } from '../../types.js'
import { checkMayChange, scopeOf } from '../access.js'
import type { Principal } from '../auth.js'
import type { Places } from '../places.js'
import { namedUser, withoutNulls } from '../reference/caller.js'
import type { HasFlow } from '../reference/flows.js'
import { createKnowledgeService, refOf } from '../reference/knowledge.js'
import { createQuestionServices } from '../reference/questions.js'
import { eraOf } from '../reference/terms.js'
import { documentOf } from '../reference/texts.js'
import { withinTime } from '../stream.js'
import { requestError } from '../target.js'
import { answersOf, messagesOf } from './core-messages.js'
import type { Puts } from './puts.js'

export interface ServiceParts {
  readonly knowledge: KnowledgeStore | undefined
  readonly flows: FlowQueue | undefined
  readonly hasFlow: HasFlow
  readonly defaultUser: string
  readonly maxGraphResults: number
  readonly maxQueryMs: number
  readonly questions: Places
  readonly imports: Places
  readonly exports: Places
}

export interface ServiceRequest {
  readonly principal: Principal
  readonly flow: unknown
  /** With the workspace of its envelope. */
  readonly body: JsonObject
  /** The client has begun with a token in a message, as those from 2.5 on do. */
  readonly isNewer: boolean
  /** Aborts when the client has gone. */
  readonly gone: AbortSignal
  /** What this socket has put. */
  readonly puts: Puts
  /** Resolves when the system has taken it; the last one is what `serve` returns. */
  readonly answer: (text: string) => Promise<void>
}

/** Gives the JSON of the last answer. @throws LorekeepError */
export type Service = (request: ServiceRequest) => Promise<string>

/** @throws LorekeepError `LK_HTTP_NOT_FOUND` for a name that is not served */
export type FindService = (name: string) => Service

export function createServices(parts: ServiceParts): FindService {
  const { knowledge, flows } = parts
  const services: Readonly<Record<string, Service>> = {
    ...(knowledge && knowledgeServices(parts, knowledge)),
    ...(flows && { 'text-load': textService(flows) }),
  }
  return (name) => {
    const service = own(services, name)
    if (service !== undefined) return service
    const names = Object.keys(services).join(', ')
    throw new LorekeepError('LK_HTTP_NOT_FOUND', `there is no service '${name}' here, but ${names}`)
  }
}

function knowledgeServices(
  parts: ServiceParts,
  knowledge: KnowledgeStore,
): Readonly<Record<string, Service>> {
  const { defaultUser, maxQueryMs, imports, exports } = parts
  const ofCores = { ...parts, knowledge }
  const operate = createKnowledgeService(ofCores, 'or put-kg-core, or get-kg-core')
  const ask = createQuestionServices(ofCores)

  const question =
    (name: keyof typeof ask): Service =>
    ({ principal, flow, body, isNewer, gone }) => {
      const run = (work: (signal: AbortSignal) => Promise<string>) =>
        withinTime(maxQueryMs, (time) => work(AbortSignal.any([time.signal, gone])))
      return ask[name]({ principal, flow: flowOf(flow), body, isNewer, run })
    }

  return {
    knowledge: async (request) => {
      const { operation } = request.body
      if (operation === 'put-kg-core') return putCore(request)
      if (operation === 'get-kg-core') return getCore(request)
      return JSON.stringify(await operate(request.principal, request.body))
    },
    triples: question('triples'),
    'graph-embeddings': question('graph-embeddings'),
  }

  /**
   * Each message is an import of its own that adds to the core, durable when it is answered: a put has
   * no end at which all could be brought in at once.
   */
  async function putCore({ principal, body: sent, puts }: ServiceRequest): Promise<string> {
    checkMayChange(principal)
    const body = withoutNulls(sent)
    const ref = refOf(body, namedUser(principal, body, defaultUser))
    const { messages, skipped } = messagesOf(body, ref.id)
    // Where the client left, it is stored all the same: it was sent, all of it.
    if (messages.length > 0) {
      await puts.inTurn(() => imports.hold(principal, () => puts.write(knowledge, ref, messages)))
    }
    return JSON.stringify(skipped.length > 0 ? { skipped } : {})
  }

  async function getCore(request: ServiceRequest): Promise<string> {
    const { principal, isNewer, gone: signal, answer } = request
    const body = withoutNulls(request.body)
    const ref = refOf(body, namedUser(principal, body, defaultUser))
    const shape = { era: eraOf(body, isNewer), isFlat: isNewer && body['user'] === undefined }
    await exports.hold(principal, async () => {
      for await (const message of knowledge.messages(ref, { signal })) {
        for (const text of answersOf(message, shape)) await answer(text)
      }
    })
    return '{"eos":true}'
  }
}

function textService(flows: FlowQueue): Service {
  return async ({ principal, flow, body }) => {
    checkMayChange(principal)
    const scope = scopeOf(principal)
    await flows.load(flowOf(flow), documentOf(principal, body), { scope })
    return '{}'
  }
}

function flowOf(flow: unknown): string {
  if (typeof flow === 'string' && flow !== '') return flow
  throw requestError('flow', 'must be the id of a flow')
}
