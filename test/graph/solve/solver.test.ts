import t from 'tap'
import { Solver, type SolverOptions } from '../../../src/graph/solve/solver.js'
import type { QueryPattern } from '../../../src/graph/types.js'
import { ANY, type PartedView, type Rows } from '../../../src/graph/view.js'
import type { Term } from '../../../src/types.js'
import { ArrayView } from './array-view.js'

const uri = (v: string): Term => ({ v: `urn:x:${v}`, e: true })
const [type, name, knows, boat] = [uri('type'), uri('name'), uri('knows'), uri('boat')]
const all = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n))

/** Counts what is looked up and read. */
class CountingView extends ArrayView {
  work = 0

  override rows(s: number, p: number, o: number): Rows {
    const rows = super.rows(s, p, o)
    const next = rows.next.bind(rows)
    rows.next = () => {
      this.work++
      return next()
    }
    return rows
  }

  override has(s: number, p: number, o: number): boolean {
    this.work++
    return super.has(s, p, o)
  }
}

function count(view: PartedView, patterns: readonly QueryPattern[], options?: SolverOptions) {
  const solver = new Solver(view, patterns, options)
  let solutions = 0
  for (let calls = 0; !solver.isDone && calls < 10_000; calls++) {
    solutions += solver.next(new Float64Array(64), 10)
  }
  return solutions
}

const boats = all(200, (n) => ({ s: uri(`${n}`), p: type, o: boat }))

t.test('the pattern with the fewest triples is looked up first', async (t) => {
  const view = new CountingView([...boats, { s: uri('7'), p: name, o: uri('n') }])
  const patterns: QueryPattern[] = [
    { s: '?x', p: type, o: boat },
    { s: '?x', p: name, o: '?n' },
  ]
  t.equal(count(view, patterns), 1)
  t.equal(count(view, patterns.toReversed()), 1)
  t.ok(view.work < 20, `${view.work} look-ups`)
})

t.test('a narrow range is looked up by its values, a wide one by going through all', async (t) => {
  const age = uri('age')
  const dt = 'http://www.w3.org/2001/XMLSchema#integer'
  const ages = all(1000, (n) => ({ s: uri(`${n}`), p: age, o: { v: `${n}`, e: false, dt } }))
  const view = new CountingView(ages)
  const older = (gte: number): QueryPattern[] => [{ s: '?x', p: age, o: '?n', filter: { gte } }]
  t.equal(count(view, older(990)), 10)
  t.ok(view.work < 50, `${view.work} look-ups of 1000`)
  view.work = 0
  t.equal(count(view, older(10)), 990)
  t.ok(view.work < 1100, `${view.work} look-ups of 1000`)
  view.work = 0
  // The few that are old are looked up first, whatever the order of patterns.
  const boats = view.estimate(ANY, ANY, ANY)
  t.equal(count(view, [{ s: '?x', p: '?p', o: '?o' }, ...older(999)]), 1)
  t.ok(view.work < 50, `${view.work} look-ups of ${boats}`)
})

t.test('what shares no variable with the others is looked up last', async (t) => {
  const view = new CountingView([
    ...boats,
    ...all(10, (n) => ({ s: uri(`${n}`), p: name, o: uri('n') })),
    ...all(10, (n) =>
      all(30, (k) => ({ s: uri(`${n}`), p: uri('likes'), o: uri(`k${k}`) })),
    ).flat(),
    ...all(20, (n) => ({ s: uri('a'), p: knows, o: uri(`b${n}`) })),
  ])
  // The second has fewer rows than the third, which shows that there is no solution.
  const patterns: QueryPattern[] = [
    { s: '?x', p: name, o: uri('n') },
    { s: '?a', p: knows, o: '?b' },
    { s: '?x', p: uri('likes'), o: '?y' },
    { s: '?y', p: type, o: '?y' },
  ]
  t.equal(count(view, patterns), 0)
  t.ok(view.work < 1000, `${view.work} look-ups`)
})

t.test('the order follows what bindings show, also where the first ones mislead', async (t) => {
  const subjects = all(1000, (n) => uri(`${n}`))
  const known = (n: number) => (n < 40 ? 1 : 20)
  const names = (n: number) => (n < 40 ? 3 : 1)
  const view = new CountingView([
    ...subjects.map((s) => ({ s, p: type, o: boat })),
    ...subjects.flatMap((s, n) => all(known(n), (k) => ({ s, p: knows, o: uri(`${k}`) }))),
    ...subjects.flatMap((s, n) => all(names(n), (k) => ({ s, p: name, o: uri(`${k}`) }))),
  ])
  const patterns: QueryPattern[] = [
    { s: '?x', p: type, o: boat },
    { s: '?x', p: knows, o: '?y' },
    { s: '?x', p: name, o: '?y' },
  ]
  t.equal(count(view, patterns), 1000)
  // Some 40,000 if everyone's acquaintances were gone through, 5,000 at best.
  t.ok(view.work < 20_000, `${view.work} look-ups`)
})

t.test('a term that the graph does not have ends the question', async (t) => {
  const view = new CountingView(boats)
  const patterns: QueryPattern[] = [
    { s: '?x', p: type, o: boat },
    { s: '?y', p: type, o: uri('car') },
  ]
  const solver = new Solver(view, patterns)
  t.equal(solver.next(new Float64Array(20), 10), 0)
  t.ok(solver.isDone)
  t.equal(view.work, 0)
})

t.test('nothing is looked up for another time the same selection', async (t) => {
  const view = new CountingView([
    ...boats,
    ...boats.flatMap(({ s }) => all(20, (n) => ({ s, p: knows, o: uri(`${n}`) }))),
  ])
  const patterns: QueryPattern[] = [
    { s: '?x', p: type, o: boat },
    { s: '?x', p: knows, o: '?y' },
  ]
  t.equal(count(view, patterns, { select: ['?x'] }), 4000)
  view.work = 0
  t.equal(count(view, patterns, { select: ['?x'], distinct: true }), 200)
  t.ok(view.work < 800, `${view.work} look-ups`)
})

t.test('a long search for nothing new lets others have their turn', async (t) => {
  const patterns: QueryPattern[] = [
    { s: '?x', p: type, o: boat },
    { s: '?y', p: type, o: boat },
  ]
  // All 200 come with the first boat; the other 199 bring them again.
  const solver = new Solver(new ArrayView(boats), patterns, { select: ['?y'], distinct: true })
  const out = new Float64Array(1000)
  t.equal(solver.next(out, 1000), 200)
  t.notOk(solver.isDone)
  let calls = 0
  for (; !solver.isDone; calls++) t.equal(solver.next(out, 1000), 0)
  t.ok(calls > 1)
})

t.test('no patterns have one solution, which is empty', async (t) => {
  t.equal(count(new ArrayView([]), []), 1)
  t.equal(count(new ArrayView([]), [], { distinct: true, select: [] }), 1)
  t.equal(count(new ArrayView([]), [], { limit: 0 }), 0)
})

t.test('a selection of no variables has an empty solution for each, or one', async (t) => {
  const patterns: QueryPattern[] = [{ s: '?x', p: type, o: boat }]
  t.equal(count(new ArrayView(boats), patterns, { select: [] }), 200)
  t.equal(count(new ArrayView(boats), patterns, { select: [], distinct: true }), 1)
})

t.test('a variable that is in no pattern cannot be selected', async (t) => {
  const patterns: QueryPattern[] = [{ s: '?x', p: type, o: boat }]
  t.throws(() => new Solver(new ArrayView(boats), patterns, { select: ['?x', '?y'] }), {
    code: 'LK_GRAPH_QUERY',
    details: { errors: [{ path: 'select[1]' }] },
  })
})
