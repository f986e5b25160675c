// The built-in steps by their names, as a configuration composes them.

import type { Problems } from '../../door/problems.js'
import type { FlowStep, Step } from '../types.js'
import { chunkFrom } from './chunk.js'
import { embedFrom } from './embed.js'
import type { EmbedStep } from './embed.js'
import { extract } from './extract.js'
import { isHashing } from './hashing-embedder.js'
import { index } from './index-objects.js'
import { modelOptionsFrom } from '../../openai/configuration.js'
import { openaiExtractor } from './openai/extractor.js'
import { Members } from '../../door/members.js'
import { store } from './store.js'
import type { Embedder } from './types.js'
import { aBase } from './vocabulary.js'

/** What steps of one flow have in common. */
interface Shared {
  /**
   * That of `embed`, by name or as code: entities get vectors of the same kind as chunks. None where no model
   * makes them: words find what they would, and they were twelve of thirteen vectors of a text.
   */
  embedder?: Embedder
}

function share(shared: Shared, embedder: Embedder): void {
  if (!isHashing(embedder)) shared.embedder = embedder
}

const makers = {
  chunk: (reader: Members) => chunkFrom(reader),
  embed: (reader: Members, shared: Shared) => {
    const step = embedFrom(reader)
    share(shared, step.embedder)
    return step
  },
  extract: (reader: Members, { embedder }: Shared) => {
    const type = reader.choice('type', ['offline', 'openai'])
    const concurrency = reader.integer('concurrency', 1, 1000)
    const base = baseFrom(reader)
    return extract({
      ...(type === 'openai' && { extractor: openaiExtractor(modelOptionsFrom(reader)) }),
      ...(embedder !== undefined && { embedder }),
      ...(base !== undefined && { base }),
      ...(concurrency !== undefined && { concurrency }),
    })
  },
  store: (reader: Members) => {
    const base = baseFrom(reader)
    const chunkEmbeddings = reader.boolean('chunkEmbeddings')
    return store({
      ...(base !== undefined && { base }),
      ...(chunkEmbeddings !== undefined && { chunkEmbeddings }),
    })
  },
  index: (reader: Members) => {
    const base = baseFrom(reader)
    return index({ ...(base !== undefined && { base }) })
  },
}

type BuiltInName = keyof typeof makers

export const builtInNames = Object.keys(makers) as readonly BuiltInName[]

export function isBuiltIn(name: string): name is BuiltInName {
  return Object.hasOwn(makers, name)
}

/**
 * The steps of a flow that are built in, each in its place, `undefined` where one is of code.
 * What is wrong with their options is added to `problems`.
 */
export function builtInSteps(
  steps: readonly FlowStep[],
  problems: Problems,
  code: ReadonlyMap<string, Step> | undefined,
): readonly (Step | undefined)[] {
  const shared: Shared = {}
  return steps.map(({ name, options = {}, code: isCode }, place) => {
    if (isCode === true || !isBuiltIn(name)) {
      const { embedder } = (code?.get(name) ?? {}) as Partial<EmbedStep>
      if (typeof embedder === 'function') share(shared, embedder)
      return undefined
    }
    const reader = new Members(options, `steps[${place}].options`, problems)
    const step = makers[name](reader, shared)
    reader.end()
    return step
  })
}

function baseFrom(reader: Members): string | undefined {
  return reader.take('base', aBase)
}
