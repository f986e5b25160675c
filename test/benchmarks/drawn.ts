// Charts as a test reads them: what is drawn where, and whether it can be read.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Figure, Point, Skipped } from '../../benchmarks/measure.js'
import type { Origin } from '../../benchmarks/result.js'

/** As JSON has them: what is no number is null. */
export type Written<T> = { readonly [K in keyof T]: T[K] | (T[K] extends number ? null : never) }

export interface Run extends Origin {
  readonly name: string
  readonly figures: readonly ((Written<Figure> | Skipped) & { of: string; met?: boolean })[]
  readonly points: readonly (Written<Point> & { of: string })[]
}

export interface Pages {
  readonly benchmarks: string
  readonly growth: string
}

interface Script {
  keptRuns(root: string): Run[]
  pagesOf(runs: readonly Run[], pages: Pages): Map<string, string>
  pagesNow(root: string): Pages
  chartsNow(root: string): string[]
}

interface Svg {
  widthOf(text: string): number
}

const importOf = (path: string): Promise<unknown> =>
  import(pathToFileURL(join(process.cwd(), 'scripts', path)).href)
export const script = (await importOf('benchmarks.js')) as Script
const { widthOf } = (await importOf('charts/svg.js')) as Svg

const empty = '<!-- runs: by scripts/benchmarks.js -->\n\n<!-- end of runs -->\n'
export const emptyPages = { benchmarks: `# A\n\n${empty}`, growth: `# B\n\n${empty}` }

export const quiet: Run = {
  ...{ name: 'quiet', machine: 'Node v20, 2 cores, a processor', commit: 'abc123abc123' },
  ...{ date: '2026-11-07T23:59:59.000Z', figures: [], points: [] },
}

export interface Text {
  readonly x: number
  readonly y: number
  readonly from: number
  readonly to: number
  /** As it is drawn, and what it stands for. */
  readonly text: string
  readonly whole: string
}

export function textsOf(svg: string): Text[] {
  return [...svg.matchAll(/<text([^>]*)>(?:<title>([^<]*)<\/title>)?([^<]*)<\/text>/g)].map(
    ([, attributes = '', title, content = '']) => {
      const [x, y] = [numberOf(attributes, 'x'), numberOf(attributes, 'y')]
      const text = unescape(content)
      const width = widthOf(text)
      const anchor = /text-anchor="(\w+)"/.exec(attributes)?.[1] ?? 'start'
      const from = { start: x, middle: x - width / 2, end: x - width }[anchor] ?? NaN
      return { x, y, from, to: from + width, text, whole: title ? unescape(title) : text }
    },
  )
}

export function numberOf(attributes: string, name: string): number {
  return Number(new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1])
}

/** By two labels of an axis, where a value has to be. */
export function scaleBy(texts: readonly Text[], axis: 'x' | 'y', one: string, other: string) {
  const place = (label: string) => texts.find(({ text }) => text === label)?.[axis] ?? NaN
  const valueOf = (label: string) => {
    const [number, unit = ''] = label.replaceAll(',', '').split(' ')
    return Number(number) * ({ s: 1, ms: 1e-3, µs: 1e-6, GB: 1e9, MB: 1e6, kB: 1e3 }[unit] ?? 1)
  }
  const [from, to] = [Math.log(valueOf(one)), Math.log(valueOf(other))]
  return (value: number) =>
    place(one) + ((Math.log(value) - from) / (to - from)) * (place(other) - place(one))
}

/** Pairs of texts one upon the other, and what is beyond an edge. */
export function collisionsOf(svg: string): string[] {
  const texts = textsOf(svg)
  const width = numberOf(svg, 'width')
  const beyond = texts.filter(({ from, to }) => from < 0 || to > width)
  const pairs = texts.flatMap((a, n) =>
    texts
      .slice(0, n)
      .filter((b) => Math.abs(a.y - b.y) < 11 && a.from < b.to && b.from < a.to)
      .map((b) => `${a.text} / ${b.text}`),
  )
  return [...beyond.map(({ text }) => text), ...pairs]
}

/** The least contrast that a colour has with a light page or with a dark one. */
export function leastContrast(svg: string): number {
  const colours = new Set(svg.match(/"#[0-9a-f]{6}"/g)?.map((quoted) => quoted.slice(1, -1)))
  const contrasts = [...colours].flatMap((colour) =>
    ['#ffffff', '#0d1117'].map((page) => {
      const [dark, light] = [luminance(colour), luminance(page)].sort((a, b) => a - b)
      return ((light as number) + 0.05) / ((dark as number) + 0.05)
    }),
  )
  return Math.min(...contrasts)
}

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return [0.2126, 0.7152, 0.0722].reduce((sum, share, n) => sum + share * (parts[n] as number), 0)
}

/** Whether all tags are closed, by a grammar that is narrower than XML's. */
export function isWellFormed(svg: string): boolean {
  const text = String.raw`(?:[^<>&"]|&#\d+;)*`
  const tag = new RegExp(`<(/?)([a-z]+)((?: [a-zA-Z0-9-]+="${text}")*)(/?)>|${text}`, 'y')
  const open: string[] = []
  while (tag.lastIndex < svg.length) {
    const [found, end, name, , single] = tag.exec(svg) ?? ['']
    if (found === '') return false
    if (name === undefined || single) continue
    if (!end) open.push(name)
    else if (open.pop() !== name) return false
  }
  return open.length === 0 && !/[\0-\x08\x0B\x0C\x0E-\x1F]/.test(svg)
}

function unescape(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}
