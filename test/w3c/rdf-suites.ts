// RDF 1.1: what a text says is in the core, and goes through every pair of syntaxes; what is none is
// refused with its line.

import type { Lorekeep } from '../../src/lorekeep.js'
import { parseRdf, writeRdf, type RdfFormat } from '../../src/rdf/index.js'
import { asSet, isIsomorphic, type Tuple } from './isomorphism.js'
import type { Suites, SuiteTest } from './manifest.js'
import { readNQuads } from './n-quads.js'
import { ofTriple } from './terms.js'

export const rdfManifests = ['n-triples', 'n-quads', 'turtle', 'trig'].map(
  (name) => `rdf/rdf11/rdf-${name}/manifest.ttl`,
)

const formats: readonly RdfFormat[] = ['n-triples', 'n-quads', 'turtle', 'trig']

/** Rejects with what is wrong. */
export async function rdfTest(suites: Suites, keep: Lorekeep, test: SuiteTest): Promise<void> {
  const { group, type, action, result } = test
  const format = group.replace('rdf/rdf11/rdf-', '') as RdfFormat
  const text = await suites.read(action)
  const core = coreIn(keep, 'read')
  if (type.includes('Negative')) return refuse(core, text, format, action)
  await core.importText(text, format, action)
  const isLines = format === 'n-triples' || format === 'n-quads'
  const said = result === undefined ? isLines && text : await suites.read(result)
  const expected = said === false ? await core.quads() : readNQuads(said.toString())
  check(expected, await core.quads(), 'the core')
  check(expected, readNQuads(await core.exportText('n-quads')), 'the export')
  for (const first of formats) {
    const through = coreIn(keep, 'through')
    await through.importText(await core.exportText(first), first)
    for (const second of formats) {
      const back = coreIn(keep, 'back')
      await back.importText(await through.exportText(second), second)
      check(expected, readNQuads(await back.exportText('n-quads')), `${first}, ${second}`)
    }
  }
}

async function refuse(core: Core, text: Uint8Array, format: RdfFormat, base: string) {
  const error = await core.importText(text, format, base).then(
    () => new Error('it was taken'),
    (reason: unknown) => reason,
  )
  const { code, details } = error as { code?: string; details?: { line?: unknown } }
  if (code !== 'LK_RDF_FORMAT') throw error
  if (!Number.isSafeInteger(details?.line)) throw new Error('it is refused without a line')
}

function check(expected: readonly Tuple[], found: readonly Tuple[], place: string): void {
  if (isIsomorphic(expected, found)) return
  const shown = (tuples: readonly Tuple[]) => tuples.map((tuple) => tuple.join(' ')).join('\n')
  throw new Error(`${place}:\n${shown(found)}\nexpected:\n${shown(expected)}`)
}

type Core = ReturnType<typeof coreIn>

/** A core by its name, which each import replaces. */
function coreIn(keep: Lorekeep, id: string) {
  const ref = { user: 'w3c', id }
  return {
    async importText(text: Uint8Array | string, format: RdfFormat, base?: string) {
      const messages = parseRdf(Buffer.from(text), { format, base })
      await keep.knowledge.write(ref, messages, { mode: 'replace' })
    },
    async exportText(format: RdfFormat): Promise<string> {
      const chunks: Uint8Array[] = []
      for await (const chunk of writeRdf(keep.knowledge.messages(ref), { format })) {
        chunks.push(chunk)
      }
      return Buffer.concat(chunks).toString()
    },
    async quads(): Promise<readonly Tuple[]> {
      const tuples: Tuple[] = []
      for await (const [type, data] of keep.knowledge.messages(ref)) {
        if (type === 't') tuples.push(...data.t.map(ofTriple))
      }
      return asSet(tuples)
    },
  }
}
