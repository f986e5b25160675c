import { MemoryBackend } from '../../../adapters/memory.js'
import type { FlowDocument, StepContext } from '../../../src/flow/types.js'
import type { Chunk, Entity, ExtractOutput } from '../../../src/flow/steps/types.js'
import { defaultBase } from '../../../src/flow/steps/vocabulary.js'
import type { Lorekeep, LorekeepOptions } from '../../../src/lorekeep.js'
import type { CoreMessage, Term, Triple } from '../../../src/types.js'
import { openStore } from '../../fixtures/stores.js'

export const uri = (v: string): Term => ({ v, e: true })
export const literal = (v: string): Term => ({ v, e: false })

const dcterms = 'http://purl.org/dc/terms/'

export function documentOf(fields: Partial<FlowDocument> = {}): FlowDocument {
  const id = fields.id ?? 'urn:letters:1'
  return {
    id,
    user: 'alice',
    collection: 'letters',
    metadata: [{ s: uri(id), p: uri(`${dcterms}title`), o: literal('A letter 🦉') }],
    text: 'Ada met Bob in Oslo. 🦉 Bob went home. Ada stayed.',
    ...fields,
  }
}

const entityUri = (name: string) => `http://trustgraph.ai/e/${name}`

/** What the steps before would have found: a chunk of each sentence, an entity of each name. */
export function knowledgeOf({ text }: FlowDocument, names = ['Ada', 'Bob', 'Oslo']): ExtractOutput {
  const chunks: Chunk[] = []
  for (const { index, 0: sentence } of text.matchAll(/[^.]+\.\s*/g)) {
    chunks.push({ index: chunks.length, start: index, end: index + sentence.length })
  }
  const entities: Entity[] = names.map((name, n) => ({
    uri: entityUri(name.toLowerCase()),
    name,
    ...(name === 'Oslo' && { definition: 'A city' }),
    chunks: chunks
      .filter(({ start, end }) => text.slice(start, end).includes(name))
      .map(({ index }) => index),
    vector: Float32Array.of(n, 0.1),
  }))
  const triples = [
    { s: uri(entityUri('ada')), p: uri('http://trustgraph.ai/e/met'), o: uri(entityUri('bob')) },
  ]
  const vectors = chunks.map(({ index }) => [index, 0.5, -1])
  return { chunks, vectors, entities, triples }
}

interface Test {
  testdir(): string
  teardown(fn: () => Promise<void>): unknown
}

export function openMemory(t: Test, options: Partial<LorekeepOptions> = {}) {
  return openStore(t, new MemoryBackend(), options)
}

export function contextOf(
  { knowledge, objects }: Pick<Lorekeep, 'knowledge' | 'objects'>,
  document: FlowDocument,
  options: Partial<StepContext> = {},
): StepContext {
  const { signal } = new AbortController()
  const progress = () => {}
  const fields = { document, knowledge, objects, base: defaultBase, signal, progress }
  return { job: 'job-1', flow: 'default', attempt: 1, ...fields, ...options }
}

export async function messagesOf(
  { knowledge }: Lorekeep,
  user: string,
  id: string,
): Promise<CoreMessage[]> {
  const messages: CoreMessage[] = []
  for await (const message of knowledge.messages({ user, id })) messages.push(message)
  return messages
}

export async function triplesOf(keep: Lorekeep, user: string, id: string): Promise<Triple[]> {
  const messages = await messagesOf(keep, user, id)
  return messages.flatMap(([type, data]) => (type === 't' ? [...data.t] : []))
}

/** Both schemas' objects, by the order of their ids, without times. */
export async function storedObjects({ objects }: Lorekeep) {
  const found = []
  for (const schema_name of ['lorekeep_chunk', 'lorekeep_entity']) {
    if ((await objects.schema(schema_name)) === undefined) continue
    for await (const object of objects.find({ schema_name, sort: { _id: 'asc' } })) {
      const { _created_at, _updated_at, _metadata, _version, ...rest } = object
      found.push(rest)
    }
  }
  return found
}
