// The table of routes. A group of routes is a file in routes/ that returns a list of these.

import type { Principal } from './auth.js'
import type { HeldBody } from './body-memory.js'
import type { Call } from './call.js'
import type { RouteOperation } from './openapi/operations.js'
import type { Parameters } from './parameters.js'
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
  /** Those that a path has to have; undefined where it may have any. */
  readonly literals: readonly (string | undefined)[]
  readonly routes: Map<string, Found>
}

interface Found {
  readonly route: Route
  readonly formats: readonly { readonly mediaType: string }[]
}

export interface Match {
  readonly pathway: Pathway
  /** @throws LorekeepError `LK_HTTP_REQUEST` where a part is not well encoded */
  readonly parameters: () => ReadonlyMap<string, string>
}

/** By how many segments they have: most are told from a path by that. */
export type Pathways = readonly (readonly Pathway[])[]

export function compile(routes: readonly Route[]): Pathways {
  const pathways = new Map<string, Pathway>()
  for (const route of routes) {
    const { method, path } = route
    const pathway = pathways.get(path) ?? pathwayOf(path)
    if (pathway.routes.has(method)) throw new Error(`two routes for ${method} ${path}`)
    const found = {
      route,
      formats: (route.media ?? ['application/json']).map((mediaType) => ({ mediaType })),
    }
    pathway.routes.set(method, found)
    if (method === 'GET') pathway.routes.set('HEAD', found)
    pathways.set(path, pathway)
  }
  const byCount: Pathway[][] = []
  for (const pathway of pathways.values()) (byCount[pathway.segments.length] ??= []).push(pathway)
  return byCount
}

function pathwayOf(path: string): Pathway {
  const segments = path.split('/')
  const literals = segments.map((segment) => (isParameter(segment) ? undefined : segment))
  return { segments, literals, routes: new Map() }
}

/** `undefined` where no route has that path. A literal segment does not win over a parameter. */
export function match(pathways: Pathways, path: string): Match | undefined {
  const parts = path.split('/')
  const pathway = pathways[parts.length]?.find(({ literals }) => fits(literals, parts))
  return pathway && { pathway, parameters: () => read(pathway, parts) }
}

export function allowedMethods(pathway: Pathway): string {
  return [...pathway.routes.keys(), 'OPTIONS'].join(', ')
}

const isParameter = (segment: string) => segment.startsWith('{')

/** From behind, for they begin alike. */
function fits(literals: Pathway['literals'], parts: readonly string[]): boolean {
  for (let at = parts.length - 1; at >= 0; at--) {
    const literal = literals[at]
    if (literal === undefined ? parts[at] === '' : parts[at] !== literal) return false
  }
  return true
}

function read(
  { segments, literals }: Pathway,
  parts: readonly string[],
): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (let at = 0; at < parts.length; at++) {
    if (literals[at] !== undefined) continue
    // A plus is a plus in a path, and a space only in a query.
    parameters.set((segments[at] as string).slice(1, -1), decodeComponent(parts[at]))
  }
  return parameters
}
