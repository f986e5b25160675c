// Whom a token stands for: a client that names no user has to know whose things it gets, and what there is to ask.

import type { SparqlEngine } from '../../sparql/types.js'
import { actsForAny } from '../access.js'
import { answerJson } from '../reply.js'
import type { Route } from '../routes.js'
import type { StoreName } from '../stores.js'

interface WhoamiRoutesOptions {
  readonly prefix: string
  readonly defaultUser: string
  readonly sparql: SparqlEngine | undefined
  /** That the handler has. */
  readonly stores: readonly StoreName[]
}

export function whoamiRoutes({
  prefix,
  defaultUser,
  sparql,
  stores,
}: WhoamiRoutesOptions): readonly Route[] {
  return [
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/whoami`,
      operation: 'whoami',
      run: async ({ call, principal }) => {
        const { user, collections, shared, access } = principal
        await answerJson(call, 200, {
          user,
          ...(actsForAny(principal) && { defaultUser }),
          collections,
          shared,
          access,
          stores,
          sparql: sparql?.isInstalled() ?? false,
        })
      },
    },
  ]
}
