// What has to hold of the blocks of documents: they hold documents, each is needed by somebody, and
// each that is needed is there.

import { LorekeepError } from '../../errors.js'
import { keyPrefix } from '../../keys.js'
import { Numbers } from '../../verify/numbers.js'
import { tupleOf, type Reading } from '../../verify/reading.js'
import { keyText, tupleText } from '../../verify/report.js'
import { DocumentBlock, type StoredDocument } from '../queue/block.js'
import { blockOf, bodyKey, slotOf } from '../queue/records.js'
import { isDocument } from './record-shapes.js'
import { StoredBlocks } from './stored-blocks.js'

export class BlocksCheck {
  /** The number that the head gives next. */
  nextBlock = Infinity
  readonly #reading: Reading
  readonly #blocks: StoredBlocks
  /** Blocks that somebody needs, as often as runs and records name them. */
  readonly #needed = new Numbers()

  constructor(reading: Reading) {
    this.#reading = reading
    this.#blocks = new StoredBlocks(reading, (block) => void block.count)
  }

  get(block: number): Promise<DocumentBlock | undefined> {
    return this.#blocks.get(block)
  }

  isTold(block: number): boolean {
    return this.#blocks.told.has(block)
  }

  need(block: number): void {
    this.#needed.add(block)
  }

  /** Whether all that is in it are documents. */
  async checkDocuments(number: number): Promise<void> {
    const block = await this.get(number)
    if (block === undefined) return
    const { partition, report } = this.#reading
    for (let slot = 0; slot < block.count; slot++) {
      const stored = block.at(slot, slot)
      if (stored !== undefined && !isDocument(stored)) {
        const message = `the document in place ${slot} is none`
        report.error(partition, 'damaged', tupleText('block', number), message)
      }
    }
  }

  /** The document of a job, in its block or in a body of its own. */
  async documentOf(number: number, ownBody: boolean): Promise<StoredDocument | undefined> {
    if (!ownBody) return (await this.get(blockOf(number)))?.at(slotOf(number), number)
    const bytes = await this.#reading.get(bodyKey(number))
    if (bytes === undefined) return undefined
    try {
      const stored = new DocumentBlock(bytes).at(0, number)
      if (stored === undefined || !isDocument(stored)) {
        throw new LorekeepError('LK_STORAGE_CORRUPT', 'it holds no document')
      }
      return stored
    } catch (error) {
      this.#reading.damaged(bodyKey(number), (error as Error).message)
      return undefined
    }
  }

  /** Compares what is there with what was needed until now. */
  async *compare(): AsyncGenerator<void, void, undefined> {
    const { partition, report } = this.#reading
    const { told } = this.#blocks
    const needed = this.#needed.sorted()
    let at = 0
    const pass = (number: number) => {
      for (; at < needed.length && (needed[at] as number) < number; at++) {
        const block = needed[at] as number
        if (told.has(block)) continue
        told.add(block)
        report.error(partition, 'missing', tupleText('block', block), 'jobs need documents of it')
      }
    }
    const range = { ...keyPrefix('block'), keysOnly: true }
    for await (const { key } of this.#reading.entries(range)) {
      const [number] = tupleOf<[number]>(key, 'n') ?? []
      if (number === undefined) continue
      if (number >= this.nextBlock) {
        const message = 'the head has not given that number yet'
        report.error(partition, 'different', keyText(key), message)
      }
      pass(number)
      if (needed[at] !== number) {
        told.add(number)
        report.error(partition, 'unreferenced', keyText(key), 'no job needs it')
      }
      while (needed[at] === number) at++
      yield
    }
    pass(Infinity)
  }
}
