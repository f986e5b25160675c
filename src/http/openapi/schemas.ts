// The schemas that the document has under names.

import type { Schema } from './schema.js'
import { coreSchemas } from './schemas/cores.js'
import { flowSchemas } from './schemas/flows.js'
import { objectSchemas } from './schemas/objects.js'
import { serviceSchemas } from './schemas/service.js'

export const schemas: Readonly<Record<string, Schema>> = {
  ...coreSchemas,
  ...objectSchemas,
  ...flowSchemas,
  ...serviceSchemas,
}
