// `lorekeep cores`: what there is, in detail, and away with it.

import type { CoreQuery, CoreStat } from '../../../knowledge/types.js'
import { withCores } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { note } from '../../output/failure.js'
import { formatBytes, formatCount, formatTime } from '../../output/figures.js'
import { printFields, printList } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { left, right } from '../../output/table.js'

interface CoresOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

const columns = [
  left('ID'),
  right('MESSAGES'),
  right('TRIPLES'),
  right('ENTITIES'),
  right('SIZE'),
  left('UPDATED'),
]

interface CoreListOptions extends CoresOptions, Omit<CoreQuery, 'user' | 'after'> {}

const filters = ['prefix', 'limit', 'createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'] as const

export async function listCores({ user, json, ...options }: CoreListOptions): Promise<void> {
  const given = filters.filter((name) => options[name] !== undefined)
  const query = { user, ...Object.fromEntries(given.map((name) => [name, options[name]])) }
  const listing = { columns, cellsOf, none: `'${user}' has no cores`, isWhole: true } as const
  await withCores(options, { create: false }, async (cores) => {
    await printList(cores.list(query), listing, json)
  })
}

export async function showCore(id: string, options: CoresOptions): Promise<void> {
  await withCores(options, { create: false }, async (cores) => {
    const core = await cores.stat({ user: options.user, id })
    if (options.json) return writeJson(core)
    await printFields([
      ['id', core.id],
      ['user', core.user],
      ['bytes', `${core.bytes} (${formatBytes(core.bytes)})`],
      ['messages', String(core.messages)],
      ['triples', String(core.triples)],
      ['entities', String(core.entities)],
      ['vectors', String(core.vectors)],
      ['segments', String(core.segments)],
      ['digest', core.digest],
      ['created', core.createdAt],
      ['updated', core.updatedAt],
    ])
  })
}

export async function deleteCore(id: string, options: CoresOptions): Promise<void> {
  await withCores(options, { create: false }, async (cores) => {
    await cores.delete({ user: options.user, id })
    note(`deleted '${id}' of '${options.user}'`)
  })
}

function cellsOf(core: CoreStat, isTerminal: boolean): string[] {
  const { id, messages, triples, entities, bytes, updatedAt } = core
  const counts = [messages, triples, entities]
  return isTerminal
    ? [id, ...counts.map(formatCount), formatBytes(bytes), formatTime(updatedAt)]
    : [id, ...[...counts, bytes].map(String), updatedAt]
}
