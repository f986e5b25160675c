// `lorekeep load`: texts and files into a flow, and what becomes of them.

import { readFile, stat } from 'node:fs/promises'
import { hasCode } from '../../../errors.js'
import { fileKind } from '../../../flow/files/file-kind.js'
import type { JobEvent, JobFailure, JobState } from '../../../flow/types.js'
import { withFlows } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { createDocumentBars } from './document-bars.js'
import { CutShort, describe, interruptible, note } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import type { FlowAccess } from '../../access/flow-access.js'
import { findJob, followJobs } from './job-watch.js'
import type { Ending, WatchedJob } from './job-watch.js'
import { documentReader } from './load-document.js'
import type { DocumentFlags, OwnedDocument } from './load-document.js'
import { textFiles } from '../../input/text-files.js'
import type { PassedOver, TextFile } from '../../input/text-files.js'
import { unlessLeft, writeJson } from '../../output/output.js'

type LoadCommandOptions = AccessOptions &
  DocumentFlags & {
    /** Of the files of directories. */
    readonly ext: readonly string[]
    readonly wait?: true
    readonly json?: true
  }

interface Loaded extends WatchedJob {
  readonly file: string
  readonly state?: JobState
}

/**
 * Of several files those that are no documents, by their bytes, are told and left out.
 * @throws CutShort at the first document that is refused otherwise; an error where one is not done, or
 * was left out, at the end
 */
export async function loadFiles(
  names: readonly string[],
  options: LoadCommandOptions,
): Promise<void> {
  const texts = await textFiles(names, options.ext)
  const { files, passedOver } = texts
  const read = await documentReader(texts, options)
  // Before anything else: a file that is not there leaves no empty data directory.
  const [firstFile] = files
  if (firstFile === undefined) return
  const first = await read(firstFile)
  await withFlows(options, { create: true }, (flows) =>
    interruptible(async (signal) => {
      const loaded: Loaded[] = []
      const refused: string[] = []
      const isOne = files.length === 1 && passedOver === undefined
      for (const [index, text] of files.entries()) {
        const { file } = text
        try {
          signal.throwIfAborted()
          loaded.push(
            await load(flows, file, index === 0 ? first : await read(text, signal), signal),
          )
        } catch (error) {
          if (!isOne && hasCode(error, 'LK_DOCUMENT_TYPE')) {
            refused.push(file)
            await unlessLeft(tellRefused(text, error, options))
            continue
          }
          if (options.wait) {
            for (const document of loaded) await unlessLeft(tell(document, options))
          }
          throw new CutShort(`${file}: ${describe(error)}`, error)
        }
        if (!options.wait) await unlessLeft(tell(loaded.at(-1) as Loaded, options))
      }
      if (passedOver !== undefined && !options.json) {
        await tellPassedOver(passedOver)
        const count = passedOver.files.length + passedOver.others
        const others = formatCounted(count, 'other was', 'others were')
        note(`loaded ${formatCounted(loaded.length, 'file')}; ${others} passed over`)
      }
      if (options.wait && loaded.length > 0) await wait(flows, loaded, options, signal)
      if (refused.length > 0) {
        const count = `${refused.length} of ${formatCounted(files.length, 'file')}`
        throw new Error(`${count} ${refused.length === 1 ? 'was' : 'were'} refused`)
      }
    }),
  )
}

async function tellRefused(
  { file, id }: TextFile,
  error: unknown,
  { user, json }: LoadCommandOptions,
): Promise<void> {
  const message = describe(error)
  if (!json) return note(`refused '${file}': ${message}`)
  const failure = { code: 'LK_DOCUMENT_TYPE', message }
  await writeJson({ file, id, user, state: 'refused', failure })
}

/** The first few by their names: what they look like, where that is why nothing is read of them. */
async function tellPassedOver({ files }: PassedOver): Promise<void> {
  for (const file of files.slice(0, mostNamed)) {
    const found = await foundIn(file)
    note(
      `passed over '${file}': ${found === undefined ? '--ext does not name its ending' : `it looks like ${found}`}`,
    )
  }
}

const mostNamed = 20
/** An archive says at its end what it is. */
const mostLookedAt = 8 * 1024 ** 2

async function foundIn(file: string): Promise<string | undefined> {
  try {
    if ((await stat(file)).size > mostLookedAt) return undefined
    const kind = fileKind(await readFile(file))
    return kind.kind === 'foreign' ? kind.found : undefined
  } catch {
    // It is not going to be loaded.
    return undefined
  }
}

async function load(
  flows: FlowAccess,
  file: string,
  document: OwnedDocument,
  signal: AbortSignal,
): Promise<Loaded> {
  const { job: id } = await flows.load(document, signal)
  const job = await findJob(flows, id)
  return {
    file,
    id,
    document: document.id,
    user: document.user,
    ...(job !== undefined && { state: job.state }),
  }
}

async function tell(loaded: Loaded, { json, url }: LoadCommandOptions): Promise<void> {
  const { file, id, document, user, state } = loaded
  if (json) return writeJson({ file, id: document, user, job: id, state })
  const next = url === undefined ? "; 'lorekeep serve' processes it, or --wait" : ''
  note(`queued '${document}' as job ${id}${next}`)
}

async function wait(
  flows: FlowAccess,
  loaded: readonly Loaded[],
  { json }: LoadCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const byJob = new Map(loaded.map((document) => [document.id, document]))
  const endings: Ending['state'][] = []
  let written = Promise.resolve()
  // Lines of JSON on a terminal would run into them.
  const bars = createDocumentBars(!(json && process.stdout.isTTY))
  const runner = flows.run()
  try {
    await followJobs(flows, loaded, {
      signal,
      onEvent: (event) => {
        bars.show(event)
        if (event.type === 'failed') bars.print(failureLine(event))
      },
      onEnd: (id, ending) => {
        endings.push(ending.state)
        bars.end(id)
        if (json) {
          written = written.then(() => writeEnding(byJob.get(id), ending))
          // It is waited for at the end.
          written.catch(() => {})
        } else bars.print(endingLine(byJob.get(id), ending))
      },
    })
  } catch (error) {
    const left = formatCounted(loaded.length - endings.length, 'document is', 'documents are')
    throw new CutShort(`${describe(error)} (${left} not done yet)`, error)
  } finally {
    bars.stop()
    // What is under way beside our own documents may end, unless somebody is waiting.
    await runner.stop({ timeoutMs: signal.aborted ? 0 : 10_000 })
  }
  const failed = endings.filter((state) => state !== 'done').length
  await unlessLeft(written)
  if (failed > 0) {
    throw new Error(
      `${failed} of ${formatCounted(loaded.length, 'document')} did not become knowledge`,
    )
  }
}

async function writeEnding(loaded: Loaded | undefined, ending: Ending): Promise<void> {
  if (loaded === undefined) return
  const { file, id, document, user } = loaded
  await writeJson({ file, id: document, user, job: id, ...ending })
}

function endingLine(loaded: Loaded | undefined, { state, failure }: Ending): string {
  const name = `'${loaded?.document ?? ''}'`
  if (failure === undefined) return state === 'done' ? `${name} is done` : `${name} was ${state}`
  return `${name} failed for good at '${failure.step}': ${failure.message}`
}

function failureLine({
  document,
  failure,
  state,
}: Extract<JobEvent, { failure: JobFailure }>): string {
  const { attempt, step, message } = failure
  const next = state === 'delayed' ? 'it is tried again later' : 'it is queued again'
  return `'${document}': attempt ${attempt} failed at '${step}', ${next}: ${message}`
}
