// A seeded generator (mulberry32), so that a failing run can be repeated: set LOREKEEP_SEED.

export interface Random {
  /** A whole number from 0 up to, not including, `below`. */
  integer(below: number): number
  bytes(length: number): Uint8Array
  pick<Value>(values: readonly Value[]): Value
}

function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return {
    integer: (below) => next() % below,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
    // Not empty at any call in the suite.
    pick: (values) => values[next() % values.length]!,
  }
}

/** Runs with a seed; an error's message gains the seed that brought it about. */
export async function withSeed(run: (random: Random) => Promise<void>): Promise<void> {
  const seed = Number(process.env.LOREKEEP_SEED ?? Math.floor(Math.random() * 2 ** 32))
  try {
    await run(createRandom(seed))
  } catch (error) {
    throw new Error(`failed with LOREKEEP_SEED=${seed}: ${String(error)}`, { cause: error })
  }
}
