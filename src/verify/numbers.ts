/** Whole numbers, 8 bytes each. */
export class Numbers {
  #numbers = new Float64Array(1024)
  #length = 0

  add(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Float64Array(2 * this.#length)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#length++] = number
  }

  /** Puts them in order. */
  sorted(): Float64Array {
    return this.#numbers.subarray(0, this.#length).sort()
  }
}

/** Where the first one is that is not less. */
export function placeOf(number: number, sorted: Float64Array): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return low
}
