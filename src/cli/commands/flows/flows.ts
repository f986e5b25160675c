// `lorekeep flows`: what flows there are and how much is in them, one of them, and new ones.

import type { Flow, FlowStats } from '../../../flow/types.js'
import { withFlows } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { note } from '../../output/failure.js'
import { formatCount } from '../../output/figures.js'
import { defineEach, readDefinitions } from '../definitions.js'
import { printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { left, right } from '../../output/table.js'

interface FlowsOptions extends AccessOptions {
  readonly json?: true
}

const counted = ['queued', 'active', 'delayed', 'done', 'dead'] as const

const listing: Listing<CountedFlow> = {
  columns: [
    left('ID'),
    left('STATE'),
    ...counted.map((state) => right(state.toUpperCase())),
    left('STEPS'),
  ],
  cellsOf,
  none: 'there are no flows',
}

export async function listFlows(options: FlowsOptions): Promise<void> {
  const found = await withFlows(options, { create: false }, async (flows) => {
    const list: CountedFlow[] = []
    for (const flow of await flows.list()) {
      list.push({ ...flow, stats: await flows.stats(flow.id) })
    }
    return list
  })
  await printList(found, listing, options.json)
}

/** As JSON, which `flows define` takes again. */
export async function showFlow(id: string, options: FlowsOptions): Promise<void> {
  const flow = await withFlows(options, { create: false }, (flows) => flows.get(id))
  await writeJson(flow, options.json ? 0 : 2)
}

export async function defineFlows(file: string, options: FlowsOptions): Promise<void> {
  const definitions = await readDefinitions(file, 'id')
  await withFlows(options, { create: true }, (flows) =>
    defineEach(flows, 'flow', definitions, async (flow, id) => {
      if (options.json) await writeJson(flow)
      else note(`defined '${id}': ${flow.active ? '' : 'stopped, '}${stepsOf(flow)}`)
    }),
  )
}

export function startFlow(id: string, options: FlowsOptions): Promise<void> {
  return setActive(id, true, options)
}

export function stopFlow(id: string, options: FlowsOptions): Promise<void> {
  return setActive(id, false, options)
}

async function setActive(id: string, active: boolean, options: FlowsOptions): Promise<void> {
  const flow = await withFlows(options, { create: false }, (flows) => flows.setActive(id, active))
  if (options.json) await writeJson(flow)
  else note(`${active ? 'started' : 'stopped'} '${id}'`)
}

export async function removeFlow(id: string, options: FlowsOptions): Promise<void> {
  await withFlows(options, { create: false }, (flows) => flows.remove(id))
  note(`removed '${id}'`)
}

interface CountedFlow extends Flow {
  readonly stats: FlowStats | undefined
}

function cellsOf({ stats, ...flow }: CountedFlow, isTerminal: boolean): string[] {
  const state = flow.active ? 'active' : 'stopped'
  const format = isTerminal ? formatCount : String
  const counts = counted.map((name) => (stats === undefined ? '' : format(stats[name])))
  return [flow.id, state, ...counts, stepsOf(flow)]
}

function stepsOf({ steps }: Flow): string {
  return steps.map(({ name }) => name).join(' ')
}
