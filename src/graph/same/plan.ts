// What has to be said, and what no longer, so that two things are one, or are not.

import { sameThingsCore, vocabulary } from '../../vocabulary.js'
import type { Term, Triple } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { GraphQuery } from '../types.js'
import { Question } from '../question.js'
import { ANY, NONE, type GraphView } from '../view.js'
import { Sameness } from './sameness.js'

/** Two things by their IRIs. */
export type Pair = readonly [a: string, b: string]

export interface Plan {
  readonly add: readonly Triple[]
  /** What is said of these pairs goes: by `owl:sameAs` where they are split, else by `owl:differentFrom`. */
  readonly remove: { readonly predicate: string; readonly pairs: readonly Pair[] }
  /** Throws for pairs of which others say so as well, where that stands against the plan. */
  readonly checkKept: (kept: readonly Pair[]) => void
}

/** Two entities, of which neither is the other. @throws LorekeepError `LK_GRAPH_QUERY` */
export function checkPair(a: unknown, b: unknown): readonly [Term, Term] {
  const question = new Question()
  const terms = [question.term(a, 'a'), question.term(b, 'b')] as const
  if (question.problems.count === 0) {
    for (const [n, { e }] of terms.entries()) {
      const place = n === 0 ? 'a' : 'b'
      if (!e) question.problems.fail(place, 'is a literal; only entities can be one, or two')
    }
    const [one, other] = terms
    if (one.e && other.e && one.v === other.v) {
      question.problems.fail('b', 'is the same entity as a; name another one')
    }
  }
  question.end()
  return terms
}

/** What is one is so in all that a user has. @throws LorekeepError `LK_GRAPH_QUERY` */
export function checkWhole({ cores }: Pick<GraphQuery, 'cores'>, isSnapshot: boolean): void {
  const question = new Question()
  const advice = `the graph of all cores of the user, which has ${sameThingsCore} among them`
  if (cores !== undefined) question.problems.fail('cores', `cannot be named here; ask ${advice}`)
  if (isSnapshot) question.problems.fail('', 'a snapshot never changes; ask the graph itself')
  question.end()
}

/** Undefined where they are one already. */
export async function planMerge(
  view: GraphView,
  [a, b]: readonly [Term, Term],
  check: () => void,
): Promise<Plan | undefined> {
  const sameness = await Sameness.of(view)
  const [one, other] = await idsOf(view, [a, b], check)
  const [ofA, ofB] = await withBlocks(
    () => [sameness.membersOf(one), sameness.membersOf(other)],
    check,
  )
  if (ofA.includes(other)) return undefined
  const ids = await withBlocks(() => sameness.apart(ofA, ofB), check)
  const apart: Pair[] = []
  for (const [x, y] of ids) {
    apart.push(await withBlocks((): Pair => [view.term(x).v, view.term(y).v], check))
  }
  return {
    add: [{ s: b, p: sameAs, o: a }],
    remove: { predicate: differentFrom.v, pairs: apart },
    checkKept: ([kept]) => {
      if (kept === undefined) return
      const question = new Question()
      const [x, y] = kept
      question.problems.fail(
        'b',
        `cannot be one with a: a core that somebody imported says that ${x} is different from ${y} (owl:differentFrom)`,
      )
      question.end()
    },
  }
}

/** `b` is taken out of what `a` is one with; what is one with `b` alone goes with it. */
export async function planSplit(
  view: GraphView,
  [a, b]: readonly [Term, Term],
  check: () => void,
): Promise<Plan | undefined> {
  const sameness = await Sameness.of(view)
  const [one, other] = await idsOf(view, [a, b], check)
  const isSaid = await withBlocks(() => sameness.areApart(one, other))
  const near = await withBlocks(() => sameness.nextTo(other, one), check)
  if (isSaid && near.length === 0) return undefined
  const names = await withBlocks(() => near.map((id) => view.term(id).v))
  const apart = [...new Set([a.v, ...names])]
  return {
    add: apart.map((v) => ({ s: { v, e: true }, p: differentFrom, o: b })),
    remove: { predicate: sameAs.v, pairs: names.map((v): Pair => [v, b.v]) },
    checkKept: () => undefined,
  }
}

/** @throws LorekeepError `LK_GRAPH_QUERY` where the graph has nothing about one of them */
async function idsOf(
  view: GraphView,
  [a, b]: readonly [Term, Term],
  check: () => void,
): Promise<readonly [number, number]> {
  const question = new Question()
  const isIn = async (id: number) => {
    if (id === NONE) return false
    for (const [s, o] of [
      [id, ANY],
      [ANY, id],
    ] as const) {
      // Begun once: begun anew after each pause it would not end.
      const rows = await withBlocks(() => view.rows(s, ANY, o))
      if (await withBlocks(() => rows.next(), check)) return true
    }
    return false
  }
  const idOf = async (term: Term, place: string) => {
    const id = await withBlocks(() => view.find(term))
    if (!(await isIn(id)))
      question.problems.fail(place, 'is nowhere in the graph as subject or object')
    return id
  }
  const ids = [await idOf(a, 'a'), await idOf(b, 'b')] as const
  question.end()
  return ids
}

const sameAs: Term = { v: vocabulary.sameAs, e: true }
const differentFrom: Term = { v: vocabulary.differentFrom, e: true }
