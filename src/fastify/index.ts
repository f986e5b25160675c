// lorekeep/fastify: the endpoints as a plugin. Nothing of Fastify is imported but its types.

import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  RegisterOptions,
} from 'fastify'
import { answered, NodeCall } from '../http/node/call.js'
import { checkHandlerOptions, sharedBy } from '../http/options.js'
import type { HandlerOptions } from '../http/options.js'
import { Router } from '../http/router.js'
import { splitTarget } from '../http/target.js'

/**
 * Those of createHandler(), and what every plugin may be registered with. `authenticate` and `onError` get the request
 * of Fastify, after all hooks up to `preHandler` have seen it.
 */
export interface FastifyLorekeepOptions
  extends HandlerOptions<FastifyRequest>, Pick<RegisterOptions, 'logLevel' | 'logSerializers'> {
  /** In front of every path but /healthz, /readyz, /metrics and /mcp. Default `/api/v1`; may be empty. */
  readonly prefix?: string
}

/**
 * Mounts the stores below the prefix of the instance that it is registered with. Bodies are left to lorekeep there, and
 * answers go past the reply, with the headers that hooks have given it; everywhere else parsers stay as they are. A
 * route that the app has already is the app's. Closing the app ends streams of events.
 * @throws TypeError for options that cannot be
 */
export const fastifyLorekeep: FastifyPluginAsync<FastifyLorekeepOptions> = async (app, given) => {
  const { logLevel, logSerializers, ...options } = given
  checkHandlerOptions('fastifyLorekeep()', options)
  const { prefix = '/api/v1', signal, onError = logError } = options
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const ending = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal])
  const whole = { ...options, onError, signal: ending }
  const mount = app.prefix.replace(/\/$/, '')
  const shared = sharedBy(whole)
  const router = new Router(whole, mount + prefix, shared)

  const answer = async (request: FastifyRequest, reply: FastifyReply, path: string) => {
    reply.hijack()
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    await router.answer(new NodeCall(request.raw, reply.raw, () => path), request)
    await answered(reply.raw, shared.limits.exportIdleTimeoutMs)
  }

  const ofRoutes = { ...(logLevel && { logLevel }), ...(logSerializers && { logSerializers }) }
  await app.register(
    async (scope) => {
      leaveBodies(scope)
      const { length } = mount.split('/')
      scope.all('/*', (request, reply) => {
        // What the app mounts this under may have parameters.
        const { path } = splitTarget(request.raw.url ?? '/')
        const own = path.split('/').slice(length)
        return answer(request, reply, [mount, ...own].join('/'))
      })
    },
    { ...ofRoutes, prefix },
  )
  await app.register(async (scope) => {
    leaveBodies(scope)
    for (const path of ['/healthz', '/readyz', '/metrics', '/mcp']) {
      const isThere = ['GET', 'POST'].some((method) => app.hasRoute({ method, url: mount + path }))
      if (!router.has(path) || isThere) continue
      scope.all(path, ofRoutes, (request, reply) => answer(request, reply, path))
    }
  })
}

/** Without a parser that does so, what nobody parses is refused. */
function leaveBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
}

function logError(error: unknown, info: { requestId: string; request: FastifyRequest }): void {
  info.request.log.error({ err: error, requestId: info.requestId }, 'lorekeep could not answer')
}

// As fastify-plugin does it: the prefix is for us to read, and an older Fastify says that it is too old.
Object.assign(fastifyLorekeep, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'lorekeep',
  [Symbol.for('plugin-meta')]: { name: 'lorekeep', fastify: '5.x' },
})
