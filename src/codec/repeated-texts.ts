// Texts that a stream says again and again, such as datatypes and languages, found by their bytes: in a
// core of typed literals each fourth text is one.
// Hot: benchmarks/graph-import.ts; change with numbers.

const slots = 128
const maxBytes = 128

/** What was last said of each of them. A text takes the place of another one now and then. */
export class RepeatedTexts<T> {
  readonly #views: DataView[] = new Array<DataView>(slots).fill(new DataView(new ArrayBuffer(0)))
  readonly #values: (T | undefined)[] = new Array<undefined>(slots).fill(undefined)

  /** Of the text that is [from, to) of `view`. */
  get(view: DataView, from: number, to: number): T | undefined {
    const length = to - from
    if (length === 0 || length > maxBytes) return undefined
    const slot = slotOf(view, from, to)
    const text = this.#views[slot] as DataView
    if (text.byteLength !== length) return undefined
    let i = 0
    for (const last = length - 4; i <= last; i += 4) {
      if (view.getInt32(from + i) !== text.getInt32(i)) return undefined
    }
    for (; i < length; i++) if (view.getUint8(from + i) !== text.getUint8(i)) return undefined
    return this.#values[slot]
  }

  set(view: DataView, from: number, to: number, value: T): void {
    const length = to - from
    if (length === 0 || length > maxBytes) return
    const slot = slotOf(view, from, to)
    const text = new Uint8Array(view.buffer, view.byteOffset + from, length).slice()
    this.#views[slot] = new DataView(text.buffer)
    this.#values[slot] = value
  }
}

/** Texts of one kind begin alike, and differ in their length or their end. */
function slotOf(view: DataView, from: number, to: number): number {
  const third = view.getUint8(Math.max(from, to - 3))
  const some = (to - from) | (view.getUint8(to - 1) << 8) | (third << 16)
  return Math.imul(some, 0x165667b1) >>> 25
}
