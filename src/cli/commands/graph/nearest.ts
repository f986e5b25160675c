// `lorekeep nearest`: the entities whose vectors are near to one, or to that of a text.

import type { NearEntity } from '../../../graph/types.js'
import { withGraph } from '../../access/access.js'
import type { GraphAccess } from '../../access/graph-access.js'
import { variable } from '../../config/environment.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { inputName, readJsonInput } from '../../input/input.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { printList } from '../../output/listing.js'
import { left, right, whole } from '../../output/table.js'
import { formatTerm } from '../../output/term.js'

interface NearestCommandOptions extends GraphFlags {
  readonly vector?: string
  readonly text?: string
  readonly k: number
  readonly exact?: true
  readonly config?: string
}

const columns = [right('SCORE'), whole('ENTITY'), left('CORE')]

export async function findNearest(options: NearestCommandOptions): Promise<void> {
  const { text } = options
  const ask = await questionOf(options)
  const { found, why } = await withGraph(options, async (access) => {
    const found = await ask(access)
    const isNothing = found.length === 0 && !options.json
    return {
      found,
      why: isNothing ? await whyNothing(access, options, text !== undefined) : undefined,
    }
  })
  await printList(found, { columns, cellsOf }, options.json)
  if (why !== undefined) note(why)
}

function cellsOf({ score, entity, core }: NearEntity, isTerminal: boolean): string[] {
  return [isTerminal ? score.toFixed(4) : String(score), formatTerm(entity), core]
}

const nothingNear =
  'nothing was found: of the cores that were asked, no entity has a vector as long as that of the ' +
  'question (of RDF none has one; another embedder makes other vectors)'

/** Of what has no vector near to a question, which is a text or a vector. */
export async function whyNothing(
  access: GraphAccess,
  options: GraphFlags,
  isText: boolean,
): Promise<string> {
  const ofText = isText ? ', or the text is of common words alone, and has none' : ''
  return (await whyNoCores(access, options)) ?? nothingNear + ofText
}

/** Who has no cores at all has asked the wrong user's, or too early; undefined where something is asked. */
export async function whyNoCores(
  access: GraphAccess,
  options: GraphFlags,
): Promise<string | undefined> {
  const { user, collection } = options
  if (!(await access.hasCores(user))) {
    const whence = variable('LOREKEEP_USER') === user ? ' (of LOREKEEP_USER)' : ''
    return `user '${user}'${whence} has no cores: 'load' and 'import' make some, and --user names another user`
  }
  if (collection === undefined) return undefined
  for await (const _ of access.match(graphOf(options), {}, { limit: 1 })) return undefined
  return `the cores of '${user}' have nothing in the collection '${collection}': --collection names another`
}

/** Reads what is asked before anything is opened. @throws UsageError */
async function questionOf(
  options: NearestCommandOptions,
): Promise<(access: GraphAccess) => Promise<readonly NearEntity[]>> {
  const { vector: file, text, k, exact } = options
  const graph = graphOf(options)
  if (text === undefined) {
    if (file === undefined) throw new UsageError('--vector or --text says near to what')
    const vector = vectorFrom(await readJsonInput(file, 'a vector'), file)
    return (access) =>
      interruptible((signal) => access.nearest(graph, vector, { k, exact, signal }))
  }
  // Where the text becomes a vector, which is in the server with --url, there is no such choice.
  if (exact) throw new UsageError('--text cannot be used with --exact')
  return async (access) => {
    const question = { text, entities: k, depth: 0 }
    const { entities } = await interruptible((signal) =>
      access.retrieve(graph, { ...question, signal }),
    )
    return entities
  }
}

/** What is in the array is for the graph to check. */
function vectorFrom(value: unknown, file: string): readonly number[] {
  if (Array.isArray(value)) return value as number[]
  throw new Error(`${inputName(file)} is no vector: it must be a JSON array of numbers`)
}
