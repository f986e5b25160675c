// Draws a graph, in a thread of its own: thousands of lines take longer than a page may be held up.

import { draw } from './drawing.js'
import type { DrawingOrder, Shot } from './drawing-thread.js'
import type { Sketch } from './sketch.js'

let canvas: OffscreenCanvas | undefined
let sketch: Sketch | undefined
let shot: Shot | undefined
let frame: number | undefined

onmessage = ({ data }: MessageEvent<DrawingOrder>) => {
  if (data.type === 'canvas') canvas = data.canvas
  else {
    sketch = data.sketch ?? sketch
    shot = data.shot
  }
  // Of what comes faster than it is drawn the last is drawn.
  frame ??= requestAnimationFrame(() => {
    frame = undefined
    paint()
  })
}

function paint(): void {
  const context = canvas?.getContext('2d')
  if (canvas === undefined || shot === undefined || sketch === undefined || !context) return
  const { density, ...scene } = shot
  const [width, height] = [Math.round(scene.width * density), Math.round(scene.height * density)]
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width
    canvas.height = height
  }
  context.setTransform(density, 0, 0, density, 0, 0)
  draw(context, { ...scene, sketch })
  if (!scene.isMoving) postMessage('still')
}
