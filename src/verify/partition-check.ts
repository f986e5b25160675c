// What the checks of all partitions begin with: keys of a kind, and a format that is known.

import { kindOf, tupleOf, type Reading } from './reading.js'
import { keyText } from './report.js'

/** Of those who share the store: what they have in all partitions. */
const ofMembers: ReadonlyMap<string, string> = new Map([
  ['member', 's'],
  ['beat', 's'],
])

/**
 * `shapes`: what follows in a key of each kind, for tupleOf(), of several between bars one. Gives the number of keys by kind, of
 * those of no kind under ''.
 */
export async function verifyKeys(
  reading: Reading,
  shapes: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for await (const page of reading.pages({ keysOnly: true })) {
    for (const { key } of page) {
      const kind = kindOf(key)
      const shape = shapes.get(kind) ?? ofMembers.get(kind)
      const counted = shape === undefined ? '' : kind
      counts.set(counted, (counts.get(counted) ?? 0) + 1)
      const isOfShape = shape?.split('|').some((one) => tupleOf(key, one) !== undefined)
      if (isOfShape !== true) {
        reading.report.error(reading.partition, 'unknown', keyText(key), 'a key of no kind')
      }
    }
  }
  return counts
}

/** `member` is where the record of the format has its number. */
export async function verifyFormat(
  reading: Reading,
  key: Uint8Array,
  member: 'format' | 'version',
  known: number,
): Promise<void> {
  const { partition, report } = reading
  const value = await reading.get(key)
  if (value === undefined) {
    report.error(partition, 'missing', keyText(key), 'says what format the data is of')
    return
  }
  const record = reading.record<Partial<Record<typeof member, number>>>({ key, value })
  if (record === undefined || record[member] === known) return
  const message = `format ${record[member]}; this version reads ${known}`
  report.error(partition, 'different', keyText(key), message)
}
