// Finds places for nodes, in a thread of its own: those with links near each other, all others apart.

import {
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force'
import type { Places, Order } from './layout.js'

type Body = SimulationNodeDatum & { readonly index: number }

/** How long it works before it tells where things are, in ms. */
const turnMs = 40

let simulation: Simulation<Body, undefined> | undefined
let timer: ReturnType<typeof setTimeout> | undefined

onmessage = ({ data }: MessageEvent<Order>) => {
  if (data.type === 'move') hold(data.node, data.x, data.y)
  else begin(data)
}

function begin({ turn, places, links }: Extract<Order, { type: 'begin' }>): void {
  clearTimeout(timer)
  const bodies = Array.from({ length: places.length / 2 }, (_, index): Body => {
    const [x = NaN, y = NaN] = [places[2 * index], places[2 * index + 1]]
    // Without places they get some of a spiral.
    return Number.isNaN(x) ? { index } : { index, x, y }
  })
  const lines: SimulationLinkDatum<Body>[] = []
  for (let at = 0; at < links.length; at += 2) {
    lines.push({ source: links[at] as number, target: links[at + 1] as number })
  }
  bringNew(bodies, links)
  const isNew = bodies.every(({ x }) => x === undefined)
  const size = bodies.length
  // A place that is off by a little is nothing to wait for where there are thousands.
  const ticks = size > 2000 ? 120 : size > 500 ? 200 : 300
  const started = forceSimulation(bodies)
    .stop()
    .alpha(isNew ? 1 : 0.4)
    .alphaDecay(1 - 0.001 ** (1 / ticks))
    .force('apart', forceManyBody<Body>().strength(-220).theta(1))
    .force('together', forceLink<Body, SimulationLinkDatum<Body>>(lines).distance(80))
    // What has no link to the rest stays in sight.
    .force('x', forceX<Body>().strength(0.09))
    .force('y', forceY<Body>().strength(0.09))
  simulation = started
  const step = () => {
    const end = performance.now() + turnMs
    do started.tick()
    while (performance.now() < end && started.alpha() > started.alphaMin())
    const isDone = started.alpha() <= started.alphaMin()
    tell(turn, bodies, isDone)
    timer = isDone ? undefined : setTimeout(step)
  }
  timer = setTimeout(step)
}

/** What comes to others begins beside one of them, and not on top of it. */
function bringNew(bodies: readonly Body[], links: Uint32Array): void {
  for (let at = 0; at < links.length; at += 2) {
    const [a, b] = [bodies[links[at] as number], bodies[links[at + 1] as number]]
    if (a === undefined || b === undefined) continue
    const [known, fresh] = a.x === undefined ? [b, a] : [a, b]
    if (known.x === undefined || known.y === undefined || fresh.x !== undefined) continue
    const angle = fresh.index * 2.4
    fresh.x = known.x + 40 * Math.cos(angle)
    fresh.y = known.y + 40 * Math.sin(angle)
  }
}

/** Somebody has put it there. */
function hold(node: number, x: number, y: number): void {
  const body = simulation?.nodes()[node]
  if (body === undefined) return
  body.fx = body.x = x
  body.fy = body.y = y
}

function tell(turn: number, bodies: readonly Body[], isDone: boolean): void {
  const places = new Float32Array(2 * bodies.length)
  bodies.forEach(({ x = 0, y = 0 }, index) => {
    places[2 * index] = x
    places[2 * index + 1] = y
  })
  const told: Places = { turn, places, isDone }
  postMessage(told, { transfer: [places.buffer] })
}
