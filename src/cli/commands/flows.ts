// `lorekeep flows`: what flows there are and how much is in them, one of them, and new ones.

import type { Flow, FlowStats } from '../../flow/types.js'
import { withFlows } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { CutShort, describe, note } from '../output/failure.js'
import { formatCount, printable } from '../output/figures.js'
import { inputName, readJsonInput } from '../input/input.js'
import { writeJson, writeOut } from '../output/output.js'
import { Table } from '../output/table.js'

export interface FlowsOptions extends AccessOptions {
  readonly json?: true
}

const counted = ['queued', 'active', 'delayed', 'done', 'dead'] as const

const columns = [
  { head: 'ID', isRight: false },
  { head: 'STATE', isRight: false },
  ...counted.map((state) => ({ head: state.toUpperCase(), isRight: true })),
  { head: 'STEPS', isRight: false },
]

export async function listFlows(options: FlowsOptions): Promise<void> {
  const found = await withFlows(options, { create: false }, async (flows) => {
    const list: Counted[] = []
    for (const flow of await flows.list()) list.push([flow, await flows.stats(flow.id)])
    return list
  })
  if (options.json) {
    for (const [flow, stats] of found) await writeJson({ ...flow, stats })
  } else if (!process.stdout.isTTY) {
    for (const pair of found) await writeOut(`${rowOf(pair, String).join('\t')}\n`)
  } else if (found.length === 0) {
    note('there are no flows')
  } else {
    const rows = found.map((pair) => rowOf(pair, formatCount))
    const table = new Table(columns, rows, process.stdout.columns || 80)
    await writeOut(table.head() + table.rows(rows))
  }
}

/** As JSON, which `flows define` takes again. */
export async function showFlow(id: string, options: FlowsOptions): Promise<void> {
  const flow = await withFlows(options, { create: false }, (flows) => flows.get(id))
  if (options.json) await writeJson(flow)
  else await writeOut(`${JSON.stringify(flow, null, 2)}\n`)
}

/** One after the other; the first that is refused ends it, and says which ones were defined. */
export async function defineFlows(file: string, options: FlowsOptions): Promise<void> {
  const definitions = await readDefinitions(file)
  await withFlows(options, { create: true }, async (flows) => {
    const defined: string[] = []
    for (const { id, definition } of definitions) {
      let flow: Flow
      try {
        flow = await flows.define(id, definition)
      } catch (error) {
        const before = defined.length === 0 ? '' : ` (defined before it: ${defined.join(', ')})`
        throw new CutShort(`flow '${id}': ${describe(error)}${before}`, error)
      }
      defined.push(`'${id}'`)
      if (options.json) await writeJson(flow)
      else note(`defined '${id}': ${flow.active ? '' : 'stopped, '}${stepsOf(flow)}`)
    }
  })
}

export async function setFlowActive(
  id: string,
  active: boolean,
  options: FlowsOptions,
): Promise<void> {
  const flow = await withFlows(options, { create: false }, (flows) => flows.setActive(id, active))
  if (options.json) await writeJson(flow)
  else note(`${active ? 'started' : 'stopped'} '${id}'`)
}

export async function removeFlow(id: string, options: FlowsOptions): Promise<void> {
  await withFlows(options, { create: false }, (flows) => flows.remove(id))
  note(`removed '${id}'`)
}

type Counted = readonly [flow: Flow, stats: FlowStats | undefined]

function rowOf([flow, stats]: Counted, format: (count: number) => string) {
  const state = flow.active ? 'active' : 'stopped'
  const counts = counted.map((name) => (stats === undefined ? '' : format(stats[name])))
  return [printable(flow.id), state, ...counts, printable(stepsOf(flow))]
}

function stepsOf({ steps }: Flow): string {
  return steps.map(({ name }) => name).join(' ')
}

interface Identified {
  readonly id: string
  readonly definition: object
}

async function readDefinitions(file: string): Promise<Identified[]> {
  const value = await readJsonInput(file, 'a definition')
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.map((definition, index) => {
    const id: unknown = (definition as { id?: unknown } | null)?.id
    // Its place in the server is its id's.
    if (typeof id === 'string' && id !== '') return { id, definition: definition as object }
    throw new Error(`${inputName(file)}: definition ${index + 1} of ${list.length} has no id`)
  })
}
