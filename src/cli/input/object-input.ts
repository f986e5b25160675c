// The objects of an input, whatever it is: NDJSON, an array, an import request, or the report of
// what an import before refused.

import { countKeys } from '../../http/json-scan.js'
import { parseJson } from '../../json-text.js'
import { describe } from '../output/failure.js'
import { BrokenInput, JsonSplitter } from './json-splitter.js'
import type { RawValue } from './json-splitter.js'
import { isRecord } from '../../door/wording.js'

export interface InputObject {
  /** Its place among the values of the input, from 0. */
  readonly index: number
  /** Of its first byte, from 1. */
  readonly line: number
  /** As it was written, without line breaks. */
  readonly text: string
  /** What JSON.parse makes of it; any JSON. */
  readonly value: unknown
  /** Why it is not even worth a try. */
  readonly flaw?: string
}

interface ObjectInput {
  /** `metadata` and `schema_name` of an import request. */
  readonly request: Readonly<Record<string, unknown>> | undefined
  readonly objects: AsyncIterable<InputObject>
}

/** A body nests 200 deep at most; the objects of an import request lie two levels down. */
const maxDepth = 198

const noObject = 'is no object'

/** Of the lines that RefusalReport writes. */
const reportKeys = ['line', 'index', 'id', 'errors', 'object']

/**
 * Reads as far as the first object. The first `skip` values are passed over.
 * @throws BrokenInput, here and from the objects
 */
export async function readObjects(
  source: AsyncIterable<Uint8Array>,
  skip: number,
): Promise<ObjectInput> {
  const splitter = new JsonSplitter()
  const values = split(source, splitter)
  const first = await values.next()
  return { request: splitter.request, objects: parsed(first, values, skip) }
}

async function* split(
  source: AsyncIterable<Uint8Array>,
  splitter: JsonSplitter,
): AsyncGenerator<RawValue, void, undefined> {
  for await (const chunk of source) {
    yield* splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
  }
  yield* splitter.end()
}

async function* parsed(
  first: IteratorResult<RawValue, void>,
  rest: AsyncGenerator<RawValue, void, undefined>,
  skip: number,
): AsyncGenerator<InputObject, void, undefined> {
  const isReport = first.done !== true && isReportLine(parse(first.value, 0).value)
  let index = 0
  for (let next = first; next.done !== true; next = await rest.next()) {
    if (index >= skip) {
      const object = parse(next.value, index)
      yield isReport ? reported(object) : object
    }
    index++
  }
  if (index < skip) throw new Error(`there are ${index} objects to read, not ${skip} to skip`)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parse({ bytes, line, depth, keys }: RawValue, index: number): InputObject {
  let written: string
  try {
    written = decoder.decode(bytes)
  } catch (cause) {
    throw new BrokenInput(line, 'what begins there is not UTF-8', cause)
  }
  let value: unknown
  try {
    value = parseJson(written)
  } catch (cause) {
    throw new BrokenInput(line, `what begins there is not JSON: ${describe(cause)}`, cause)
  }
  // Between the parts of a value, not in its strings: JSON.parse refuses them there.
  const text = written.replace(/[\r\n]+/g, ' ')
  const flaw = flawOf(value, depth, keys)
  return { index, line, text, value, ...(flaw !== undefined && { flaw }) }
}

function flawOf(value: unknown, depth: number, keys: number): string | undefined {
  if (!isRecord(value)) return noObject
  if (depth > maxDepth) return `nested deeper than ${maxDepth} levels`
  // JSON.parse keeps the last one without a word.
  if (countKeys(value, maxDepth) !== keys) return 'a key is there twice'
  return undefined
}

function isReportLine(value: unknown): value is { readonly object: unknown } {
  return isRecord(value) && Object.keys(value).sort().join() === reportKeys.toSorted().join()
}

/** The object of a report's line, in its own words: a report is written with it at the end. */
function reported({ index, line, text, value, flaw }: InputObject): InputObject {
  if (!isReportLine(value)) {
    throw new BrokenInput(line, `no line of a report, which has ${reportKeys.join(', ')}`)
  }
  const key = /"object"\s*:\s*/.exec(text)
  if (key === null || Object.keys(value).at(-1) !== 'object') {
    throw new BrokenInput(line, "'object' has to be the last member of a report's line")
  }
  const own = text.slice(key.index + key[0].length, text.lastIndexOf('}'))
  const object = { index, line, text: own, value: value.object }
  const found = isRecord(value.object) ? flaw : noObject
  return { ...object, ...(found !== undefined && { flaw: found }) }
}
