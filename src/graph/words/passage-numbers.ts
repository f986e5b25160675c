/** Numbers of the passages of a set, all of them zeros between two searches, and which of them are not. */
export class PassageNumbers {
  readonly values: Float64Array
  readonly changed: Uint32Array
  count = 0

  constructor(passages: number) {
    this.values = new Float64Array(passages)
    this.changed = new Uint32Array(passages)
  }

  /** Adds a number above 0. */
  add(passage: number, number: number): void {
    const { values } = this
    const before = values[passage] as number
    if (before === 0) this.changed[this.count++] = passage
    values[passage] = before + number
  }

  clear(): void {
    if (this.count > this.values.length / 8) this.values.fill(0)
    else for (let n = 0; n < this.count; n++) this.values[this.changed[n] as number] = 0
    this.count = 0
  }
}
