// The libraries that approximate search is measured against, as they come: usearch keeps 64 in view,
// and hnswlib as few of its steps as find enough.
//
// hnswlib-node is C++ that has to be compiled by its install script; the peers are installed without
// running any. So it is built when the scenario wants it, and left out where that fails.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import * as bench from './measure.js'
import { dimensions, k } from './vectors-data.js'

const peers = fileURLToPath(new URL('../../benchmarks/', import.meta.url))
const require = createRequire(new URL('../../benchmarks/package.json', import.meta.url))

interface Usearch {
  Index: new (options: object) => {
    add(keys: BigUint64Array, vectors: Float32Array, threads: number): void
    search(vector: Float32Array, k: number, threads: number): { readonly keys: BigUint64Array }
  }
}

interface Hnswlib {
  HierarchicalNSW: new (
    space: string,
    dimensions: number,
  ) => {
    initIndex(most: number): void
    addPoint(vector: number[], label: number): void
    setEf(width: number): void
    searchKnn(vector: number[], k: number): { readonly neighbors: number[] }
  }
}

export interface VectorPeer {
  readonly name: string
  ask(question: Float32Array): ArrayLike<number | bigint>
}

/** Each with the vectors in it; some of them find less than others. */
export async function createPeers(vectors: readonly Float32Array[]): Promise<VectorPeer[]> {
  const made: VectorPeer[] = []
  const { Index } = require('usearch') as Usearch
  const keys = BigUint64Array.from(vectors, (_, n) => BigInt(n))
  const all = new Float32Array(vectors.length * dimensions)
  vectors.forEach((vector, n) => all.set(vector, n * dimensions))
  for (const quantization of ['f32', 'f16', 'i8']) {
    const index = new Index({ metric: 'cos', dimensions, quantization })
    const time = await bench.seconds(() => index.add(keys, all, 1))
    bench.note(`  usearch ${quantization} built in ${time.toFixed(1)} s`)
    made.push({
      name: `usearch, ${quantization}`,
      ask: (vector) => index.search(vector, k, 1).keys,
    })
  }
  const hnswlib = loadHnswlib()
  if (hnswlib === undefined) return made
  const index = new hnswlib.HierarchicalNSW('ip', dimensions)
  index.initIndex(vectors.length)
  const time = await bench.seconds(() => {
    for (const [n, vector] of vectors.entries()) index.addPoint([...vector], n)
  })
  bench.note(`  hnswlib built in ${time.toFixed(1)} s`)
  // Questions are arrays there: they are made before they are asked.
  const arrays = new Map<Float32Array, number[]>()
  for (const width of [10, 20, 40, 80]) {
    made.push({
      name: `hnswlib-node, ef ${width}`,
      ask: (vector) => {
        const array = arrays.get(vector) ?? [...vector]
        arrays.set(vector, array)
        index.setEf(width)
        return index.searchKnn(array, k).neighbors
      },
    })
  }
  return made
}

function loadHnswlib(): Hnswlib | undefined {
  const load = () => {
    try {
      return require('hnswlib-node') as Hnswlib
    } catch {
      return undefined
    }
  }
  const loaded = load()
  if (loaded !== undefined) return loaded
  bench.note('building hnswlib-node, which takes a minute')
  const flags = ['--ignore-scripts=false', '--loglevel=error']
  spawnSync('npm', ['rebuild', 'hnswlib-node', '--prefix', peers, ...flags], { cwd: peers })
  const built = load()
  if (built === undefined) bench.note('hnswlib-node could not be built: its rows are missing')
  return built
}
