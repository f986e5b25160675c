// Random sequences of everything a KnowledgeStore does, against a model that is a map of lists.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { CoreExport } from '../../src/knowledge/types.js'
import type { CoreMessage } from '../../src/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { coreProblems } from '../fixtures/problems.js'
import { exported, slicedMessage, triplesMessage } from '../fixtures/stores.js'
import { pickSeed } from '../fixtures/random.js'

const user = 'alice'
const ids = ['one', 'two']

/** The contents of each core's segments; a core that is not there is not in the map. */
type Model = Map<string, Buffer[]>

class Real {
  keep!: Lorekeep
  backend!: FaultyBackend
  /** Exports that are open, and what they have to give. */
  readonly held: { readonly coreExport: CoreExport; readonly expected: Buffer }[] = []
  readonly #createBackend: () => MemoryBackend | LevelBackend

  constructor(createBackend: () => MemoryBackend | LevelBackend) {
    this.#createBackend = createBackend
  }

  async open(): Promise<this> {
    this.backend = new FaultyBackend(this.#createBackend())
    this.keep = await createLorekeep({ backend: this.backend, onError: () => undefined })
    return this
  }
}

type Command = fc.AsyncCommand<Model, Real>

class Import implements Command {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly mode: 'append' | 'replace'
  readonly bad: boolean
  readonly faultAt: number

  constructor(
    id: string,
    name: string,
    size: number,
    mode: 'append' | 'replace',
    bad: boolean,
    faultAt: number,
  ) {
    this.id = id
    this.name = name
    this.size = size
    this.mode = mode
    this.bad = bad
    this.faultAt = faultAt
  }

  check = () => true

  async run(model: Model, { keep, backend }: Real) {
    const content = contentOf(this.id, this.name, this.size)
    const source = this.bad ? [content, Buffer.of(0xc1)] : [content]
    backend.failAt = backend.calls + this.faultAt
    const importing = keep.knowledge.import({ user, id: this.id }, source, { mode: this.mode })
    const error = await importing.then(
      () => undefined,
      (error: unknown) => error,
    )
    backend.failAt = Infinity
    if (error !== undefined) return
    assert.ok(!this.bad, 'a bad stream was accepted')
    const held = this.mode === 'replace' ? [] : (model.get(this.id) ?? [])
    const there = held.some((segment) => segment.equals(content))
    model.set(this.id, there || content.length === 0 ? held : [...held, content])
  }

  toString = () =>
    `import(${this.id}, ${this.name} x ${this.size}, ${this.mode}, bad ${this.bad}, fault ${this.faultAt})`
}

class Delete implements Command {
  readonly id: string

  constructor(id: string) {
    this.id = id
  }

  check = () => true

  async run(model: Model, { keep }: Real) {
    assert.equal(await keep.knowledge.delete({ user, id: this.id }), model.delete(this.id))
  }

  toString = () => `delete(${this.id})`
}

class Hold implements Command {
  readonly id: string

  constructor(id: string) {
    this.id = id
  }

  check = (model: Readonly<Model>) => model.has(this.id)

  async run(model: Model, { keep, held }: Real) {
    const coreExport = await keep.knowledge.export({ user, id: this.id })
    held.push({ coreExport, expected: Buffer.concat(model.get(this.id) ?? []) })
  }

  toString = () => `hold(${this.id})`
}

class ReadHeld implements Command {
  check = () => true

  async run(_model: Model, { held }: Real) {
    const first = held.shift()
    if (!first) return
    const chunks: Uint8Array[] = []
    for await (const chunk of first.coreExport) chunks.push(chunk)
    assert.ok(
      Buffer.concat(chunks).equals(first.expected),
      'an export is not what it was opened on',
    )
  }

  toString = () => 'readHeld()'
}

class Reopen implements Command {
  check = () => true

  async run(_model: Model, real: Real) {
    for (const { coreExport } of real.held.splice(0)) coreExport.close()
    await real.keep.close()
    await real.open()
  }

  toString = () => 'reopen()'
}

const id = fc.constantFrom(...ids)
const importCommand = fc
  .tuple(
    id,
    fc.constantFrom('a', 'b', 'c'),
    fc.constantFrom(0, 1, 2, 3, 40, 90),
    fc.constantFrom('append' as const, 'append' as const, 'replace' as const),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(Infinity) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) },
    ),
  )
  .map((args) => new Import(...args))
const always = [
  importCommand,
  importCommand,
  id.map((id) => new Delete(id)),
  id.map((id) => new Hold(id)),
  fc.constant(new ReadHeld()),
]

const seed = pickSeed() | 0

for (const engine of ['memory', 'level'] as const) {
  t.test(`${engine}: any sequence leaves what the model says (seed ${seed})`, async () => {
    const commands = engine === 'level' ? [...always, fc.constant(new Reopen())] : always
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 25 }), async (sequence) => {
        const directory = engine === 'level' ? mkdtempSync(join(tmpdir(), 'lorekeep-model-')) : ''
        const real = await new Real(() =>
          engine === 'level' ? new LevelBackend(directory) : new MemoryBackend(),
        ).open()
        const model: Model = new Map()
        try {
          await fc.asyncModelRun(() => ({ model, real }), checked(sequence))
          for (const { coreExport } of real.held.splice(0)) coreExport.close()
          await keepTidy(real)
        } finally {
          await real.keep.close()
          if (directory) rmSync(directory, { recursive: true })
        }
      }),
      { seed, numRuns: engine === 'level' ? 25 : 60 },
    )
  })
}

/** Each command, and after it the comparison of every core with the model. */
function* checked(sequence: Iterable<Command>): Iterable<Command> {
  for (const command of sequence) {
    yield {
      check: (model) => command.check(model),
      run: async (model, real) => {
        await command.run(model, real)
        for (const id of ids) {
          const stat = await real.keep.knowledge.stat({ user, id })
          const segments = model.get(id)
          assert.equal(stat?.segments, segments?.length, `segments of ${id}`)
          if (!segments) continue
          const content = await exported(real.keep.knowledge, { user, id })
          assert.ok(content.equals(Buffer.concat(segments)), `content of ${id}`)
        }
      },
      toString: () => command.toString(),
    }
  }
}

/** With nothing held and no fault, the background deletes what is left. */
async function keepTidy({ keep, backend }: Real): Promise<void> {
  await keep.knowledge.import({ user, id: 'last' }, contentOf('last', 'last', 1))
  while ((await coreProblems(backend.real)).length > 0) await turn()
}

function contentOf(id: string, name: string, size: number): Buffer {
  // Of `c` two lie inline, and three in a slice; of the others as many as are a MiB lie inline.
  const made = name === 'c' ? slicedMessage(name, 25_000) : triplesMessage(name, 300)
  const [type, data] = made as Extract<CoreMessage, readonly ['t', unknown]>
  const message = encodeMessage([type, { ...data, m: { ...data.m, i: id, u: user } }])
  return Buffer.concat(Array.from({ length: size }, () => message))
}
