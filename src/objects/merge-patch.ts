import type { JsonValue } from '../types.js'
import { isRecord } from '../door/wording.js'

/** The target as a JSON Merge Patch changes it (RFC 7396); neither is changed itself. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isRecord(patch)) return patch
  const result: Record<string, JsonValue> = {}
  if (isRecord(target)) for (const name of Object.keys(target)) set(result, name, target[name])
  for (const name of Object.keys(patch)) {
    const change = patch[name] as JsonValue
    if (change === null) delete result[name]
    else
      set(result, name, mergePatch(Object.hasOwn(result, name) ? result[name] : undefined, change))
  }
  return result
}

/** An own member, whatever the name: `__proto__` is refused afterwards, and must be seen for that. */
function set(object: Record<string, JsonValue>, name: string, value: JsonValue | undefined): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}
