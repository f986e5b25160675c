// Which parts are merged when. Parts of like size are merged, so that each triple is written once for
// each level, of which there are log-many: those of 16,384 rows or less, of up to 131,072, and so on.

import { layoutOf, type PartRecord } from '../../graph/index/layout.js'

/** When what is done in the background begins. Tests make all of it small. */
export const pace = {
  /** Small segments are made a part when there are so many, or when nothing has come for a while. */
  manySegments: 64,
  manyBytes: 4 * 1024 * 1024,
  quietMs: 1000,
  /** After so long without a change, parts are merged further than they have to be. */
  idleMs: 1000,
  /** So many parts of one level are made one. */
  fanOut: 8,
}

const firstLevel = 16_384

/**
 * A part has at most so many triples, vectors, or words of passages as often as they stand there: the
 * memory of a merge is bounded by it. Larger libraries have several such parts.
 */
const mostMerged = { triples: 2 ** 23, vectors: 2 ** 20, words: 2 ** 28 }

/** The main file of a part is no larger, more or less: some numbers in it are offsets of 32 bits. */
const mostBytes = 2 ** 31

/** What the size of a part goes by: its rows, or where these are long as many as its bytes come to. */
export function rowsOf(part: PartRecord): number {
  const rowBytes = mostBytes / mostRows(part)
  return Math.max(countedRows(part), Math.ceil(layoutOf(part).end / rowBytes))
}

function countedRows({ triples, placeRows, vectors, passages }: PartRecord): number {
  // A merge holds a row of a triple for each place that says it.
  if (passages === undefined) return vectors?.count ?? Math.max(triples, placeRows)
  const { title, heading, text } = passages.lengths
  return passages.count + title + heading + text
}

/** How many rows a part of its kind may have. */
export function mostRows({ vectors, passages }: PartRecord): number {
  if (passages !== undefined) return mostMerged.words
  return vectors === undefined ? mostMerged.triples : mostMerged.vectors
}

/** Above this share of rows that nobody says any more, a part is made anew without them. */
const mostDead = 0.2

/**
 * Where nothing else is to be done, a part is merged with smaller ones that together have an eighth of its rows: after
 * a load few are left, mostly one of a kind, and no large one is written again for a few rows. Who pauses after each
 * import has each row written some four times while what lies with it grows eightfold: of 5,000 imports 20 times.
 */
const restRatio = 8

/**
 * What waits when nothing comes any more is merged with small parts before it is one of them. Nothing else is indexed
 * meanwhile, so they have no more rows of a kind than are merged in a second or two.
 */
export const mostJoined = 2 ** 20

export interface Candidate {
  readonly rows: number
  /** Share of them that nobody says any more. */
  readonly dead: number
  /** Many vectors, not linked yet. */
  readonly isUnlinked: boolean
}

/** Candidates of one kind that should be merged now; undefined where all is well. */
export function merged<T extends Candidate>(
  candidates: readonly T[],
  most: number,
  isIdle: boolean,
): readonly T[] | undefined {
  const byRows = smallOf(candidates, most)
  const levels = new Map<number, T[]>()
  for (const candidate of byRows) {
    const level = levelOf(candidate.rows)
    const those = levels.get(level)
    if (those === undefined) levels.set(level, [candidate])
    else those.push(candidate)
  }
  for (const those of levels.values()) {
    if (those.length < pace.fanOut) continue
    const chosen = alike(atMost(those, most))
    if (chosen.length > 1) return chosen
  }
  const dead = candidates.find((candidate) => candidate.dead > mostDead)
  if (dead !== undefined) return [dead]
  const unlinked = candidates.find(({ isUnlinked }) => isUnlinked)
  if (unlinked !== undefined) return [unlinked]
  return isIdle ? atRest(byRows, most) : undefined
}

/** The most of the small ones of which none is much larger than all before it; undefined where these are not several. */
export function atRest<T extends Candidate>(
  candidates: readonly T[],
  most: number,
): readonly T[] | undefined {
  const byRows = smallOf(candidates, most)
  let chosen = 0
  let before = 0
  for (const [n, { rows }] of byRows.entries()) {
    if (before + rows > most) break
    if (n > 0 && rows <= restRatio * before) chosen = n + 1
    before += rows
  }
  return chosen > 1 ? byRows.slice(0, chosen) : undefined
}

/** Those that two of may be one, the smallest first. */
function smallOf<T extends Candidate>(candidates: readonly T[], most: number): readonly T[] {
  return candidates.filter(({ rows }) => rows < most / 2).sort((a, b) => a.rows - b.rows)
}

/** All in as few groups as they fit into; those of one that is to stay as it is are left out. */
export function groupsOf<T extends Candidate>(
  candidates: readonly T[],
  most: number,
): readonly (readonly T[])[] {
  const groups: T[][] = []
  for (const candidate of [...candidates].sort((a, b) => b.rows - a.rows)) {
    const group = groups.find((those) => sum(those) + candidate.rows <= most)
    if (group === undefined) groups.push([candidate])
    else group.push(candidate)
  }
  return groups.filter(
    (group) => group.length > 1 || group.some(({ dead, isUnlinked }) => dead > 0 || isUnlinked),
  )
}

/** Without those that would be written again for a few rows. */
function alike<T extends Candidate>(byRows: readonly T[]): readonly T[] {
  let end = byRows.length
  while (end > 1 && (byRows[end - 1] as T).rows > 2 * sum(byRows.slice(0, end - 1))) end--
  return byRows.slice(0, end)
}

function atMost<T extends Candidate>(those: readonly T[], most: number): readonly T[] {
  let rows = 0
  return those.slice(0, 2 * pace.fanOut).filter((candidate) => (rows += candidate.rows) <= most)
}

function sum(those: readonly Candidate[]): number {
  return those.reduce((rows, candidate) => rows + candidate.rows, 0)
}

function levelOf(rows: number): number {
  return Math.max(0, Math.ceil(Math.log(Math.max(1, rows) / firstLevel) / Math.log(pace.fanOut)))
}
