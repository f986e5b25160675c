// The first reading: everything is looked at, and nothing stored.

import { wrongName } from '../door/rules.js'
import { shown } from '../door/wording.js'
import { parseRdf } from '../rdf/parse.js'
import type { RdfLoss } from '../rdf/parse.js'
import { inMember, tooLarge, unreadable } from './faults.js'
import { readJson } from './json-member.js'
import { Library, readDescription } from './library.js'
import type { Description } from './library.js'
import { checkManifest, readManifest } from './manifest.js'
import type { Manifest } from './manifest.js'
import { graphOf } from './members.js'
import type { Member } from './members.js'
import type { WorkspaceLimits } from './types.js'

export interface Contents {
  readonly manifest: Manifest
  readonly library: Library
  /** Of documents whose content came before, by the keys of their members. */
  readonly early: ReadonlyMap<string, Description>
  readonly config: number
  readonly unknown: { readonly count: number; readonly names: readonly string[] }
}

/** Of a core. */
const maxIdBytes = 1024

/** Of unknown members. */
const maxNames = 20
const longestName = 200

/**
 * Of descriptions that wait for their content, or the other way round. An export has both beside each
 * other.
 */
const maxHeldBytes = 64 * 1024 * 1024

interface CheckOptions {
  readonly loss: RdfLoss
  readonly limits: WorkspaceLimits
  readonly onTriples: (triples: number) => void
}

/** @throws LorekeepError `LK_WORKSPACE_*`, `LK_RDF_*`, `LK_PEER_MISSING` */
export async function checkMembers(
  members: AsyncIterable<Member>,
  { loss, limits, onTriples }: CheckOptions,
): Promise<Contents> {
  let manifest: Manifest | undefined
  let config = 0
  const unknown = { count: 0, names: [] as string[] }
  const triples = new Map<string, number>()
  const library = new Library()
  const pairs = new Pairs()

  for await (const member of members) {
    const { type, name } = member
    if (type === 'config') config++
    else if (type === 'unknown') {
      if (++unknown.count <= maxNames) unknown.names.push(name.slice(0, longestName).toWellFormed())
    } else if (type === 'manifest') {
      if (manifest !== undefined) throw twice(name)
      manifest = readManifest(await readJson(member, limits))
    } else if (type === 'triples') {
      const { collection } = member
      if (triples.has(collection)) throw twice(name)
      const problem = wrongName(graphOf(collection), maxIdBytes)
      if (problem !== undefined) {
        throw unreadable(`the id of its core, ${shown(graphOf(collection))}, ${problem}`, {
          member: name,
        })
      }
      triples.set(collection, await countTriples(member, collection, loss, onTriples))
    } else if (type === 'content') pairs.addContent(member.key, name)
    else {
      const description = readDescription(await readJson(member, limits), name)
      if (!library.add(description)) {
        throw unreadable(`the document '${description.id}' is in the archive twice`, {
          member: name,
        })
      }
      pairs.addDescription(member.key, name, description, member.tar.size)
    }
  }
  if (manifest === undefined) {
    throw unreadable('manifest.json is missing: it is no archive of a workspace, or was cut')
  }
  pairs.end()
  checkManifest(manifest, triples, library.size)
  return { manifest, library, early: pairs.early, config, unknown }
}

async function countTriples(
  { tar, name }: Member,
  collection: string,
  loss: RdfLoss,
  onTriples: (triples: number) => void,
): Promise<number> {
  let count = 0
  try {
    const messages = parseRdf(tar.content, {
      format: 'n-quads',
      defaultGraph: graphOf(collection),
      // Else there is one triple for each statement.
      loss: loss === 'refuse' ? 'refuse' : 'drop',
    })
    for await (const [type, data] of messages) {
      if (type === 't') count += data.t.length
      onTriples(count)
    }
  } catch (error) {
    throw inMember(error, name)
  }
  return count
}

/** What describes a document and its content, which are two members. */
class Pairs {
  readonly early = new Map<string, Description>()
  /** One of the two, by their key, with the bytes that are held until the other comes. */
  readonly #single = new Map<string, { readonly name: string; readonly bytes: number }>()
  #heldBytes = 0

  addContent(key: string, name: string): void {
    const other = this.#single.get(key)
    if (other === undefined || other.name === name) return this.#wait(key, name, 0)
    this.#single.delete(key)
    this.#heldBytes -= other.bytes
  }

  addDescription(key: string, name: string, description: Description, bytes: number): void {
    const other = this.#single.get(key)
    if (other === undefined || other.name === name) return this.#wait(key, name, bytes)
    this.#single.delete(key)
    this.early.set(key, description)
    this.#hold(bytes, name)
  }

  #wait(key: string, name: string, bytes: number): void {
    if (this.#single.has(key)) throw twice(name)
    this.#single.set(key, { name, bytes })
    this.#hold(bytes, name)
  }

  #hold(bytes: number, member: string): void {
    this.#heldBytes += bytes
    if (this.#heldBytes <= maxHeldBytes) return
    const reason = `more than ${maxHeldBytes} bytes of .meta.json lie apart from their .content; make an archive in which each comes right before it`
    throw tooLarge(reason, { member, maxHeldBytes })
  }

  end(): void {
    const [single] = this.#single.values()
    if (single === undefined) return
    const { name } = single
    const other = name.endsWith('.content') ? '.meta.json' : '.content'
    throw unreadable(`its ${other} is not in the archive`, { member: name })
  }
}

function twice(member: string): Error {
  return unreadable('it is in the archive twice', { member })
}
