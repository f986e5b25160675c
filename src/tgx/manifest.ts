// What an archive says of itself, and whether that is so.

import { own } from '../door/members.js'
import { isRecord, quoted, shown } from '../door/wording.js'
import { unreadable } from './faults.js'

const member = 'manifest.json'
const formatVersion = 1

export interface Manifest {
  readonly workspace?: string
  readonly exportedAt?: string
  readonly documents?: number
  /** By collections. */
  readonly triples?: ReadonlyMap<string, number>
}

/** @throws LorekeepError `LK_WORKSPACE_FORMAT` */
export function readManifest(json: unknown): Manifest {
  if (!isRecord(json)) throw unreadable(`must be an object, not ${shown(json)}`, { member })
  const format = own(json, 'format')
  if (format !== 'tgx') {
    throw unreadable(`its format is ${shown(format)}, not 'tgx'`, { member })
  }
  const version = own(json, 'format_version')
  if (version !== formatVersion) {
    const reason = `its format_version is ${shown(version)}; ${formatVersion} is what is read here`
    const details = typeof version === 'number' ? { version } : {}
    throw unreadable(reason, { member, ...details })
  }
  const knowledge = own(json, 'knowledge')
  const said = isRecord(knowledge) ? knowledge : {}
  const [workspace, exportedAt] = [own(json, 'workspace'), own(json, 'exported_at')]
  const [documents, triples] = [own(said, 'documents'), own(said, 'triples')]
  return {
    ...(typeof workspace === 'string' && { workspace }),
    ...(typeof exportedAt === 'string' && { exportedAt }),
    ...(typeof documents === 'number' && { documents }),
    ...(isRecord(triples) && { triples: countsOf(triples) }),
  }
}

function countsOf(triples: Readonly<Record<string, unknown>>): ReadonlyMap<string, number> {
  const counts = Object.entries(triples).map(([collection, count]) => {
    if (typeof count === 'number') return [collection, count] as const
    const reason = `knowledge.triples has ${shown(count)} for ${quoted(collection)}, not a number`
    throw unreadable(reason, { member })
  })
  return new Map(counts)
}

/**
 * What it says that there is has to be there, and nothing else. Of what it says nothing there may be
 * anything.
 * @throws LorekeepError `LK_WORKSPACE_FORMAT`
 */
export function checkManifest(
  manifest: Manifest,
  triples: ReadonlyMap<string, number>,
  documents: number,
): void {
  const differs = (what: string, said: number, found: number) =>
    unreadable(`it says ${said} ${what}, and the archive has ${found}: one of them is wrong`, {
      member,
    })
  if (manifest.documents !== undefined && manifest.documents !== documents) {
    throw differs('documents', manifest.documents, documents)
  }
  if (manifest.triples === undefined) return
  for (const collection of new Set([...manifest.triples.keys(), ...triples.keys()])) {
    const [said = 0, found = 0] = [manifest.triples.get(collection), triples.get(collection)]
    if (said !== found) throw differs(`triples of ${quoted(collection)}`, said, found)
  }
}
