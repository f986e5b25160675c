// A workspace of the reference system into a store: its graphs as cores, its texts as documents.

import { crc32 } from 'node:zlib'
import { limitsOf, rulesOf } from '../door/limits.js'
import { checkArgument, checkOptions } from '../door/options.js'
import { shortText } from '../door/problems.js'
import {
  aFlag,
  aFunction,
  aRule,
  aSignal,
  aText,
  anIterable,
  oneOf,
  optionsOf,
  withMethods,
} from '../door/rules.js'
import { LorekeepError } from '../errors.js'
import type { EncodedDocument, FlowQueue } from '../flow/types.js'
import type { KnowledgeStore } from '../knowledge/types.js'
import { importRdf } from '../rdf/import.js'
import { rdfLosses } from '../rdf/parse.js'
import { openArchive } from './archive.js'
import type { Archive } from './archive.js'
import { checkMembers } from './check.js'
import type { Contents } from './check.js'
import { damaged, inMember } from './faults.js'
import { gunzipped } from './gunzip.js'
import { readAll, readJson } from './json-member.js'
import { readDescription } from './library.js'
import type { Description, Library } from './library.js'
import { workspaceLimits } from './limits.js'
import { graphOf, memberOf } from './members.js'
import type { Member } from './members.js'
import { readTar } from './tar.js'
import type {
  DocumentCounts,
  ImportedCore,
  WorkspaceLimits,
  WorkspaceOptions,
  WorkspaceProgress,
  WorkspaceSource,
  WorkspaceSummary,
  WorkspaceTarget,
} from './types.js'

/** What createLorekeep() gives; without a `flow` the flows are not asked. */
export interface WorkspaceStores {
  readonly knowledge: Pick<KnowledgeStore, 'write'>
  readonly flows: Pick<FlowQueue, 'get' | 'load' | 'documents' | 'jobs'>
}

const workspaceOptions = {
  user: aText,
  flow: aText,
  collection: aText,
  mode: oneOf('append', 'replace'),
  loss: oneOf(...rdfLosses),
  index: aFlag,
  limits: optionsOf<WorkspaceLimits>(rulesOf(workspaceLimits)),
  signal: aSignal,
  onProgress: aFunction,
}

const aSource = aRule<WorkspaceSource>(
  'the path of a file, its bytes, or a readable stream',
  (value) => typeof value === 'string' || value instanceof URL || anIterable.holds(value),
)
const aLorekeep = aRule<WorkspaceStores>('what createLorekeep() gives', (value) => {
  const { knowledge, flows } = (value ?? {}) as Partial<WorkspaceStores>
  return (
    withMethods<WorkspaceStores['knowledge']>('', 'write').holds(knowledge) &&
    withMethods<WorkspaceStores['flows']>('', 'get', 'load', 'documents', 'jobs').holds(flows)
  )
})

/**
 * Imports an archive of a workspace (`.tgx`), which is read twice: first all of it is checked, and
 * nothing stored. Then each collection becomes a core, all of it or nothing, and each text a document
 * in the queue. What fails in between leaves those that were done; to import it again goes on there.
 * @throws LorekeepError `LK_WORKSPACE_*`, `LK_RDF_FORMAT`, `LK_RDF_LOSS`, `LK_PEER_MISSING`,
 *   `LK_FLOW_NOT_FOUND`, `LK_FLOW_INACTIVE`, `LK_FLOW_FULL`, and what cores are refused with
 * @throws what the source fails with, or the reason of `signal`
 * @throws TypeError for arguments that cannot be
 */
export async function importWorkspace(
  keep: WorkspaceStores,
  source: WorkspaceSource,
  options: WorkspaceOptions,
): Promise<WorkspaceSummary> {
  checkArgument('the first argument of importWorkspace()', keep, aLorekeep)
  checkArgument('the source of importWorkspace()', source, aSource)
  const { knowledge, flows } = keep
  return importInto(source, options, {
    async checkFlow(id) {
      const flow = await flows.get(id)
      const details = { flow: id }
      if (flow === undefined) throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${id}'`, { details })
      if (!flow.active) throw new LorekeepError('LK_FLOW_INACTIVE', `'${id}'`, { details })
    },
    write: (ref, messages, { signal, ...options }) =>
      knowledge.write(ref, messages, { ...options, ...(signal && { signal }) }),
    async *known(flow, user) {
      for await (const { document } of flows.documents({ user })) yield document
      for await (const { document } of flows.jobs({ flow, user })) yield document
    },
    load: (flow, document) => flows.load(flow, document),
  })
}

/** importWorkspace() into whatever takes cores and documents. */
export async function importInto(
  source: WorkspaceSource,
  options: WorkspaceOptions,
  target: WorkspaceTarget,
): Promise<WorkspaceSummary> {
  const checked = checkOptions('importWorkspace()', options, workspaceOptions, 'user')
  const { signal } = checked
  signal?.throwIfAborted()
  if (checked.flow !== undefined) await target.checkFlow(checked.flow)
  const archive = await openArchive(source)
  try {
    return await new WorkspaceImport(archive, checked as WorkspaceOptions, target).run()
  } catch (error) {
    // Streams make errors of their own of it.
    signal?.throwIfAborted()
    throw error
  } finally {
    await archive.close()
  }
}

/** What the flow says of one document, and not of the next. */
const refusals = new Set([
  'LK_DOCUMENT_INVALID',
  'LK_DOCUMENT_TOO_LARGE',
  'LK_DOCUMENT_ACCESS',
  // Of a server whose bodies are shorter than what a text may be.
  'LK_HTTP_TOO_LARGE',
])
/** Documents on their way into the queue: those that come at the same time share a write. */
const maxLoading = 16
/** A server lets a user have 32 MiB of bodies at once, in base64, and the last may be as long again. */
const maxLoadingBytes = 8 * 1024 * 1024

const maxRefusals = 100
const maxKinds = 100

class WorkspaceImport {
  readonly #archive: Archive
  readonly #options: WorkspaceOptions
  readonly #limits: WorkspaceLimits
  readonly #target: WorkspaceTarget
  readonly #cores: ImportedCore[] = []
  readonly #refusals: DocumentCounts['refusals'][number][] = []
  readonly #loading = new Set<Promise<void>>()
  #loadingBytes = 0
  #failure: { readonly error: unknown } | undefined
  #queued = 0
  #present = 0
  #refused = 0
  #step: WorkspaceProgress['step'] = 'checking'
  #bytes = 0
  /** Of the bytes of this reading. */
  #checksum = 0

  constructor(archive: Archive, options: WorkspaceOptions, target: WorkspaceTarget) {
    this.#archive = archive
    this.#options = options
    this.#limits = limitsOf(workspaceLimits, options.limits)
    this.#target = target
  }

  async run(): Promise<WorkspaceSummary> {
    const { loss = 'keep' } = this.#options
    const onTriples = (triples: number) => this.#tell(triples)
    const contents = await checkMembers(this.#members(), { loss, limits: this.#limits, onTriples })
    const checksum = this.#checksum
    this.#step = 'importing'
    try {
      await this.#importMembers(contents)
    } finally {
      await Promise.all(this.#loading)
      this.#tell(0)
    }
    this.#throwFailure()
    if (this.#checksum !== checksum) {
      throw damaged(
        'it was changed while it was read, and what is stored is of both; import it again',
      )
    }
    const { workspace, exportedAt } = contents.manifest
    return {
      ...(workspace !== undefined && { workspace }),
      ...(exportedAt !== undefined && { exportedAt }),
      cores: this.#cores,
      documents: this.#countDocuments(contents),
      config: contents.config,
      unknown: contents.unknown,
    }
  }

  async #importMembers({ early, library }: Contents): Promise<void> {
    const { flow } = this.#options
    const known = await this.#knownTexts(library)
    const waiting = new Map<string, Description>()
    for await (const member of this.#members()) {
      const { type } = member
      if (type === 'triples') this.#cores.push(await this.#importCore(member, member.collection))
      if (flow === undefined) continue
      if (type === 'description' && !early.has(member.key)) {
        const json = await readJson(member, this.#limits)
        waiting.set(member.key, readDescription(json, member.name))
      }
      if (type !== 'content') continue
      const description = waiting.get(member.key) ?? early.get(member.key)
      waiting.delete(member.key)
      // Only a file that was changed in between has none, which is told at the end.
      if (description === undefined || library.fateOf(description.id) !== 'text') continue
      if (known.has(description.id)) this.#present++
      else await this.#load(flow, member, description)
      this.#tell(0)
    }
  }

  /** Asked for one by one each would be looked for among all that wait. */
  async #knownTexts(library: Library): Promise<ReadonlySet<string>> {
    const { flow, user, mode = 'append' } = this.#options
    const known = new Set<string>()
    if (flow === undefined || mode === 'replace' || library.size === 0) return known
    for await (const id of this.#target.known(flow, user)) {
      if (library.fateOf(id) === 'text') known.add(id)
    }
    return known
  }

  async *#members(): AsyncGenerator<Member, void, undefined> {
    this.#bytes = 0
    this.#checksum = 0
    const bytes = gunzipped(this.#packed(), this.#limits)
    for await (const tar of readTar(bytes, this.#limits)) {
      const member = memberOf(tar)
      if (member !== undefined) yield member
    }
  }

  async *#packed(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of this.#archive.read(this.#options.signal)) {
      this.#bytes += chunk.length
      this.#checksum = crc32(chunk, this.#checksum)
      this.#tell(0)
      yield chunk
    }
  }

  async #importCore({ tar, name }: Member, collection: string): Promise<ImportedCore> {
    const { user, mode = 'append', loss, index = false, signal } = this.#options
    const id = graphOf(collection)
    const onProgress = ({ triples }: { readonly triples: number }) => this.#tell(triples)
    try {
      const { triples, bytes, digest, duplicate, ...rest } = await importRdf(
        tar.content,
        { format: 'n-quads', defaultGraph: id, loss, collection },
        (messages) =>
          this.#target.write({ user, id }, messages, { mode, index, signal, onProgress }),
      )
      const { kept, lost, reified } = rest
      return {
        id,
        collection,
        triples,
        bytes,
        digest,
        duplicate,
        ...(kept && { kept }),
        ...(lost && { lost }),
        ...(reified && { reified }),
      }
    } catch (error) {
      throw inMember(error, name)
    }
  }

  async #load(flow: string, { tar, name }: Member, description: Description): Promise<void> {
    const { user, collection } = this.#options
    const { id, charset, metadata } = description
    const { maxDocumentBytes } = this.#limits
    if (tar.size > maxDocumentBytes) {
      const detail = `the text has ${tar.size} bytes; at most ${maxDocumentBytes} are read`
      this.#refuse(id, new LorekeepError('LK_DOCUMENT_TOO_LARGE', detail), name)
      return
    }
    const document: EncodedDocument = {
      id,
      user,
      ...(collection !== undefined && { collection }),
      metadata,
      charset,
      text: (await readAll(tar.content)).toString('base64'),
    }
    this.#loadingBytes += tar.size
    const loading = this.#target
      .load(flow, document)
      .then(
        () => void this.#queued++,
        (error: unknown) => this.#refuse(id, error, name),
      )
      .catch((error: unknown) => void (this.#failure ??= { error }))
      .finally(() => {
        this.#loading.delete(loading)
        this.#loadingBytes -= tar.size
      })
    this.#loading.add(loading)
    while (this.#loading.size >= maxLoading || this.#loadingBytes >= maxLoadingBytes) {
      await Promise.race(this.#loading)
    }
    this.#throwFailure()
  }

  /** Notes what is about this document alone. @throws all else */
  #refuse(document: string, error: unknown, member: string): void {
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    if (typeof code !== 'string' || !refusals.has(code)) throw inMember(error, member)
    if (++this.#refused > maxRefusals) return
    this.#refusals.push({ document, code, message: shortText(message) })
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #countDocuments({ library }: Contents): DocumentCounts {
    const fates = { text: 0, part: 0, answer: 0, kind: 0 }
    const kinds = new Map<string, number>()
    for (const { fate, kind } of library.fates()) {
      fates[fate]++
      if (fate !== 'kind') continue
      const name = kinds.has(kind) || kinds.size < maxKinds ? shortText(kind) : 'others'
      kinds.set(name, (kinds.get(name) ?? 0) + 1)
    }
    return {
      total: library.size,
      queued: this.#queued,
      present: this.#present,
      refused: this.#refused,
      refusals: this.#refusals,
      withoutFlow: this.#options.flow === undefined ? fates.text : 0,
      parts: fates.part,
      answers: fates.answer,
      kinds: Object.fromEntries(kinds),
    }
  }

  #tell(triples: number): void {
    this.#options.onProgress?.({
      step: this.#step,
      bytes: this.#bytes,
      triples,
      cores: this.#cores.length,
      documents: this.#queued,
    })
  }
}
