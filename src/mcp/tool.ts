// What a tool is: its declaration for assistants, and what it does.

import type { JsonObject, JsonValue } from '../types.js'
import { defaultTokens, maxTokens, type Answer, type Bounded } from './bounds.js'
import { readArguments, schemaOf, type Arguments, type Fields } from './fields.js'
import type { UserStores } from './stores.js'

/** Whom a tool works for. */
export interface Asker {
  readonly stores: UserStores
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Tells how far it is, where that was asked for. Each telling is further than the last. */
  readonly tell: (progress: Progress) => void
}

export interface Progress {
  readonly progress: number
  readonly total: number
  readonly message: string
}

export interface Tool {
  readonly name: string
  /** It changes what is stored. */
  readonly writes: boolean
  /** It may take its time, with next to no work. */
  readonly waits: boolean
  /** As `tools/list` has it. */
  readonly declaration: {
    readonly name: string
    readonly description: string
    readonly inputSchema: JsonObject & { readonly type: 'object' }
    readonly outputSchema: JsonObject & { readonly type: 'object' }
    readonly annotations: JsonObject
  }
  /** @throws LorekeepError `LK_TOOL_ARGUMENTS`, and what the stores reject with */
  run(given: unknown, asker: Asker): Promise<Answer>
}

interface ToolDefinition<F extends Fields> {
  readonly name: string
  readonly description: string
  readonly fields: F
  /** The members of its object; those that answers() adds are not named. */
  readonly output: Readonly<Record<string, JsonObject>>
  /** Names of those that every answer has. */
  readonly always: readonly string[]
  readonly writes?: true
  readonly waits?: true
  /** `tokens` is what the answer may have. */
  readonly run: (given: Arguments<F>, asker: Asker, tokens: number) => Promise<Bounded>
}

const bound = { max_tokens: maxTokens }

export function tool<F extends Fields>(definition: ToolDefinition<F>): Tool {
  const { name, description, output, always, writes = false, waits = false, run } = definition
  const fields = { ...definition.fields, ...bound }
  return {
    name,
    writes,
    waits,
    declaration: {
      name,
      description,
      inputSchema: schemaOf(fields),
      outputSchema: { type: 'object', properties: output, required: always as JsonValue[] },
      annotations: writes
        ? { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
        : { readOnlyHint: true },
    },
    async run(given, asker) {
      const { max_tokens, ...asked } = readArguments<Fields>(given, fields)
      const tokens = (max_tokens ?? defaultTokens) as number
      const bounded = await run(asked as Arguments<F>, asker, tokens)
      return bounded(tokens)
    },
  }
}

/** Members of objects that list something. */
export const ofLists = { truncated: { type: 'boolean' }, next: { type: 'string' } }

export const aText = { type: 'string' }
export const aCount = { type: 'integer' }

export function listOf(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return { type: 'array', items: { type: 'object', properties } }
}
