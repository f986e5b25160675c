// What comes one by one, some at a time.

export interface BatchBounds<Item> {
  readonly most: number
  readonly weigh: (item: Item) => number
  /** What a batch may weigh; one item that weighs more is a batch of its own. */
  readonly mostWeight: number
}

/** The items in their order, some at a time. */
export function* inBatches<Item>(
  items: Iterable<Item>,
  bounds: BatchBounds<Item>,
): Generator<Item[], void, undefined> {
  const batches = new Batches(bounds)
  for (const item of items) {
    const full = batches.add([item])
    if (full) yield full
  }
  const last = batches.end()
  if (last) yield last
}

/** The same, for items that come as they are found. */
export class Batches<Item> {
  readonly #bounds: BatchBounds<Item>
  #batch: Item[] = []
  #weight = 0

  constructor(bounds: BatchBounds<Item>) {
    this.#bounds = bounds
  }

  /**
   * @param items they stay together, however many they are
   * @returns the batch that was before, where these do not fit into it
   */
  add(items: readonly Item[]): Item[] | undefined {
    const { most, weigh, mostWeight } = this.#bounds
    let weight = 0
    for (const item of items) weight += weigh(item)
    const isFull = this.#batch.length + items.length > most || this.#weight + weight > mostWeight
    const full = isFull ? this.end() : undefined
    for (const item of items) this.#batch.push(item)
    this.#weight += weight
    return full
  }

  /** The last batch, where there is anything in it. */
  end(): Item[] | undefined {
    const batch = this.#batch
    this.#batch = []
    this.#weight = 0
    return batch.length > 0 ? batch : undefined
  }
}
