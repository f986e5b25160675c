// The step `chunk`: where to cut the document's text.

import { setImmediate } from 'node:timers/promises'
import type { FlowDocument, Step } from '../types.js'
import type { Members } from '../../door/members.js'
import { split, type SplitOptions } from './splitter.js'
import type { Chunk, ChunkOutput } from './types.js'
import { checkArgument, checkOptions } from '../../door/options.js'
import { aCount } from '../../door/rules.js'

const defaultSize = 2000
const defaultOverlap = 100
const leastSize = 16
const mostSize = 1_000_000
/** How long it keeps the process from everything else. */
const turnMs = 10

const chunkOptions = { size: aCount(leastSize, mostSize), overlap: aCount() }

/** Chunks of 2,000 UTF-16 code units at most that overlap by up to 100, unless told otherwise. */
export function chunk(options: Partial<SplitOptions> = {}): Step<unknown, ChunkOutput> {
  const checked = checkOptions('chunk()', options, chunkOptions)
  const { size = defaultSize, overlap = Math.min(defaultOverlap, size >> 2) } = checked
  checkArgument('chunk(): overlap', overlap, aCount(0, size >> 1))
  return {
    name: 'chunk',
    record: false,
    run: async (_, { document, signal, progress }): Promise<ChunkOutput> => {
      signal.throwIfAborted()
      const chunks: Chunk[] = []
      let since = performance.now()
      for (const piece of pieces(document)) {
        chunks.push({ ...piece, index: chunks.length })
        if (performance.now() - since < turnMs) continue
        await setImmediate()
        signal.throwIfAborted()
        since = performance.now()
      }
      progress(chunks.length, chunks.length)
      return { chunks }
    },
  }

  function* pieces(document: FlowDocument): Generator<Chunk, void, undefined> {
    for (const { start, end } of sectionsOf(document)) {
      const text = document.text.slice(start, end)
      for (const piece of split(text, { size, overlap })) {
        yield { ...piece, start: start + piece.start, end: start + piece.end }
      }
    }
  }
}

interface Section {
  readonly start: number
  readonly end: number
}

/**
 * What a chunk may not reach beyond, so that its heading and its page are those of all that it says: from
 * one heading or page of a file to the next. Headings of one page that follow each other begin one
 * section.
 */
function* sectionsOf({ text, headings = [], pages = [] }: FlowDocument): Generator<Section> {
  const ends = new Map(headings.map(({ start, end }) => [start, end]))
  const pageStarts = new Set(pages.map((page) => page.start))
  const starts = new Set([...ends.keys(), ...pageStarts])
  let start = 0
  // Where the text below the headings begins.
  let below = ends.get(0) ?? 0
  for (const next of [...starts].sort((one, other) => one - other)) {
    // A title on a page of its own is on that page.
    const from = pageStarts.has(next) ? start : below
    if (text.slice(from, next).trim() !== '') {
      yield { start, end: next }
      start = next
    }
    below = Math.max(below, ends.get(next) ?? next)
  }
  yield { start, end: text.length }
}

/** The step of a configured flow. */
export function chunkFrom(reader: Members): Step {
  const size = reader.integer('size', leastSize, mostSize)
  const overlap = reader.integer('overlap', 0, (size ?? defaultSize) >> 1)
  return chunk({ ...(size !== undefined && { size }), ...(overlap !== undefined && { overlap }) })
}
