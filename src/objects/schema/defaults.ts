// Puts the defaults of a schema where an object has no such field.

import type { FieldDefinition } from '../types.js'
import type { JsonValue } from '../../types.js'
import { isRecord } from '../../door/wording.js'

type Fields = Readonly<Record<string, FieldDefinition>>

/** Gives the same value where nothing is missing, else a copy. Never changes what it is given. */
type Filler = (value: JsonValue) => JsonValue

/** For an object with these fields; undefined where nothing in them, however deep, has a default. */
export function compileDefaults(fields: Fields): Filler | undefined {
  const steps = Object.entries(fields).flatMap(([name, field]) => {
    const fill = fillerOf(field)
    return field.default === undefined && fill === undefined
      ? []
      : [{ name, default: filledDefault(field, fill), fill }]
  })
  if (steps.length === 0) return undefined
  return (value) => {
    if (!isRecord(value)) return value
    let copy: Record<string, JsonValue> | undefined
    for (const { name, default: ifMissing, fill } of steps) {
      if (!Object.hasOwn(value, name)) {
        if (ifMissing !== undefined) (copy ??= { ...value })[name] = ifMissing
      } else if (fill !== undefined) {
        const before = value[name] as JsonValue
        const after = fill(before)
        if (after !== before) (copy ??= { ...value })[name] = after
      }
    }
    return copy ?? value
  }
}

/** A field's default with the defaults of its own fields in it. */
export function filledDefault(
  field: FieldDefinition,
  fill = fillerOf(field),
): JsonValue | undefined {
  return field.default === undefined || fill === undefined ? field.default : fill(field.default)
}

function fillerOf(field: FieldDefinition): Filler | undefined {
  if (field.properties !== undefined) return compileDefaults(field.properties)
  const fill = field.items && fillerOf(field.items)
  if (fill === undefined) return undefined
  return (value) => {
    if (!Array.isArray(value)) return value
    const elements = value as readonly JsonValue[]
    const filled = elements.map(fill)
    return filled.some((element, i) => element !== elements[i]) ? filled : value
  }
}
