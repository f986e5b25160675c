// What is shown, as a file: a picture, or RDF.

import type { Term, Triple } from '../../types.js'
import { texts } from '../texts.js'
import { draw } from './drawing.js'
import { cut } from './names.js'
import { fitted, radiusOf, type Scene } from './scene.js'

export type FileKind = 'png' | 'svg' | 'ttl' | 'nt' | 'nq'

/** All of it, whatever of it is in sight. */
export async function pngOf(scene: Scene): Promise<Blob> {
  const [width, height, density] = [1600, 1200, 2]
  const canvas = document.createElement('canvas')
  canvas.width = width * density
  canvas.height = height * density
  const context = canvas.getContext('2d')
  if (context === null) throw new Error(texts.graph.noPicture)
  context.scale(density, density)
  draw(context, { ...scene, width, height, camera: fitted(scene.places, width, height) })
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error(texts.graph.noPicture)) : resolve(blob),
    )
  })
}

export function svgOf(scene: Scene): string {
  const { sketch, places, palette } = scene
  const { names, degrees, colours, ends, said, relations } = sketch
  const [width, height] = [1600, 1200]
  const camera = fitted(places, width, height)
  const x = (at: number) =>
    round(((places[2 * at] as number) - camera.x) * camera.scale + width / 2)
  const y = (at: number) =>
    round(((places[2 * at + 1] as number) - camera.y) * camera.scale + height / 2)
  const lines = [...said].map((relation, at) => {
    const [from, to] = [ends[2 * at] as number, ends[2 * at + 1] as number]
    const told = `${names[from]} ${relations[relation]} ${names[to]}`
    const line = `x1="${x(from)}" y1="${y(from)}" x2="${x(to)}" y2="${y(to)}"`
    return `<line ${line}><title>${escaped(cut(told, 200))}</title></line>`
  })
  const circles = names.map((name, at) => {
    const radius = radiusOf(degrees[at] as number)
    const colour = palette.kinds[colours[at] as number] ?? palette.text
    const circle = `<circle cx="${x(at)}" cy="${y(at)}" r="${round(radius)}" fill="${colour}"/>`
    const left = round(x(at) + radius + 4)
    return `${circle}<text x="${left}" y="${y(at)}">${escaped(cut(name, 40))}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" fill="${palette.ground}"/>
<g stroke="${palette.line}">${lines.join('\n')}</g>
<g font-family="sans-serif" font-size="12" fill="${palette.text}" dominant-baseline="middle">${circles.join('\n')}</g>
</svg>
`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** XML has no place for the two that are no letters, not even by number: https://www.w3.org/TR/xml/#charsets */
function escaped(text: string): string {
  return text
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

/** Turtle has what is said of one thing together; in N-Quads alone there are names of graphs. */
export function rdfOf(triples: readonly Triple[], format: 'ttl' | 'nt' | 'nq'): string {
  if (format !== 'ttl') {
    return triples
      .map(({ s, p, o, g }) => {
        const graph = format === 'nq' && g !== undefined ? ` ${termText({ v: g, e: true })}` : ''
        return `${termText(s)} ${termText(p)} ${termText(o)}${graph} .\n`
      })
      .join('')
  }
  const bySubject = Map.groupBy(triples, ({ s }) => termText(s))
  return [...bySubject]
    .map(([subject, said]) => {
      const lines = said.map(({ p, o }) => `    ${termText(p)} ${termText(o)}`)
      return `${subject}\n${[...new Set(lines)].join(' ;\n')} .\n`
    })
    .join('\n')
}

/** As N-Triples have it: https://www.w3.org/TR/n-triples/ */
function termText({ v, e, dt, ln }: Term): string {
  if (e && /^_:[\p{L}\d_][\p{L}\d_-]*$/u.test(v)) return v
  // Numbers in place of what an IRI cannot have keep it one term, and say the same.
  if (e) return `<${v.replace(/[\u0000- <>"{}|^`\\]/g, codeOf)}>`
  const text = `"${v.replace(/[\u0000-\u001f"\\\u007f]/g, codeOf)}"`
  if (ln !== undefined) return `${text}@${ln}`
  return dt === undefined ? text : `${text}^^${termText({ v: dt, e: true })}`
}

function codeOf(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}
