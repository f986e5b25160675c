// All that the picture shows, as tables: for whoever does not see it, or wants to read.

import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { More } from '../parts/more.js'
import { RowButton } from '../parts/list.js'
import { texts } from '../texts.js'
import type { Drawn, Link, Shown } from './model.js'
import { cut } from './names.js'
import { relationsOf } from './picture.js'
import { hasMore, nameOf } from './sketch.js'

interface TablesProps {
  readonly drawn: Drawn
  readonly shown: Shown
  /** Nodes that are looked for, where that is not all. */
  readonly found: ReadonlySet<number> | undefined
  readonly onNode: (id: string) => void
  readonly onLink: (link: Link) => void
  readonly onToggle: (id: string) => void
  /** Beside the names of the tables. */
  readonly children?: ComponentChildren
}

/** At first, and how many come at a time. */
const [few, step] = [25, 200]

export function Tables({ drawn, shown, found, onNode, onLink, onToggle, children }: TablesProps) {
  const [isOfLinks, setIsOfLinks] = useState(false)
  const [most, setMost] = useState(few)
  const table = useRef<HTMLDivElement>(null)
  const nodes = [...drawn.nodes.keys()]
    .filter((at) => found?.has(at) ?? true)
    .sort((a, b) => (drawn.nodes[b]?.degree ?? 0) - (drawn.nodes[a]?.degree ?? 0))
  const links = drawn.links.filter(
    ({ from, to }) => found === undefined || found.has(from) || found.has(to),
  )
  const total = isOfLinks ? links.length : nodes.length
  const choose = (isOfLinks: boolean) => {
    setIsOfLinks(isOfLinks)
    setMost(few)
  }
  return (
    <section class="tables" aria-label={texts.graph.tables}>
      <div class="above">
        <div class="switch">
          <button type="button" aria-pressed={!isOfLinks} onClick={() => choose(false)}>
            {texts.graph.things(nodes.length)}
          </button>
          <button type="button" aria-pressed={isOfLinks} onClick={() => choose(true)}>
            {texts.graph.statements(links.length)}
          </button>
        </div>
        {children}
      </div>
      {total === 0 ? (
        <p class="quiet">{texts.graph.noneShown}</p>
      ) : (
        <div
          ref={table}
          class="scroll"
          tabIndex={0}
          role="region"
          aria-label={isOfLinks ? texts.graph.links : texts.graph.allThings}
        >
          {isOfLinks ? (
            <table>
              <thead>
                <tr>
                  <th>{texts.graph.from}</th>
                  <th>{texts.graph.relation}</th>
                  <th>{texts.graph.to}</th>
                  <td />
                </tr>
              </thead>
              <tbody>
                {links.slice(0, most).map((link) => (
                  <tr key={`${link.from} ${link.to}`}>
                    <th class="free" dir="auto">
                      {cut(drawn.nodes[link.from]?.name ?? '')}
                    </th>
                    <td class="free" dir="auto">
                      {relationsOf(shown, link)}
                    </td>
                    <td class="free" dir="auto">
                      {cut(drawn.nodes[link.to]?.name ?? '')}
                    </td>
                    <td class="actions">
                      <RowButton
                        label={texts.graph.passages}
                        of={`${drawn.nodes[link.from]?.name.slice(0, 60)} ${drawn.nodes[link.to]?.name.slice(0, 60)}`}
                        onClick={() => onLink(link)}
                      />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>{texts.graph.thing}</th>
                  <th>{texts.graph.type}</th>
                  <th class="number">{texts.graph.links}</th>
                  <td />
                </tr>
              </thead>
              <tbody>
                {nodes.slice(0, most).map((at) => {
                  const { id = '', name = '', kind = '', degree = 0 } = drawn.nodes[at] ?? {}
                  return (
                    <tr key={id}>
                      <th class="free" dir="auto">
                        {cut(name)}
                      </th>
                      <td class="free">{kind === '' ? '' : nameOf(shown, kind)}</td>
                      <td class="number">{texts.count(degree)}</td>
                      <td class="actions">
                        <RowButton
                          label={texts.graph.show}
                          of={cut(name)}
                          onClick={() => onNode(id)}
                        />
                        <RowButton
                          label={hasMore(shown, id) ? texts.graph.expand : texts.graph.collapse}
                          of={cut(name)}
                          onClick={() => onToggle(id)}
                        />
                      </td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
          )}
        </div>
      )}
      {total > most && <More shown={table} onMore={() => setMost(most + step)} />}
    </section>
  )
}
