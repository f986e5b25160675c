// What charts are made of: a picture with a name, texts that fit, and logarithmic scales.
//
// Docs show them as images on a light page and on a dark one, and an image knows of neither: every
// colour has a contrast of 3:1 and more on both.

export const ink = '#757b84'
export const colours = ['#2b7fd4', '#cc6414', '#22924a', '#9a5fd6', '#d64a54', '#128f96', '#b0781a']

export const fontSize = 12

export function picture({ width, height, title, description, parts }) {
  const font = `font-family="Arial, 'Liberation Sans', Helvetica, sans-serif" font-size="${fontSize}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${round(height)}" width="${width}" height="${round(height)}" role="img" aria-labelledby="title description" ${font} fill="${ink}">`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="description">${escape(description)}</desc>`,
    ...parts.filter((part) => part !== ''),
    '</svg>\n',
  ].join('\n')
}

/** What does not fit into the room is shortened, and whole where one points at it; but for what comes after. */
export function label(
  x,
  y,
  text,
  { room = Infinity, anchor, bold = false, fill, after = '' } = {},
) {
  if (text === '') return ''
  const short = fitting(text, bold ? room / 1.08 : room)
  const whole = short === text ? '' : `<title>${escape(text)}</title>`
  return `<text${attributes({ x, y, 'text-anchor': anchor, 'font-weight': bold ? 'bold' : undefined, fill })}>${whole}${escape(short + after)}</text>`
}

export function line(x1, y1, x2, y2, style = {}) {
  return `<line${attributes({ x1, y1, x2, y2, stroke: ink, ...style })}/>`
}

export function rect(x, y, width, height, style) {
  return `<rect${attributes({ x, y, width, height, ...style })}/>`
}

export function path(d, style) {
  return `<path${attributes({ d, ...style })}/>`
}

function attributes(values) {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => ` ${name}="${typeof value === 'number' ? round(value) : escape(value)}"`,
    )
    .join('')
}

/** A tenth of a pixel: what engines compute otherwise in the last bit is not to be seen. */
export function round(value) {
  return Math.round(value * 10) / 10
}

function escape(text) {
  return clean(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Without what no XML and no file of UTF-8 may have: most control characters, halves of pairs. */
export function clean(text) {
  return String(text)
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}

function fitting(text, room) {
  if (widthOf(text) <= room) return text
  const characters = [...text]
  while (characters.length > 0 && widthOf(`${characters.join('')}…`) > room) characters.pop()
  return `${characters.join('').trimEnd()}…`
}

const widths = [
  [/[ijl'|]/, 0.25],
  [/[tfI.,:;!/ \\]/, 0.3],
  [/[r()[\]{}\-"*`]/, 0.36],
  [/[a-z0-9J$?_#]/, 0.56],
  [/[A-Z+<>=≤≥·–&~^]/, 0.7],
  [/[\x20-\u02FF]/, 0.8],
]
const wide = new Map([...'mw'].map((character) => [character, 0.84]))
for (const character of 'GOQMW%@…—') wide.set(character, 1)

/** As wide as Arial is or a little wider. */
export function widthOf(text) {
  const of = (character) =>
    wide.get(character) ?? widths.find(([kind]) => kind.test(character))?.[1] ?? 1.1
  return [...text].reduce((sum, character) => sum + of(character), 0) * fontSize * 1.02
}

/** Where a value lies between two ends. */
export function logScale([least, most], from, to) {
  return (value) => from + (Math.log(value / least) / Math.log(most / least)) * (to - from)
}

/** The steps, of 1, 2 and 5 or of 1 alone, between which all values are; at most as many as asked for. */
export function steps(values, most, kinds = [[1, 2, 5], [1]]) {
  for (const digits of kinds) {
    const found = around(values, digits)
    if (found.length <= most) return found
  }
  const decades = around(values, [1])
  const every = Math.ceil(decades.length / most)
  const [first, last] = [decades[0], decades.at(-1)]
  return decades.filter((step, n) => step === first || step === last || n % every === 0)
}

function around(values, digits) {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const from = Math.floor(Math.log10(least)) - 1
  const to = Math.ceil(Math.log10(most)) + 1
  const all = []
  for (let power = from; power <= to; power++) {
    for (const digit of digits) all.push(Number(`${digit}e${power}`))
  }
  const first = all.findLastIndex((step) => step <= least)
  const last = all.findIndex((step) => step >= most)
  return all.slice(first, Math.max(last, first + 1) + 1)
}

export function isDrawable(value) {
  return Number.isFinite(value) && value > 0
}

export function inThousands(value) {
  return String(value).replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','))
}
