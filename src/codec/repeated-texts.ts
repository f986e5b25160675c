// Texts that a stream says again and again, such as datatypes and languages, found by their bytes: in a
// core of typed literals each fourth text is one.
// Hot: benchmarks/graph-import.ts; change with numbers.

const slots = 128
const maxBytes = 128

interface Slots<T> {
  readonly views: DataView[]
  readonly values: (T | undefined)[]
}

/** Of who has none yet, and nobody's to change. Many streams say none, and 4 us are a tenth of a small import. */
const noTexts: Slots<never> = {
  views: new Array<DataView>(slots).fill(new DataView(new ArrayBuffer(0))),
  values: new Array<undefined>(slots).fill(undefined),
}

/** What was last said of each of them. A text takes the place of another one now and then. */
export class RepeatedTexts<T> {
  #slots: Slots<T> = noTexts

  /** Of the text that is [from, to) of `view`. */
  get(view: DataView, from: number, to: number): T | undefined {
    const length = to - from
    if (length === 0 || length > maxBytes) return undefined
    const slot = slotOf(view, from, to)
    const { views, values } = this.#slots
    const text = views[slot] as DataView
    if (text.byteLength !== length) return undefined
    let i = 0
    for (const last = length - 4; i <= last; i += 4) {
      if (view.getInt32(from + i) !== text.getInt32(i)) return undefined
    }
    for (; i < length; i++) if (view.getUint8(from + i) !== text.getUint8(i)) return undefined
    return values[slot]
  }

  set(view: DataView, from: number, to: number, value: T): void {
    const length = to - from
    if (length === 0 || length > maxBytes) return
    if (this.#slots === noTexts) {
      this.#slots = { views: noTexts.views.slice(), values: noTexts.values.slice() }
    }
    const { views, values } = this.#slots
    const slot = slotOf(view, from, to)
    const text = new Uint8Array(view.buffer, view.byteOffset + from, length).slice()
    views[slot] = new DataView(text.buffer)
    values[slot] = value
  }
}

/** Texts of one kind begin alike, and differ in their length or their end. */
function slotOf(view: DataView, from: number, to: number): number {
  const third = view.getUint8(Math.max(from, to - 3))
  const some = (to - from) | (view.getUint8(to - 1) << 8) | (third << 16)
  return Math.imul(some, 0x165667b1) >>> 25
}
