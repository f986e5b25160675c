export interface BatchBounds<Item> {
  readonly most: number
  readonly weigh: (item: Item) => number
  /** What a batch may weigh; one item that weighs more is a batch of its own. */
  readonly mostWeight: number
}

/** The items in their order, some at a time. */
export function* inBatches<Item>(
  items: Iterable<Item>,
  { most, weigh, mostWeight }: BatchBounds<Item>,
): Generator<Item[], void, undefined> {
  let batch: Item[] = []
  let weight = 0
  for (const item of items) {
    const weighs = weigh(item)
    if (batch.length > 0 && (batch.length === most || weight + weighs > mostWeight)) {
      yield batch
      batch = []
      weight = 0
    }
    batch.push(item)
    weight += weighs
  }
  if (batch.length > 0) yield batch
}
