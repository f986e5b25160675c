// The table of routes. A group of routes is a file in routes/ that returns a list of these.

import type { Principal } from './auth.js'
import type { HeldBody } from './body-memory.js'
import type { Call } from './call.js'
import type { RouteOperation } from './openapi/operations.js'
import type { Parameter, Parameters } from './parameters.js'
import { decodeComponent } from './target.js'

/** A request whose sender is known, and what it asks for. */
export interface Exchange {
  readonly call: Call
  readonly requestId: string
  readonly principal: Principal
  /** Where a body that is read as a whole gets its memory. */
  readonly memory: HeldBody
  /** The parts of the path in braces, percent-decoded; never empty. */
  readonly parameters: ReadonlyMap<string, string>
  /** Without what the route says may be repeated. */
  readonly query: ReadonlyMap<string, string>
}

/** `path` is a whole path whose segments in braces match any one segment: `/cores/{id}`. */
export type Route =
  | {
      /** A principal that may only read gets no further than here with a `change`. */
      readonly access: 'read' | 'change'
      readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
      readonly path: string
      /** What the document says of it, in openapi/: what it takes and answers. */
      readonly operation: RouteOperation
      /** What its query may have; anything else is refused. Default: nothing. */
      readonly query?: Parameters
      /**
       * Of its answers, the first of which is preferred; JSON by default. Who accepts none of them is refused. Empty
       * where there is nothing to refuse, or the route sees to it.
       */
      readonly media?: readonly string[]
      /** What it is about has versions: it looks at conditions itself. */
      readonly versions?: true
      readonly run: (exchange: Exchange) => Promise<void>
    }
  | {
      /** Runs without authentication, and learns nothing of the request but the request. */
      readonly access: 'open'
      readonly method: 'GET'
      readonly path: string
      readonly operation: RouteOperation
      readonly query?: never
      readonly media?: readonly string[]
      readonly run: (call: Call) => Promise<void>
    }

/** One path, and what it answers to: method → route. HEAD is where GET is. */
export interface Pathway {
  readonly segments: readonly string[]
  readonly routes: Map<string, Found>
}

interface Found {
  readonly route: Route
  /** Names that its query may have, once each. */
  readonly single: readonly string[]
  /** Names that it may have more than once. */
  readonly repeatable: readonly string[]
  readonly formats: readonly { readonly mediaType: string }[]
}

export interface Match {
  readonly pathway: Pathway
  /** @throws LorekeepError `LK_HTTP_REQUEST` where a part is not well encoded */
  readonly parameters: () => ReadonlyMap<string, string>
}

export function compile(routes: readonly Route[]): readonly Pathway[] {
  const pathways = new Map<string, Pathway>()
  for (const route of routes) {
    const { method, path } = route
    const pathway = pathways.get(path) ?? { segments: path.split('/'), routes: new Map() }
    if (pathway.routes.has(method)) throw new Error(`two routes for ${method} ${path}`)
    const names = Object.entries<Parameter>(route.query ?? {})
    const namesOf = (isMeant: (parameter: Parameter) => boolean) =>
      names.filter(([, parameter]) => isMeant(parameter)).map(([name]) => name)
    const found = {
      route,
      single: namesOf(({ repeatable }) => repeatable === undefined),
      repeatable: namesOf(({ repeatable }) => repeatable === true),
      formats: (route.media ?? ['application/json']).map((mediaType) => ({ mediaType })),
    }
    pathway.routes.set(method, found)
    if (method === 'GET') pathway.routes.set('HEAD', found)
    pathways.set(path, pathway)
  }
  return [...pathways.values()]
}

/** `undefined` where no route has that path. A literal segment does not win over a parameter. */
export function match(pathways: readonly Pathway[], path: string): Match | undefined {
  const parts = path.split('/')
  for (const pathway of pathways) {
    const { segments } = pathway
    if (segments.length !== parts.length) continue
    if (segments.every((segment, at) => fits(segment, parts[at]))) {
      return { pathway, parameters: () => read(segments, parts) }
    }
  }
  return undefined
}

export function allowedMethods(pathway: Pathway): string {
  return [...pathway.routes.keys(), 'OPTIONS'].join(', ')
}

const isParameter = (segment: string) => segment.startsWith('{')

function fits(segment: string, part = ''): boolean {
  return isParameter(segment) ? part !== '' : part === segment
}

function read(segments: readonly string[], parts: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [at, segment] of segments.entries()) {
    // A plus is a plus in a path, and a space only in a query.
    if (isParameter(segment)) parameters.set(segment.slice(1, -1), decodeComponent(parts[at]))
  }
  return parameters
}
