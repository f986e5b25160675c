// node library-cold-child.js DIRECTORY CORE
//
// Opens the store in the directory, asks for the triples of a subject of a core, and tells how long both took.

import { collect, openOurs } from './graph-store.js'
import { subject, user } from './library-data.js'

export interface ColdLibraryAnswer {
  readonly openMs: number
  readonly ms: number
  readonly found: number
}

const [directory = '', core = '0'] = process.argv.slice(2)
const start = performance.now()
await using keep = await openOurs(directory)
const opened = performance.now()
const found = await collect(keep.knowledge.graph({ user }).match({ s: subject(Number(core), 1) }))
const ms = performance.now() - opened
const answer: ColdLibraryAnswer = { openMs: opened - start, ms, found: found.length }
process.stdout.write(JSON.stringify(answer))
