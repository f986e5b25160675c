// What a document says several times, once: as a component that is referred to. Nothing is lost by it.

import type { JsonObject, JsonValue } from '../../types.js'

/** Headers first: answers that differed in nothing else are the same then as well. */
const groups = ['headers', 'parameters', 'requestBodies', 'responses'] as const
type Group = (typeof groups)[number]

type Change = (value: JsonObject, name: string) => JsonObject

export function shared(document: JsonObject): JsonObject {
  return groups.reduce(shareIn, document)
}

function shareIn(document: JsonObject, group: Group): JsonObject {
  const counts = new Map<string, number>()
  inEach(document, group, (value) => {
    const text = JSON.stringify(value)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    return value
  })
  const components: Record<string, JsonObject> = {}
  const names = new Map<string, string>()
  const made = inEach(document, group, (value, given) => {
    const text = JSON.stringify(value)
    if (counts.get(text) === 1) return value
    let name = names.get(text)
    if (name === undefined) {
      name = freeName(components, given.replace(/[^\w.-]/g, '-'))
      names.set(text, name)
      components[name] = value
    }
    return { $ref: `#/components/${group}/${name}` }
  })
  const others = document['components'] as JsonObject
  return { ...made, components: { ...others, [group]: components } }
}

function freeName(taken: object, wanted: string): string {
  let name = wanted
  for (let n = 2; Object.hasOwn(taken, name); n++) name = `${wanted}.${n}`
  return name
}

/** The document with something else in place of everything of a group, wherever an operation has it. */
function inEach(document: JsonObject, group: Group, change: Change): JsonObject {
  const paths = mapOf(document['paths'], (path) =>
    mapOf(path, (operation) => inOperation(operation, group, change)),
  )
  return { ...document, paths }
}

function inOperation(operation: JsonObject, group: Group, change: Change): JsonObject {
  const { parameters, requestBody, responses } = operation
  switch (group) {
    case 'parameters':
      if (parameters === undefined) return operation
      return {
        ...operation,
        parameters: (parameters as readonly JsonObject[]).map((parameter) =>
          change(parameter, String(parameter['name'])),
        ),
      }
    case 'requestBodies':
      if (requestBody === undefined) return operation
      return { ...operation, requestBody: change(requestBody as JsonObject, 'Body') }
    case 'responses':
      return {
        ...operation,
        responses: mapOf(responses, (answer, status) => change(answer, `Status${status}`)),
      }
    case 'headers':
      return {
        ...operation,
        responses: mapOf(responses, (answer) => ({
          ...answer,
          headers: mapOf(answer['headers'], change),
        })),
      }
  }
}

function mapOf(members: JsonValue | undefined, change: Change): JsonObject {
  const all = Object.entries(members as Readonly<Record<string, JsonObject>>)
  return Object.fromEntries(all.map(([name, value]) => [name, change(value, name)]))
}
