// Queries in SPARQL, what they are answered with, and where they are wrong.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../client/index.js'
import { useAsked } from '../asking.js'
import type { ViewProps } from '../later.js'
import { chooseTarget, save } from '../download.js'
import { useTicks } from '../live.js'
import { Choice, Heading } from '../parts/controls.js'
import { Empty, Failure } from '../parts/states.js'
import { hashOf, refine } from '../place.js'
import { graphOf, useSession, type Whoami } from '../session.js'
import { texts } from '../texts.js'
import { Transfers, useTransfers } from '../transfers.js'
import { ask, type Answer } from './sparql/answer.js'
import { Editor } from './sparql/editor.js'
import { examples } from './sparql/examples.js'
import { Results, type ResultFile } from './sparql/results.js'

interface Outcome {
  readonly graph: RemoteGraph
  readonly query: string
  readonly answer?: Answer
  readonly error?: unknown
  readonly ms: number
  /** No two have the same. */
  readonly run: number
}

export default function Sparql(props: ViewProps) {
  const hasEngine = useEngine()
  return (
    <>
      <Heading title={texts.views.sparql} lead={texts.sparql.lead} />
      {hasEngine ? <Asking {...props} /> : <Missing />}
    </>
  )
}

/** So often it is looked for an engine where there was none. */
const lookAgainMs = 3000

/** Whether the server has one: it may be installed while somebody waits for it. */
function useEngine(): boolean {
  const { who, connection } = useSession()
  const ticks = useTicks(lookAgainMs)
  const asked = useAsked(
    async () => who.sparql || (await connection.get<Whoami>('whoami')).sparql,
    [who],
  )
  const hasEngine = asked.value ?? who.sparql
  useEffect(() => {
    if (ticks > 0 && !hasEngine) asked.again()
  }, [ticks])
  return hasEngine
}

/** The engine is optional: who opens the view is told, and not who has written a query. */
function Missing() {
  return (
    <Empty title={texts.sparql.missing} hint={texts.sparql.missingHint}>
      <code class="free">{texts.sparql.install}</code>
      <br />
      {texts.sparql.inClone} <code>{texts.sparql.ready}</code>
    </Empty>
  )
}

function Asking({ place: { query, subject } }: ViewProps) {
  const session = useSession()
  const { keep, user, drafts } = session
  const wanted = query['query']
  const [text, setText] = useState(drafts.of(wanted) ?? wanted ?? examples.types)
  const [outcome, setOutcome] = useState<Outcome>()
  const running = useRef<AbortController | undefined>(undefined)
  const runs = useRef(0)
  const latest = useRef<string | undefined>(undefined)
  const [isRunning, setIsRunning] = useState(false)
  const cores = useAsked(
    async () => (await keep.knowledge.corePage({ user, limit: 500 })).cores.map(({ id }) => id),
    [user],
  )
  const run = async (text: string) => {
    running.current?.abort()
    const own = new AbortController()
    running.current = own
    latest.current = text
    setIsRunning(true)
    refine(hashOf('sparql', subject, { query: text }))
    const graph = graphOf(session, subject === undefined ? undefined : [subject])
    const begun = performance.now()
    const told = await ask(graph, text, own.signal).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    )
    if (running.current !== own) return
    running.current = undefined
    setIsRunning(false)
    if (own.signal.aborted) return
    const ms = performance.now() - begun
    setOutcome({ graph, query: text, ...told, ms, run: ++runs.current })
  }
  const write = (next: string) => {
    const isKnown = next === wanted || Object.values<string>(examples).includes(next)
    drafts.change(wanted, text, isKnown || next.trim() === '' ? undefined : next)
    setText(next)
  }
  const runIt = () => {
    drafts.change(wanted, text, undefined)
    void run(text)
  }
  const transfers = useTransfers('sparql', () => undefined)
  /** As the server writes it, and all of it. */
  const out = async ({ graph, query }: Outcome, { kind, mediaType }: ResultFile) => {
    const name = `results.${kind}`
    const target = await chooseTarget(name)
    if (target === undefined) return
    transfers.begin(name, undefined, async ({ signal, onProgress }) => {
      const { body } = await graph.sparql(query, { accept: mediaType, signal })
      return save(target, body, { onProgress })
    })
  }
  useEffect(() => {
    // What is run names itself in the address; all else there is somebody's wish.
    if (wanted === undefined || wanted === latest.current) return
    setText(drafts.of(wanted) ?? wanted)
    void run(wanted)
  }, [wanted])
  useEffect(() => () => running.current?.abort(), [])
  const known = new Set([...(cores.value ?? []), ...(subject === undefined ? [] : [subject])])
  const wrongLine = outcome?.query === text ? lineOf(outcome.error) : undefined
  return (
    <>
      <div class="filters">
        <Choice
          label={texts.sparql.core}
          value={subject ?? ''}
          options={[['', texts.sparql.library], ...[...known].map((id) => [id, id] as const)]}
          onChange={(id) => refine(hashOf('sparql', id || undefined, query))}
        />
        <div class="wide">
          <Choice
            label={texts.sparql.examples}
            value={Object.entries(examples).find(([, example]) => example === text)?.[0] ?? ''}
            options={[
              ['', texts.nothing],
              ...(Object.keys(examples) as (keyof typeof examples)[]).map(
                (name) => [name, texts.sparql.example[name]] as const,
              ),
            ]}
            onChange={(name) => name !== '' && write(examples[name as keyof typeof examples])}
          />
        </div>
      </div>
      <Editor
        label={texts.sparql.query}
        value={text}
        onInput={write}
        onRun={runIt}
        wrongLine={wrongLine}
      />
      <div class="run">
        <button type="button" class="primary" disabled={isRunning} onClick={runIt}>
          {texts.sparql.run}
        </button>
        {isRunning && (
          <button type="button" onClick={() => running.current?.abort()}>
            {texts.sparql.stop}
          </button>
        )}
        <p class="quiet" role="status">
          {isRunning
            ? texts.sparql.running
            : outcome?.answer && texts.sparql.took(sizeOf(outcome.answer), outcome.ms)}
        </p>
      </div>
      {outcome?.error !== undefined && !isRunning && <Wrong error={outcome.error} />}
      <Transfers transfers={transfers} />
      {outcome?.answer !== undefined && (
        <Results
          key={outcome.run}
          graph={outcome.graph}
          answer={outcome.answer}
          onFile={(file) => void out(outcome, file)}
        />
      )}
    </>
  )
}

function Wrong({ error }: { readonly error: unknown }) {
  const line = lineOf(error)
  return (
    <>
      {line !== undefined && <p class="note">{texts.sparql.line(line)}</p>}
      <Failure error={error} />
    </>
  )
}

/** From 1, where the server knows it. */
function lineOf(error: unknown): number | undefined {
  const { details } = Object(error) as { readonly details?: { readonly line?: unknown } }
  return typeof details?.line === 'number' ? details.line : undefined
}

function sizeOf(answer: Answer): number {
  return answer.type === 'table'
    ? answer.rows.length
    : answer.type === 'graph'
      ? answer.triples.length
      : 1
}
