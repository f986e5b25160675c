// Every operation by its name: what routes name, and the document has.

import { coreOperations } from './operations/cores.js'
import { flowOperations } from './operations/flows.js'
import { graphOperations } from './operations/graph.js'
import { objectOperations } from './operations/objects.js'
import { referenceOperations } from './operations/reference-system.js'
import { serviceOperations } from './operations/service.js'
import { sparqlOperations } from './operations/sparql.js'
import type { Operation } from './operation.js'

const all = {
  ...coreOperations,
  ...graphOperations,
  ...sparqlOperations,
  ...objectOperations,
  ...flowOperations,
  ...referenceOperations,
  ...serviceOperations,
}

export type RouteOperation = keyof typeof all

export const operations: Readonly<Record<RouteOperation, Operation>> = all
