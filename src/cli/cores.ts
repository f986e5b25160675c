// `lorekeep cores`: what there is, in detail, and away with it.

import type { CoreStat } from '../knowledge/types.js'
import { openCores } from './open-cores.js'
import type { CoreAccess } from './core-access.js'
import type { AccessOptions } from './open-cores.js'
import { note } from './failure.js'
import { formatBytes, formatCount, printable } from './figures.js'
import { writeJson, writeOut } from './output.js'

export interface CoresOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

/** One JSON object per line, a table on a terminal, else tabs and plain numbers. */
export async function listCores(options: CoresOptions): Promise<void> {
  await withCores(options, async (cores) => {
    const table: string[][] = [['ID', 'MESSAGES', 'TRIPLES', 'ENTITIES', 'SIZE', 'UPDATED']]
    for await (const core of cores.list(options.user)) {
      if (options.json) await writeJson(core)
      else if (process.stdout.isTTY) table.push(rowOf(core))
      else await writeOut(`${plainRowOf(core).join('\t')}\n`)
    }
    if (table.length > 1) await writeOut(align(table))
    else if (process.stdout.isTTY && !options.json) note(`'${options.user}' has no cores`)
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

/** Ids and times to the left, numbers to the right. */
function align(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  const lines = table.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        if (column === row.length - 1) return cell
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  '),
  )
  return lines.map((line) => `${line}\n`).join('')
}
