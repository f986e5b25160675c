// What an import of objects says of them: flags, and the import request where the input is one.

import { randomUUID } from 'node:crypto'
import type { ObjectImport } from '../../../objects/types.js'
import type { JsonObject } from '../../../types.js'
import { ownUser } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { UsageError } from '../../output/failure.js'

export type ImportTarget = Omit<ObjectImport, 'values'>

export interface TargetOptions extends AccessOptions {
  readonly schema?: string
  readonly collection?: string
  readonly user?: string
  readonly id?: string
  readonly metadata?: JsonObject
}

/** A flag wins over the request. @throws UsageError where neither says it */
export async function importTarget(
  options: TargetOptions,
  request: Readonly<Record<string, unknown>> | undefined,
): Promise<ImportTarget> {
  const given = metadataOf(request)
  const schema_name = options.schema ?? textIn(request ?? {}, 'schema_name') ?? missing('--schema')
  const collection = options.collection ?? textIn(given, 'collection') ?? missing('--collection')
  const metadata = options.metadata ?? (given['metadata'] as JsonObject | undefined)
  return {
    metadata: {
      id: options.id ?? textIn(given, 'id') ?? randomUUID(),
      user: options.user ?? textIn(given, 'user') ?? (await ownUser(options)),
      collection,
      ...(metadata !== undefined && { metadata }),
    },
    schema_name,
  }
}

const known = ['id', 'user', 'collection', 'metadata']

function metadataOf(
  request: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  if (request === undefined) return {}
  const { metadata } = request
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw new Error("'metadata' of the import request is no object")
  }
  const unknown = Object.keys(metadata).find((key) => !known.includes(key))
  if (unknown !== undefined) {
    throw new Error(`'metadata.${unknown}' of the import request is not one of ${known.join(', ')}`)
  }
  return metadata as Readonly<Record<string, unknown>>
}

function textIn(fields: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const { [key]: value } = fields
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw new Error(`'${key}' of the import request is no text`)
}

function missing(flag: string): never {
  throw new UsageError(`${flag} is missing, and the input is no import request that says it`)
}
