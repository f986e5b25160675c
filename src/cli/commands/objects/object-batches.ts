// Batches of the objects of an input, and what becomes of one that is refused.

import { LorekeepError } from '../../../errors.js'
import type { ObjectImportResult } from '../../../objects/types.js'
import { BrokenInput } from '../../input/json-splitter.js'
import type { InputObject } from '../../input/object-input.js'
import type { Refusal } from './refusal-report.js'
import type { Problem } from '../../../door/problems.js'

/** A batch is cut before it is this long, however few objects it has. */
const maxBatchLength = 8 * 1024 * 1024

export interface Batch {
  readonly objects: readonly InputObject[]
  readonly ids: ReadonlySet<string>
  /** The index of the object after its last. */
  readonly end: number
}

/**
 * No batch has an id twice, so that it makes no difference where one ends and the next begins.
 * Where the input breaks, what came before is a batch yet.
 */
export async function* batchesOf(
  objects: AsyncIterable<InputObject>,
  size: number,
  idField: string,
): AsyncGenerator<Batch, void, undefined> {
  let batch = emptyBatch()
  let length = 0
  try {
    for await (const object of objects) {
      const id = idOf(object, idField)
      const isFull = batch.objects.length === size || length + object.text.length > maxBatchLength
      if (batch.objects.length > 0 && (isFull || (id !== null && batch.ids.has(String(id))))) {
        yield batch
        batch = emptyBatch()
        length = 0
      }
      batch.objects.push(object)
      batch.end = object.index + 1
      if (id !== null) batch.ids.add(String(id))
      length += object.text.length
    }
  } catch (error) {
    if (error instanceof BrokenInput && batch.objects.length > 0) yield batch
    throw error
  }
  if (batch.objects.length > 0) yield batch
}

const emptyBatch = () => ({ objects: [] as InputObject[], ids: new Set<string>(), end: 0 })

/**
 * Imports objects, less those that are refused: each time a batch is, the rest of it is tried
 * again. Gives the refusals in the order of the input.
 * @throws whatever else stands in the way of an import
 */
export async function importWithoutBad(
  objects: readonly InputObject[],
  idField: string,
  send: (objects: readonly InputObject[]) => Promise<ObjectImportResult>,
): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  const refuse = (object: InputObject, errors: readonly Problem[]) =>
    refusals.push({ object, id: idOf(object, idField), errors })

  const attempt = async (objects: readonly InputObject[]): Promise<void> => {
    let rest = objects
    while (rest.length > 0) {
      try {
        await send(rest)
        return
      } catch (error) {
        if (isTooLarge(error) && rest.length > 1) {
          const half = Math.ceil(rest.length / 2)
          await attempt(rest.slice(0, half))
          await attempt(rest.slice(half))
          return
        }
        const bad = problemsOf(error, rest, idField)
        if (bad.size === 0) throw error
        for (const [object, errors] of bad) refuse(object, errors)
        rest = rest.filter((object) => !bad.has(object))
      }
    }
  }

  for (const object of objects) {
    if (object.flaw !== undefined) refuse(object, [{ path: '', message: object.flaw }])
  }
  await attempt(objects.filter(({ flaw }) => flaw === undefined))
  return refusals.sort((a, b) => a.object.index - b.object.index)
}

function idOf({ value }: InputObject, idField: string): string | number | null {
  const id = (value as Readonly<Record<string, unknown>> | null)?.[idField]
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** Which of the objects a refusal is about, and what it says of each. */
function problemsOf(
  error: unknown,
  objects: readonly InputObject[],
  idField: string,
): ReadonlyMap<InputObject, Problem[]> {
  const bad = new Map<InputObject, Problem[]>()
  const { code, details } = problemOf(error)
  if (code === 'LK_OBJECT_INVALID') {
    for (const { index, path, message } of listOf(details['errors'])) {
      const object = typeof index === 'number' ? objects[index] : undefined
      if (object === undefined) continue
      const errors = bad.get(object) ?? []
      errors.push({ path: textOf(path), message: textOf(message) })
      bad.set(object, errors)
    }
  } else if (code === 'LK_OBJECT_DUPLICATE') {
    const { ids } = details
    const taken = new Set(Array.isArray(ids) ? ids.map(String) : [])
    for (const object of objects) {
      const id = idOf(object, idField)
      if (id === null || !taken.has(String(id))) continue
      bad.set(object, [{ path: idField, message: 'the collection has an object of this id' }])
    }
  } else if (isTooLarge(error) && objects[0] !== undefined) {
    bad.set(objects[0], [{ path: '', message: (error as Error).message }])
  }
  return bad
}

function isTooLarge(error: unknown): boolean {
  return ['LK_OBJECT_TOO_LARGE', 'LK_HTTP_TOO_LARGE'].includes(problemOf(error).code)
}

function problemOf(error: unknown): Pick<LorekeepError, 'details'> & { readonly code: string } {
  return error instanceof LorekeepError ? error : { code: '', details: {} }
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return []
  return value.filter((entry) => typeof entry === 'object' && entry !== null)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
