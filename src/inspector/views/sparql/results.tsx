// An answer as a table or as a graph, and as a file.

import { useMemo, useRef, useState } from 'preact/hooks'
import type { RemoteGraph } from '../../../client/index.js'
import type { Term } from '../../../types.js'
import { Explorer } from '../../graph/explorer.js'
import { nothing, withTriples } from '../../graph/model.js'
import { cut } from '../../graph/names.js'
import { More } from '../../parts/more.js'
import { Empty } from '../../parts/states.js'
import { hashOf } from '../../place.js'
import { texts } from '../../texts.js'
import { mostRows, triplesIn, type Answer } from './answer.js'

interface ResultsProps {
  readonly graph: RemoteGraph
  readonly answer: Answer
  /** Somebody wants all of it as a file. */
  readonly onFile: (file: ResultFile) => void
}

export interface ResultFile {
  readonly kind: 'csv' | 'json' | 'nt'
  readonly mediaType: string
}

const step = 100

const files: Readonly<Record<'table' | 'graph', readonly ResultFile[]>> = {
  table: [
    { kind: 'csv', mediaType: 'text/csv' },
    { kind: 'json', mediaType: 'application/sparql-results+json' },
  ],
  graph: [{ kind: 'nt', mediaType: 'application/n-triples' }],
}

export function Results({ graph, answer, onFile }: ResultsProps) {
  const triples = useMemo(() => triplesIn(answer), [answer])
  const initial = useMemo(() => withTriples(nothing, triples), [triples])
  const [isGraph, setIsGraph] = useState(answer.type === 'graph')
  if (answer.type === 'boolean') {
    return <p class="card">{answer.value ? texts.sparql.yes : texts.sparql.no}</p>
  }
  const [columns, rows] =
    answer.type === 'table'
      ? [answer.columns, answer.rows]
      : [['s', 'p', 'o'], triples.map(({ s, p, o }) => [s, p, o])]
  if (rows.length === 0) return <Empty title={texts.sparql.none} hint={texts.sparql.noneHint} />
  return (
    <section class="answered" aria-label={texts.sparql.answer}>
      <div class="run">
        <div class="switch">
          <button type="button" aria-pressed={!isGraph} onClick={() => setIsGraph(false)}>
            {texts.sparql.table}
          </button>
          <button type="button" aria-pressed={isGraph} onClick={() => setIsGraph(true)}>
            {texts.sparql.graph}
          </button>
        </div>
        {files[answer.type].map((file) => (
          <button key={file.kind} type="button" class="small" onClick={() => onFile(file)}>
            {texts.sparql[file.kind]}
          </button>
        ))}
        {answer.isCut && <p class="quiet">{texts.sparql.tooMany(mostRows)}</p>}
      </div>
      {isGraph ? (
        <Explorer
          initial={initial}
          graph={graph}
          fileName="sparql"
          empty={{ title: texts.graph.none, hint: texts.sparql.noGraph }}
        />
      ) : (
        <Rows columns={columns} rows={rows} />
      )}
    </section>
  )
}

interface RowsProps {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (Term | undefined)[])[]
}

function Rows({ columns, rows }: RowsProps) {
  const [most, setMost] = useState(step)
  const table = useRef<HTMLDivElement>(null)
  return (
    <>
      <div ref={table} class="scroll" tabIndex={0} role="region" aria-label={texts.sparql.results}>
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name}>{cut(name)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, at) => (
              <tr key={at}>
                {columns.map((name, column) => (
                  <td key={name}>
                    <Value term={row[column]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && <More shown={table} onMore={() => setMost(most + 5 * step)} />}
    </>
  )
}

function Value({ term }: { readonly term: Term | undefined }) {
  if (term === undefined) return null
  const { v, e, dt, ln } = term
  const title = `${v.slice(0, 1000)}${dt === undefined ? '' : ` (${dt})`}${ln === undefined ? '' : ` @${ln}`}`
  if (!e) {
    return (
      <span class="term" dir="auto" title={title}>
        {cut(v, 300)}
      </span>
    )
  }
  return (
    <a class="term" href={hashOf('graph', undefined, { around: v })} title={title}>
      {cut(v, 160)}
    </a>
  )
}
