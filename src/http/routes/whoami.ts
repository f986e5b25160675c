// Whom a token stands for: a client that names no user has to know whose things it gets, and whether to ask in SPARQL.

import type { SparqlEngine } from '../../sparql/types.js'
import { actsForAny } from '../access.js'
import { answerJson } from '../reply.js'
import type { Route } from '../routes.js'

interface WhoamiRoutesOptions {
  readonly prefix: string
  readonly defaultUser: string
  readonly sparql: SparqlEngine | undefined
}

export function whoamiRoutes({
  prefix,
  defaultUser,
  sparql,
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
          sparql: sparql?.isInstalled() ?? false,
        })
      },
    },
  ]
}
