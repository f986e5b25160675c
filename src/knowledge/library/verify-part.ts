// Whether a part is in itself what it should be. All that is in it follows from its terms, its places, its
// rows in one order and its vectors: a part that is merged with nothing is the same part again. What is
// made so is compared with what lies there. A merge holds 24 bytes for each row: some 200 MiB at most.

import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { BlockStorage } from '../../block-writer.js'
import { LorekeepError } from '../../errors.js'
import { BlockCache } from '../../graph/index/block-cache.js'
import { hashWords } from '../../graph/index/encoded-term.js'
import { linksKey, mainKey, vectorKey } from '../../graph/index/keys.js'
import type { PartRecord, VectorRecord } from '../../graph/index/layout.js'
import { vectorFile } from '../../graph/index/links-writer.js'
import { mergeParts } from '../../graph/index/merging.js'
import { Part } from '../../graph/index/part.js'
import { withBlocks } from '../../graph/miss.js'
import { linkBlocks, LinksLayout, readHeader } from '../../graph/vectors/links.js'
import { decodeKey } from '../../keys.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Operation } from '../../storage.js'
import type { Reading } from '../../verify/reading.js'
import { createId } from '../records.js'

/** Of blocks with terms, while these are looked at. */
const termBytes = 4 * 1024 * 1024

export interface PartDamage {
  /** The block, where it is one of which that is known. */
  readonly block: Uint8Array | undefined
  readonly message: string
}

/**
 * What is wrong with a part of which all blocks are there; `undefined` where nothing is. Empty where that
 * was told: a block could not be read.
 * @throws LorekeepError `LK_STORAGE_*` but `LK_STORAGE_CORRUPT`
 */
export async function damageOf(
  part: PartRecord,
  slices: Reading,
): Promise<readonly PartDamage[] | undefined> {
  const { signal } = slices.report
  const made = new MadeAgain(part, slices)
  try {
    const inputs = [{ part, dead: [] }]
    // Links are none that could be made again: they depend on the parts that were merged.
    const options = { minLinked: Infinity, signal, onProgress: undefined }
    const record = await mergeParts(made, made.id, inputs, options)
    if (made.isUnreadable) return []
    if (!isSameRecord(part, record)) {
      const message = `part '${part.id}/${part.number}' is not what its record says`
      return [{ block: undefined, message }]
    }
    if (made.different.length > 0) {
      const message = 'is not what the rest of its part gives'
      return made.different.map((block) => ({ block, message }))
    }
    const term = await wrongTerm(part, slices)
    if (term !== undefined) {
      const message = `part '${part.id}/${part.number}': its term ${term} is not found by its hash`
      return [{ block: undefined, message }]
    }
    if (part.vectors !== undefined) await readLinks(made, part, part.vectors)
    return made.isUnreadable ? [] : undefined
  } catch (error) {
    if (made.isUnreadable) return []
    const reason = reasonOf(error, signal)
    return [{ block: undefined, message: `part '${part.id}/${part.number}': ${reason}` }]
  }
}

/** Why a part cannot be read. Throws what has another cause than its bytes. */
export function reasonOf(error: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted()
  if (!(error instanceof LorekeepError)) return 'what it says does not fit together'
  if (error.code !== 'LK_STORAGE_CORRUPT') throw error
  return error.message
}

function isSameRecord(part: PartRecord, made: PartRecord | undefined): boolean {
  const { id, number, vectors } = part
  const links = vectors?.links ?? 0
  const expected = made && {
    ...made,
    id,
    number,
    vectors: made.vectors && { ...made.vectors, links },
  }
  return isDeepStrictEqual(plain(part), plain(expected ?? {}))
}

/** Without what is undefined. */
function plain(record: object): object {
  return decodeRecord<object>(encodeRecord(record))
}

/** Terms that are looked at before others get their turn. */
const termsAtOnce = 1000

/** Merging takes hashes as they are, and texts without what fills their last number. */
async function wrongTerm(record: PartRecord, slices: Reading): Promise<number | undefined> {
  const { terms } = new Part(new BlockCache(slices, termBytes), record)
  for (let id = 0; id < terms.count;) {
    const to = Math.min(terms.count, id + termsAtOnce)
    const isWrong = await withBlocks(() => {
      for (; id < to; id++) {
        const entry = terms.encoded(id)
        const hash = terms.hashOf(id)
        if (hashWords(entry, 0, entry.length) !== hash) return true
        const difference = id === 0 ? 1 : hash - terms.hashOf(id - 1)
        if (difference < 0) return true
        if (difference === 0 && terms.compare(id - 1, terms, id) >= 0) return true
      }
      return false
    })
    if (isWrong) return id
    await turn()
    slices.report.signal?.throwIfAborted()
  }
  return undefined
}

async function readLinks(
  storage: BlockStorage,
  part: PartRecord,
  vectors: VectorRecord,
): Promise<void> {
  if (vectors.links === 0) return
  const file = vectorFile(storage, part, vectors)
  const header = await readHeader(file)
  const blocks = linkBlocks(file, new LinksLayout(vectors.dimensions, header))
  for (let n = 0; n < blocks.count; n++) await blocks.read(n)
}

/** Takes what is made of a part, under a name of its own, and compares it with what lies there. */
class MadeAgain implements BlockStorage {
  readonly id = createId(0)
  readonly different: Uint8Array[] = []
  /** Something could not be read, which was told. */
  isUnreadable = false
  readonly #part: PartRecord
  readonly #slices: Reading

  constructor(part: PartRecord, slices: Reading) {
    this.#part = part
    this.#slices = slices
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const value = await this.#slices.get(this.#storedKey(key))
    if (value === undefined) this.isUnreadable = true
    return value
  }

  async write(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      if (operation.type !== 'put') continue
      const key = this.#storedKey(operation.key)
      const stored = await this.get(key)
      if (stored !== undefined && Buffer.compare(stored, operation.value) !== 0) {
        this.different.push(key)
      }
    }
  }

  /** Under which the part has what is under this key of the one that is made. */
  #storedKey(key: Uint8Array): Uint8Array {
    const [, , kind, block] = decodeKey(key) as [string, number, number, number]
    return [mainKey, vectorKey, linksKey][kind]?.(this.#part, block) ?? key
  }
}
