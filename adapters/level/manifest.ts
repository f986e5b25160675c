// Which files of a LevelDB directory are the database: the sum of the edits in its MANIFEST.

import { VarintReader } from './varints.js'

export interface Manifest {
  /** Records of logs from this one on are not in tables yet. 0: of none. */
  readonly logNumber: number
  /** An older log that counts as well; LevelDB no longer makes such. */
  readonly previousLogNumber: number
  /** Of the last operation known when it was written. */
  readonly lastSequence: number
  /** Lengths of the tables in use, by number. */
  readonly tables: ReadonlyMap<number, number>
}

const tags = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLog: 9,
} as const

/** Throws a RangeError where the records are not edits, or leave something open. */
export function readManifest(records: Iterable<Uint8Array>): Manifest {
  const tables = new Map<number, number>()
  let logNumber: number | undefined
  let nextFile: number | undefined
  let lastSequence: number | undefined
  let previousLogNumber = 0
  for (const record of records) {
    const reader = new VarintReader(record)
    while (!reader.done) {
      const tag = reader.number()
      if (tag === tags.comparator) reader.bytes()
      else if (tag === tags.logNumber) logNumber = reader.number()
      else if (tag === tags.nextFile) nextFile = reader.number()
      else if (tag === tags.lastSequence) lastSequence = reader.number()
      else if (tag === tags.previousLog) previousLogNumber = reader.number()
      else if (tag === tags.compactPointer) {
        reader.number()
        reader.bytes()
      } else if (tag === tags.deletedFile) {
        reader.number()
        tables.delete(reader.number())
      } else if (tag === tags.newFile) {
        reader.number()
        tables.set(reader.number(), reader.number())
        reader.bytes()
        reader.bytes()
      } else throw new RangeError(`an edit with the tag ${tag}`)
    }
  }
  if (logNumber === undefined || nextFile === undefined || lastSequence === undefined) {
    throw new RangeError('the edits do not say which files there are')
  }
  return { logNumber, previousLogNumber, lastSequence, tables }
}
