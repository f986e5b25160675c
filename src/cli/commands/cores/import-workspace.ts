// `lorekeep import` of a workspace: graphs as cores, texts as documents for a flow.

import { LorekeepError } from '../../../errors.js'
import { describeExtras } from '../../../rdf/parse.js'
import { importInto } from '../../../tgx/import.js'
import type { WorkspaceProgress, WorkspaceSummary, WorkspaceTarget } from '../../../tgx/types.js'
import { withWorkspace } from '../../access/access.js'
import type { WorkspaceAccess } from '../../access/workspace-access.js'
import { openInput } from '../../input/input.js'
import {
  CutShort,
  describe,
  fileError,
  interruptible,
  note,
  UsageError,
} from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import { unlessLeft, writeJson } from '../../output/output.js'
import { createProgress, units } from '../../output/progress.js'
import { encodedMessages } from './encoded-messages.js'
import type { ImportCommandOptions } from './import-options.js'

export async function importWorkspace(file: string, options: ImportCommandOptions): Promise<void> {
  checkFlags(options)
  const input = await openInput(file, 'the archive of a workspace')
  // A file is read twice, from its beginning.
  const source = input.bytes === undefined ? input.stream : file
  const { user, flow, collection, mode, loss, index } = options
  let last: WorkspaceProgress | undefined
  let summary: WorkspaceSummary
  try {
    summary = await withWorkspace(options, { create: true }, (access) =>
      interruptible(async (signal) => {
        const progress = createProgress(input.bytes && 2 * input.bytes, units.triples)
        const onProgress = (told: WorkspaceProgress) => {
          const before = last?.step === told.step ? last.bytes : 0
          progress.bytes(told.bytes - before)
          if (told.triples > 0) progress.count(told.triples)
          last = told
        }
        const given = { user, flow, collection, mode, loss, index, signal, onProgress }
        try {
          return await importInto(source, given, targetOf(access, signal))
        } finally {
          progress.stop()
        }
      }),
    )
  } catch (error) {
    const reason = fileError(error, file, 'read')
    throw new CutShort(`${describe(reason)} (${whatIsStored(last)})`, error)
  } finally {
    input.stream.destroy()
  }
  const { refused, total } = summary.documents
  const told = options.json ? writeJson(summary) : Promise.resolve()
  await (refused > 0 ? unlessLeft(told) : told)
  tell(summary, options)
  if (refused > 0) throw new Error(`${refused} of ${formatCounted(total, 'document')} refused`)
}

function checkFlags({ id, dialect, base, allowEmpty, flow, collection }: ImportCommandOptions) {
  const given = { id, dialect, base, 'allow-empty': allowEmpty }
  for (const [flag, value] of Object.entries(given)) {
    if (value === undefined) continue
    const advice = flag === 'id' ? ': its cores are named after their collections' : ''
    throw new UsageError(`--${flag} is not for workspaces${advice}`)
  }
  if (collection !== undefined && flow === undefined) {
    throw new UsageError('--collection is where the documents of a workspace go: --flow is missing')
  }
}

function targetOf({ cores, flows }: WorkspaceAccess, signal: AbortSignal): WorkspaceTarget {
  return {
    async checkFlow(id) {
      const { active } = await flows.get(id, signal)
      if (!active) throw new LorekeepError('LK_FLOW_INACTIVE', `'${id}'`, { details: { flow: id } })
    },
    write: (ref, messages, { mode, index, onProgress }) =>
      cores.import(ref, encodedMessages(messages), { mode, index, signal, onProgress }),
    async *known(_flow, user) {
      for await (const { document } of flows.documents(user, signal)) yield document
      const jobs = flows.jobs({ user }, signal)
      for await (const { document } of jobs) yield document
    },
    load: (_flow, document) => flows.load(document, signal),
  }
}

function whatIsStored(last: WorkspaceProgress | undefined): string {
  const { cores = 0, documents = 0 } = last ?? {}
  if (cores === 0 && documents === 0) return 'nothing was stored before'
  const stored = [formatCounted(cores, 'core'), formatCounted(documents, 'document')].join(' and ')
  return `${stored} were stored before, which another import passes over`
}

function tell(summary: WorkspaceSummary, { user, flow, url }: ImportCommandOptions): void {
  const { workspace, exportedAt, cores, documents, config, unknown } = summary
  for (const { id, triples, duplicate, kept, lost, reified } of cores) {
    const name = `'${id}' of '${user}'`
    const outcome = duplicate ? `${name} held this already, nothing was stored` : `imported ${name}`
    note(`${outcome}: ${formatCounted(triples, 'triple')}`)
    if (kept && kept.statements > 0) note(`among them ${describeExtras(kept)}`)
    if (lost && lost.statements > 0) {
      note(`left out: ${describeExtras(lost)} (--loss keep keeps them)`)
    }
    if (reified && reified.statements > 0) {
      note(`kept as reified statements: ${describeExtras(reified)}`)
    }
  }
  const { queued, present, refusals, refused, withoutFlow, parts, answers, kinds } = documents
  for (const { document, message } of refusals) note(`'${document}' was refused: ${message}`)
  if (refused > refusals.length) note(`and ${refused - refusals.length} more`)
  if (queued > 0) {
    const next = url === undefined ? "; 'lorekeep serve' processes them" : ''
    note(`queued ${formatCounted(queued, 'document')} for the flow '${flow}'${next}`)
  }
  if (present > 0) {
    const known = formatCounted(present, 'document is', 'documents are')
    note(`${known} known already (--mode replace loads them again)`)
  }
  if (withoutFlow > 0) {
    note(`${formatCounted(withoutFlow, 'text')} not loaded (--flow default loads them)`)
  }
  const left = [
    parts > 0 && formatCounted(parts, 'part of a text', 'parts of texts'),
    answers > 0 && formatCounted(answers, 'answer'),
    ...Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`),
    config > 0 &&
      formatCounted(config, 'entry of the configuration', 'entries of the configuration'),
    unknown.count > 0 &&
      `${formatCounted(unknown.count, 'unknown member')} (${unknown.names.slice(0, 3).join(', ')}${unknown.count > 3 ? ' …' : ''})`,
  ].filter((some) => some !== false)
  if (left.length > 0) note(`passed over: ${left.join(', ')}`)
  const of = exportedAt === undefined ? '' : ` of ${exportedAt}`
  const name = workspace === undefined ? 'a workspace' : `the workspace '${workspace}'`
  const stored = cores.filter(({ duplicate }) => !duplicate).length
  note(
    stored === 0 && queued === 0
      ? `nothing of ${name}${of} was new`
      : `imported ${name}${of}: ${formatCounted(stored, 'core')}, ${formatCounted(queued, 'document')}`,
  )
}
