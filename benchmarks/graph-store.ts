// Our store with a generated graph in it.

import { Readable } from 'node:stream'
import { LevelBackend } from '../adapters/level/index.js'
import type { Graph } from '../src/graph/types.js'
import { createLorekeep, type Lorekeep } from '../src/index.js'
import { ref, type GeneratedGraph } from './graph-data.js'
import { check } from './measure.js'

export function openOurs(directory: string): Promise<Lorekeep> {
  return createLorekeep({ backend: new LevelBackend(directory) })
}

export function graphOf(keep: Lorekeep): Graph {
  return keep.knowledge.graph({ user: ref.user, cores: [ref.id] })
}

/** Imports it indexed, and closes the store. */
export async function fillOurs(directory: string, graph: GeneratedGraph): Promise<void> {
  await using keep = await openOurs(directory)
  await keep.knowledge.import(ref, Readable.from(graph.chunks()), { index: true })
  await checkOurs(keep, graph)
}

export async function checkOurs(keep: Lorekeep, { triples }: GeneratedGraph): Promise<void> {
  const { state, ...index } = await keep.knowledge.indexState(ref)
  check(state === 'complete' && index.triples === triples, `the index: ${state}, ${index.triples}`)
  // Of several parts each row is looked for in those before: minutes for ten million.
  if (index.parts > 1) return
  const count = await graphOf(keep).count({})
  check(count === triples, `the count of the graph: ${count} of ${triples}`)
}

export async function collect<T>(found: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of found) all.push(one)
  return all
}
