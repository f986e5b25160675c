// The manifests of the W3C's suites: https://w3c.github.io/rdf-tests/

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRdf } from '../../src/rdf/index.js'
import { asSet, type Tuple } from './isomorphism.js'
import { iri, ofTriple, valueOf } from './terms.js'

export interface SuiteTest {
  /** The folder of its manifest. */
  readonly group: string
  readonly name: string
  readonly type: string
  /** IRIs of files. For a test without `data` the file that is read, else the query. */
  readonly action: string
  readonly data: readonly string[]
  readonly graphData: readonly string[]
  readonly result: string | undefined
  /** Rows may come less often than the result has them. */
  readonly isLax: boolean
}

const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#'
const qt = 'http://www.w3.org/2001/sw/DataAccess/tests/test-query#'
const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

/** The IRI of the repository's root: where mf:assumedTestBase is said, it begins with it. */
const root = 'https://w3c.github.io/rdf-tests/'

export class Suites {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The text of a file by its IRI. */
  async read(file: string): Promise<Buffer> {
    return readFile(join(this.#folder, decodeURIComponent(file.slice(root.length))))
  }

  /** The tests of a manifest, and of those that it includes, in their order. */
  async tests(path: string): Promise<readonly SuiteTest[]> {
    const manifest = root + path
    const quads = await readTurtle(await this.read(manifest), manifest)
    const graph = new Statements(quads)
    // Some manifests are a blank node.
    const subject = graph.subject(`${rdf}type`, iri(`${mf}Manifest`))
    const included = graph.list(graph.one(subject, `${mf}include`))
    const found: SuiteTest[] = []
    for (const each of included) {
      found.push(...(await this.tests(valueOf(each).slice(root.length))))
    }
    const group = path.replace(/\/[^/]*$/, '')
    const entries = graph.list(graph.one(subject, `${mf}entries`))
    return [...found, ...entries.map((entry) => testOf(graph, group, entry))]
  }
}

function testOf(graph: Statements, group: string, entry: string): SuiteTest {
  const local = (term: string | undefined) => valueOf(term ?? '').replace(/^.*[#/]/s, '')
  const files = (terms: readonly string[]) => terms.map(valueOf)
  const action = graph.one(entry, `${mf}action`) ?? ''
  const query = graph.one(action, `${qt}query`)
  const result = graph.one(entry, `${mf}result`)
  return {
    group,
    name: local(entry),
    type: local(graph.one(entry, `${rdf}type`)),
    action: valueOf(query ?? action),
    data: files(graph.all(action, `${qt}data`)),
    graphData: files(graph.all(action, `${qt}graphData`)),
    result: result && valueOf(result),
    isLax: local(graph.one(entry, `${mf}resultCardinality`)) === 'LaxCardinality',
  }
}

class Statements {
  readonly #quads: readonly Tuple[]
  readonly #objects = new Map<string, string[]>()

  constructor(quads: readonly Tuple[]) {
    this.#quads = quads
    for (const [subject, predicate, object] of quads as readonly [string, string, string][]) {
      const key = `${subject} ${predicate}`
      this.#objects.set(key, [...(this.#objects.get(key) ?? []), object])
    }
  }

  /** The first that this is said of. */
  subject(predicate: string, object: string): string {
    const found = this.#quads.find(([, p, o]) => p === iri(predicate) && o === object)
    return found?.[0] ?? ''
  }

  all(subject: string, predicate: string): readonly string[] {
    return this.#objects.get(`${subject} ${iri(predicate)}`) ?? []
  }

  one(subject: string, predicate: string): string | undefined {
    return this.all(subject, predicate)[0]
  }

  list(head: string | undefined): readonly string[] {
    const items: string[] = []
    for (let at = head; at !== undefined && at !== iri(`${rdf}nil`);) {
      items.push(...this.all(at, `${rdf}first`))
      at = this.one(at, `${rdf}rest`)
    }
    return items
  }
}

export async function readTurtle(
  text: string | Uint8Array,
  base: string,
): Promise<readonly Tuple[]> {
  const tuples: Tuple[] = []
  for await (const [type, data] of parseRdf(Buffer.from(text), { format: 'turtle', base })) {
    if (type === 't') tuples.push(...data.t.map(ofTriple))
  }
  return asSet(tuples)
}
