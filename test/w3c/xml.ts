// The XML of results and of a few graphs, as far as the suites have it.

import type { Tuple } from './isomorphism.js'
import { blank, iri, literal } from './terms.js'

export interface Element {
  /** With its namespace. */
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly Element[]
  /** What is directly in it. */
  readonly text: string
}

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const xml = 'http://www.w3.org/XML/1998/namespace'

const token =
  /<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^[>]*(?:\[.*?\])?\s*>|<!\[CDATA\[(.*?)\]\]>|<(\/?)([^\s/>]+)((?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gs

export function readXml(source: string): Element {
  const entities = new Map(
    [...source.matchAll(/<!ENTITY\s+(\S+)\s+['"]([^'"]*)['"]\s*>/g)].map(([, name, value]) => [
      name as string,
      value as string,
    ]),
  )
  const root = { name: '', attributes: new Map(), children: [] as Element[], text: '' }
  const open: {
    element: Element & { children: Element[]; text: string }
    prefixes: ReadonlyMap<string, string>
  }[] = [{ element: root, prefixes: new Map([['xml', xml]]) }]
  for (const [, data, closing, name, attributes, empty, text] of source.matchAll(token)) {
    const { element: parent, prefixes: outer } = open.at(-1)!
    if (data !== undefined) parent.text += data
    if (text !== undefined) parent.text += unescaped(text, entities)
    if (name === undefined) continue
    if (closing === '/') {
      open.pop()
      continue
    }
    const given = [...(attributes ?? '').matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(
      ([, key, double, single]): [string, string] => [
        key as string,
        unescaped(double ?? single ?? '', entities),
      ],
    )
    const prefixes = new Map(outer)
    for (const [key, value] of given) {
      if (key === 'xmlns') prefixes.set('', value)
      if (key.startsWith('xmlns:')) prefixes.set(key.slice(6), value)
    }
    const element = {
      name: inSpace(name, prefixes),
      attributes: new Map(
        given
          .filter(([key]) => !key.startsWith('xmlns'))
          .map(([key, value]) => [key.includes(':') ? inSpace(key, prefixes) : key, value]),
      ),
      children: [],
      text: '',
    }
    parent.children.push(element)
    if (empty !== '/') open.push({ element, prefixes })
  }
  return root.children[0]!
}

function inSpace(name: string, prefixes: ReadonlyMap<string, string>): string {
  const [local, prefix = ''] = name.split(':').reverse() as [string, string?]
  return (prefixes.get(prefix) ?? '') + local
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function unescaped(text: string, entities: ReadonlyMap<string, string>): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(
      /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
      (_, hex?: string, decimal?: string, name = '') => {
        if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16))
        if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
        return named[name] ?? entities.get(name) ?? ''
      },
    )
}

/** Of RDF/XML: nodes and properties in turns, without containers and reification. */
export function readRdfXml(source: string, base: string): readonly Tuple[] {
  const quads: Tuple[] = []
  const resolved = (reference: string) => new URL(reference, base).href
  let unnamed = 0

  const root = readXml(source)
  if (root.name === `${rdf}RDF`) root.children.forEach(node)
  else node(root)
  return quads

  function node(element: Element): string {
    const { name, attributes } = element
    const [about, id, label] = ['about', 'ID', 'nodeID'].map((key) => attributes.get(rdf + key))
    const subject =
      about !== undefined
        ? iri(resolved(about))
        : id !== undefined
          ? iri(resolved(`#${id}`))
          : blank(label === undefined ? `unnamed${++unnamed}` : label)
    if (name !== `${rdf}Description`) say(subject, `${rdf}type`, iri(name))
    for (const [key, value] of attributes) {
      if (!key.startsWith(rdf) && !key.startsWith(xml)) say(subject, key, literal(value))
    }
    element.children.forEach((child) => property(subject, child))
    return subject
  }

  function property(subject: string, { name, attributes, children, text }: Element): void {
    const [resource, label, datatype] = ['resource', 'nodeID', 'datatype'].map((key) =>
      attributes.get(rdf + key),
    )
    const [child] = children
    if (attributes.get(`${rdf}parseType`) === 'Resource') {
      const object = blank(`unnamed${++unnamed}`)
      say(subject, name, object)
      children.forEach((inner) => property(object, inner))
    } else if (resource !== undefined) say(subject, name, iri(resolved(resource)))
    else if (label !== undefined) say(subject, name, blank(label))
    else if (child !== undefined) say(subject, name, node(child))
    else say(subject, name, literal(text, attributes.get(`${xml}lang`), datatype))
  }

  function say(subject: string, predicate: string, object: string): void {
    quads.push([subject, iri(predicate), object, ''])
  }
}
