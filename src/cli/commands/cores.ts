// `lorekeep cores`: what there is, in detail, and away with it.

import type { CoreStat } from '../../knowledge/types.js'
import { openCores } from '../access/access.js'
import type { CoreAccess } from '../access/core-access.js'
import type { AccessOptions } from '../access/access.js'
import { note } from '../output/failure.js'
import { formatBytes, formatCount, printable } from '../output/figures.js'
import { writeJson, writeOut } from '../output/output.js'
import { Table } from '../output/table.js'

export interface CoresOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

const columns = [
  { head: 'ID', isRight: false },
  { head: 'MESSAGES', isRight: true },
  { head: 'TRIPLES', isRight: true },
  { head: 'ENTITIES', isRight: true },
  { head: 'SIZE', isRight: true },
  { head: 'UPDATED', isRight: false },
]

/** One JSON object per line, a table on a terminal, else tabs and plain numbers. */
export async function listCores(options: CoresOptions): Promise<void> {
  await withCores(options, async (cores) => {
    const rows: string[][] = []
    for await (const core of cores.list(options.user)) {
      if (options.json) await writeJson(core)
      else if (process.stdout.isTTY) rows.push(rowOf(core))
      else await writeOut(`${plainRowOf(core).join('\t')}\n`)
    }
    if (rows.length > 0) {
      const table = new Table(columns, rows)
      await writeOut(table.head() + table.rows(rows))
    } else if (process.stdout.isTTY && !options.json) {
      note(`'${options.user}' has no cores`)
    }
  })
}

export async function showCore(id: string, options: CoresOptions): Promise<void> {
  await withCores(options, async (cores) => {
    const core = await cores.stat({ user: options.user, id })
    if (options.json) return writeJson(core)
    const fields: readonly (readonly [string, string])[] = [
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
    ]
    for (const [name, value] of fields) {
      await writeOut(`${name.padEnd(10)}${printable(value)}\n`)
    }
  })
}

export async function deleteCore(id: string, options: CoresOptions): Promise<void> {
  await withCores(options, async (cores) => {
    await cores.delete({ user: options.user, id })
    note(`deleted '${id}' of '${options.user}'`)
  })
}

async function withCores(
  options: CoresOptions,
  work: (cores: CoreAccess) => Promise<void>,
): Promise<void> {
  const cores = await openCores(options, { create: false })
  try {
    await work(cores)
  } finally {
    await cores.close()
  }
}

function rowOf({ id, messages, triples, entities, bytes, updatedAt }: CoreStat): string[] {
  const counts = [messages, triples, entities].map(formatCount)
  return [printable(id), ...counts, formatBytes(bytes), updatedAt.slice(0, 16).replace('T', ' ')]
}

function plainRowOf({ id, messages, triples, entities, bytes, updatedAt }: CoreStat): string[] {
  return [printable(id), ...[messages, triples, entities, bytes].map(String), updatedAt]
}
