// What the page reads of a document.

import type { JsonObject, JsonValue } from '../../../types.js'

interface Media {
  readonly schema: JsonObject
  readonly example?: JsonValue
}
export type Content = Readonly<Record<string, Media>>
export interface Parameter {
  readonly name: string
  readonly in: string
  readonly description?: string
  readonly required?: boolean
  readonly schema: JsonObject
  readonly example?: JsonValue
}
export interface Answer {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly description: string }>>
  readonly content?: Content
}
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
}
export interface Told {
  readonly info: { readonly title: string; readonly summary: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> }
}
