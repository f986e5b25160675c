// Arrays in PostgreSQL's binary format (array_recv): nothing is escaped on the way.

const bytea = 17
const int4 = 23
// Dimensions, whether there are nulls, type, length, lowest index.
const headBytes = 20

/** For a parameter of type bytea[]. */
export function byteaArray(values: readonly (Uint8Array | undefined)[]): Buffer {
  let length = headBytes
  for (const value of values) length += 4 + (value?.length ?? 0)
  const array = begin(length, bytea, values.length)
  let at = headBytes
  for (const value of values) {
    at = array.writeInt32BE(value?.length ?? -1, at)
    if (value === undefined) continue
    array.set(value, at)
    at += value.length
  }
  return array
}

/** For a parameter of type int4[]. */
export function int4Array(values: readonly number[]): Buffer {
  const array = begin(headBytes + values.length * 8, int4, values.length)
  let at = headBytes
  for (const value of values) {
    at = array.writeInt32BE(4, at)
    at = array.writeInt32BE(value, at)
  }
  return array
}

function begin(length: number, type: number, count: number): Buffer {
  const array = Buffer.allocUnsafe(length)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(1, 4)
  array.writeInt32BE(type, 8)
  array.writeInt32BE(count, 12)
  array.writeInt32BE(1, 16)
  return array
}
