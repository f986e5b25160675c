// What the process that is killed does to objects, and what its parent expects to find.

import { hasCode } from '../../src/errors.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import type { Random } from '../fixtures/random.js'

const user = 'alice'
/** One worker each: a collection and a schema of its own, and one schema that all share. */
export const lanes = ['one', 'two', 'three'] as const

export type Step =
  | {
      readonly type: 'import' | 'replace'
      readonly lane: string
      readonly from: number
      readonly size: number
      readonly version: number
    }
  | { readonly type: 'patch'; readonly lane: string; readonly id: number; readonly version: number }
  | { readonly type: 'delete'; readonly lane: string; readonly id: number }
  | { readonly type: 'define'; readonly lane: string; readonly indexes: readonly string[] }
  | { readonly type: 'deleteCollection'; readonly lane: string }

/** Of a lane: id → version, and the indexes of its schema. */
export interface Lane {
  readonly objects: ReadonlyMap<number, number>
  readonly indexes: readonly string[]
}

export const emptyLane: Lane = { objects: new Map(), indexes: [] }

const paths = ['version', 'group', 'tags', 'deep.x', '_id', '_collection', '_updated_at']

export function definitionOf(lane: string, indexes: readonly string[]) {
  return {
    name: `things of ${lane}`,
    fields: {
      version: { type: 'integer', required: true },
      group: { type: 'integer' },
      tags: { type: 'array' },
      deep: { type: 'object' },
    },
    indexes,
  }
}

/** An object is made of its id and version alone. */
export function objectOf(id: number, version: number): JsonObject {
  return {
    id,
    version,
    group: (id * 7 + version) % 5,
    ...((id + version) % 3 > 0 && { tags: ['x', version % 4, `tag ${id % 9}`] }),
    deep: { x: (id + version) % 4 === 0 ? [id, version] : id },
    text: `${id} ${version} `.repeat(id % 12),
  }
}

export function chooseStep(random: Random, lane: string, ids: number, version: number): Step {
  const choice = random.next()
  const id = random.below(ids)
  if (choice < 0.35) {
    const size = random.chance(0.1) ? 3000 : 1 + random.below(random.chance(0.3) ? 400 : 8)
    return { type: random.chance(0.6) ? 'import' : 'replace', lane, from: id, size, version }
  }
  if (choice < 0.6) return { type: 'patch', lane, id, version }
  if (choice < 0.85) return { type: 'delete', lane, id }
  if (choice < 0.96) {
    return { type: 'define', lane, indexes: random.shuffle(paths).slice(0, random.below(5)) }
  }
  return { type: 'deleteCollection', lane }
}

export function after(lane: Lane, step: Step): Lane {
  const objects = new Map(lane.objects)
  switch (step.type) {
    case 'import':
    case 'replace': {
      const ids = Array.from({ length: step.size }, (_, n) => step.from + n)
      // Refused for duplicates.
      if (step.type === 'import' && ids.some((id) => objects.has(id))) return lane
      for (const id of ids) objects.set(id, step.version)
      return { ...lane, objects }
    }
    case 'patch':
      if (!objects.has(step.id)) return lane
      return { ...lane, objects: objects.set(step.id, step.version) }
    case 'delete':
      objects.delete(step.id)
      return { ...lane, objects }
    case 'define':
      return { ...lane, indexes: step.indexes }
    case 'deleteCollection':
      return { ...lane, objects: new Map() }
  }
}

/** Where an import finds an object of its own that is there it changes nothing, and has ended. */
export async function carryOut(objects: ObjectStore, step: Step): Promise<unknown> {
  const { lane } = step
  switch (step.type) {
    case 'import':
    case 'replace': {
      const batch = {
        metadata: { id: 'batch', user, collection: lane },
        schema_name: definitionOf(lane, []).name,
        values: Array.from({ length: step.size }, (_, n) => objectOf(step.from + n, step.version)),
      }
      const onDuplicate = step.type === 'import' ? 'reject' : 'replace'
      return objects.import(batch, { onDuplicate }).catch((error: unknown) => {
        if (!hasCode(error, 'LK_OBJECT_DUPLICATE')) throw error
      })
    }
    case 'patch':
      return objects.patch(lane, step.id, patchOf(step.id, step.version))
    case 'delete':
      return objects.delete(lane, step.id)
    case 'define':
      return objects.defineSchema(definitionOf(lane, step.indexes))
    case 'deleteCollection':
      return objects.deleteCollection(lane)
  }
}

/** What makes any version of an object that one. */
function patchOf(id: number, version: number): JsonObject {
  const { tags = null, ...rest } = objectOf(id, version)
  return { ...rest, tags }
}
