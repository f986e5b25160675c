// What a process did to the files under a directory, as the shim journaled it, and what a power cut
// at any moment of it may have left on the disk.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../fixtures/random.js'

/**
 * What lasts of the names in directories:
 *
 * 1. All in the order in which they were made (a journal of metadata: ext4, xfs); a sync of whatever
 *    makes those before it last.
 * 2. A file's own creation by its sync; renames and unlinks by a sync of the directory.
 * 3. As 2; others by chance.
 * 4. All by a sync of the directory alone.
 * 5. As 4; others by chance.
 * 6. As 4, or as 5: the names of directories too, which last at once in 2 to 5.
 *
 * Contents last up to the file's last sync in all of them, and what came later by chance.
 */
export type Model = 1 | 2 | 3 | 4 | 5 | 6
export const models: readonly Model[] = [1, 2, 3, 4, 5, 6]

/** A file's contents by its path, or null for a directory; relative to the root. */
export type Tree = ReadonlyMap<string, Buffer | null>

type Node = FileNode | DirectoryNode

interface FileNode {
  readonly type: 'file'
  readonly writes: { readonly at: number; readonly offset: number; readonly bytes: Buffer }[]
  readonly syncs: Sync[]
}

interface DirectoryNode {
  readonly type: 'directory'
  /** As they are while the process runs. */
  readonly entries: Map<string, Node>
  readonly syncs: Sync[]
}

interface Sync {
  readonly begun: number
  ended: number
}

interface NameChange {
  readonly at: number
  readonly kind: 'create' | 'mkdir' | 'rename' | 'unlink'
  readonly changes: readonly {
    readonly directory: DirectoryNode
    readonly name: string
    readonly node: Node | undefined
  }[]
}

const phases = ['opening', 'open', 'closing'] as const
type Phase = (typeof phases)[number]

/** A sync as the process asked for it. */
export interface SyncCall {
  /** Relative to the root. */
  readonly path: string
  readonly directory: boolean
  readonly byLevel: boolean
  /** What the process had said of itself last. */
  readonly phase: Phase
}

export interface Rotation {
  readonly at: number
  readonly until: number
  readonly directory: string
}

const truncated = Buffer.alloc(0)

const kinds = [
  '',
  'open',
  'close',
  'write',
  'truncate',
  'rename',
  'unlink',
  'mkdir',
  'rmdir',
  'syncBegin',
  'syncEnd',
  'say',
  'link',
] as const

const creates = 0o100
const truncates = 0o1000

export class Journal {
  /** The number of records: a cut is before one of them, or at the end. */
  readonly length: number
  /** What the process said, and when. */
  readonly said: readonly { readonly at: number; readonly line: string }[]
  /** Where LevelDB began a new log because one was full, and where it synced the directory next. */
  readonly rotations: readonly Rotation[]
  /** Where something happened to a file or a name. */
  readonly operations: readonly number[]
  readonly syncs: readonly SyncCall[]
  readonly #root: DirectoryNode = { type: 'directory', entries: new Map(), syncs: [] }
  readonly #changes: NameChange[] = []
  readonly #allSyncs: Sync[] = []
  readonly #prefix: string

  /** `ignored`: syncs that are taken out. */
  constructor(options: {
    readonly bytes: Buffer
    readonly root: string
    readonly before: Tree
    readonly ignored?: ((sync: SyncCall) => boolean) | undefined
  }) {
    const { bytes, root, before, ignored = () => false } = options
    this.#prefix = root
    for (const [path, content] of before) this.#lay(path, content)
    const said: { at: number; line: string }[] = []
    const operations: number[] = []
    const rotations: { -readonly [K in keyof Rotation]: Rotation[K] }[] = []
    const syncs: SyncCall[] = []
    const descriptors = new Map<number, { readonly path: string; readonly node: Node }>()
    const underWay = new Map<number, Sync>()
    let phase: Phase = 'opening'
    let at = 0
    for (let offset = 0; offset < bytes.length; at++) {
      const length = bytes.readUInt32LE(offset)
      const kind = kinds[bytes.readUInt32LE(offset + 4)]
      const [a, b] = [bytes.readUInt32LE(offset + 8), bytes.readUInt32LE(offset + 12)]
      const number = Number(bytes.readBigUInt64LE(offset + 16))
      const content = bytes.subarray(offset + 24, offset + 24 + length)
      offset += 24 + length
      const path = () => content.toString()
      const file = () => {
        const { node } = descriptors.get(a)!
        assert.ok(node.type === 'file')
        return node
      }
      if (kind !== 'say' && kind !== 'close') operations.push(at)
      switch (kind) {
        case 'open': {
          const node = this.#find(path()) ?? this.#create(at, path(), 'create')
          if (phase === 'open' && b & creates && path().endsWith('.log')) {
            rotations.push({ at, until: Infinity, directory: dirname(path()) })
          }
          if (b & truncates && node.type === 'file' && node.writes.length > 0) {
            node.writes.push({ at, offset: 0, bytes: truncated })
          }
          assert.ok(this.#find(path()) && (b & creates || node.type), `${path()} was not there`)
          descriptors.set(a, { path: path(), node })
          break
        }
        case 'close':
          descriptors.delete(a)
          break
        case 'write':
          file().writes.push({ at, offset: number, bytes: content })
          break
        case 'truncate':
          file().writes.push({ at, offset: number, bytes: truncated })
          break
        case 'mkdir':
          this.#create(at, path(), 'mkdir')
          break
        case 'unlink':
        case 'rmdir':
          this.#change(at, 'unlink', [[path(), undefined]])
          break
        case 'rename':
        case 'link': {
          const [from, to] = path().split('\0') as [string, string]
          const node = this.#find(from)
          if (kind === 'link') this.#change(at, 'rename', [[to, node]])
          else this.#change(at, 'rename', [[from, undefined], [to, node]]) // prettier-ignore
          break
        }
        case 'syncBegin': {
          const { path, node } = descriptors.get(a)!
          const directory = node.type === 'directory'
          const call = { path: path.slice(root.length), directory, byLevel: b === 1, phase }
          syncs.push(call)
          if (call.byLevel && directory) {
            const rotation = rotations.findLast((rotation) => rotation.directory === path)
            if (rotation) rotation.until = Math.min(rotation.until, at)
          }
          const sync = { begun: at, ended: Infinity }
          underWay.set(number, sync)
          if (ignored(call)) break
          node.syncs.push(sync)
          this.#allSyncs.push(sync)
          break
        }
        case 'syncEnd':
          underWay.get(number)!.ended = at
          break
        case 'say':
          for (const line of content.toString().trimEnd().split('\n')) said.push({ at, line })
          phase = phases.find((phase) => phase === said.at(-1)!.line) ?? phase
          break
        default:
          assert.fail('an unknown record in the journal')
      }
    }
    this.length = at
    this.said = said
    this.operations = operations
    this.rotations = rotations
    this.syncs = syncs
  }

  /** What there was at the end: what the process that wrote it would find. */
  atEnd(): Map<string, Buffer | null> {
    return treeOf(this.#root, ({ entries }) => entries, (file) => imageOf(file, Infinity)) // prettier-ignore
  }

  /** What a power cut before that record may have left. */
  cut(at: number, model: Model, random: Random): Map<string, Buffer | null> {
    const lasts = this.#lasting(at, model, random)
    const names = new Map<DirectoryNode, Map<string, Node>>()
    const entriesOf = (directory: DirectoryNode) => {
      let entries = names.get(directory)
      if (!entries) names.set(directory, (entries = new Map()))
      return entries
    }
    for (const change of this.#changes) {
      if (change.at >= at) break
      for (const { directory, name, node } of change.changes) {
        if (!lasts(change, directory)) continue
        if (node) entriesOf(directory).set(name, node)
        else entriesOf(directory).delete(name)
      }
    }
    return treeOf(this.#root, entriesOf, (file) => contentAfterCut(file, at, random))
  }

  #lasting(
    at: number,
    model: Model,
    random: Random,
  ): (change: NameChange, directory: DirectoryNode) => boolean {
    if (model === 1) {
      const synced = Math.max(-1, ...this.#allSyncs.filter(before(at)).map(({ begun }) => begun))
      const reached = random.chance(0.3) ? synced : synced + random.below(at - synced + 1)
      return (change) => change.at <= Math.max(reached, synced)
    }
    const byChance = model === 3 || model === 5 || (model === 6 && random.chance(0.5))
    const chances = {
      create: random.pick([0.1, 0.5, 0.9]),
      mkdir: random.pick([0.1, 0.5, 0.9]),
      rename: random.pick([0.1, 0.5, 0.9]),
      unlink: random.pick([0.1, 0.5, 0.9]),
    }
    // A rename in one directory lasts or does not, as a whole.
    const kept = new Map<NameChange, boolean>()
    const synced = (node: Node, from: number) =>
      node.syncs.some((sync) => sync.begun > from && sync.ended < at)
    return (change, directory) => {
      if (change.at < 0 || synced(directory, change.at)) return true
      if (change.kind === 'mkdir' && model !== 6) return true
      const { node } = change.changes.at(-1)!
      if (change.kind === 'create' && model <= 3 && node && synced(node, change.at)) return true
      if (!byChance) return false
      let keep = kept.get(change)
      if (keep === undefined) kept.set(change, (keep = random.chance(chances[change.kind])))
      return keep
    }
  }

  #lay(path: string, content: Buffer | null): void {
    const node = this.#create(-1, this.#prefix + path, content === null ? 'mkdir' : 'create')
    if (node.type === 'file' && content!.length > 0) {
      node.writes.push({ at: -1, offset: 0, bytes: content! })
    }
  }

  #create(at: number, path: string, kind: 'create' | 'mkdir'): Node {
    const node: Node =
      kind === 'mkdir'
        ? { type: 'directory', entries: new Map(), syncs: [] }
        : { type: 'file', writes: [], syncs: [] }
    this.#change(at, kind, [[path, node]])
    return node
  }

  #change(at: number, kind: NameChange['kind'], changed: readonly [string, Node | undefined][]) {
    const changes = changed.map(([path, node]) => {
      const directory = this.#find(dirname(path))
      assert.ok(directory?.type === 'directory', `${dirname(path)} is no directory`)
      const name = path.slice(path.lastIndexOf('/') + 1)
      if (node) directory.entries.set(name, node)
      else directory.entries.delete(name)
      return { directory, name, node }
    })
    this.#changes.push({ at, kind, changes })
  }

  #find(path: string): Node | undefined {
    assert.ok(path.startsWith(this.#prefix))
    let node: Node | undefined = this.#root
    for (const name of path.slice(this.#prefix.length).split('/')) {
      if (name === '') continue
      node = node?.type === 'directory' ? node.entries.get(name) : undefined
    }
    return node
  }
}

const before = (at: number) => (sync: Sync) => sync.ended < at

/** The bytes after all that was written before a moment. */
function imageOf({ writes }: FileNode, at: number): Buffer {
  const done = writes.filter((write) => write.at < at)
  const image = Buffer.alloc(Math.max(0, ...done.map(({ offset, bytes }) => offset + bytes.length)))
  let length = 0
  for (const { offset, bytes } of done) {
    if (bytes.length === 0) image.fill(0, (length = offset))
    else length = Math.max(length, offset + bytes.copy(image, offset))
  }
  return image.subarray(0, length)
}

function contentAfterCut(file: FileNode, at: number, random: Random): Buffer {
  const begun = file.syncs.filter(before(at)).map((sync) => sync.begun)
  // What was there from the start has been on the disk for long.
  const synced = imageOf(file, Math.max(0, ...begun))
  const written = imageOf(file, at)
  if (synced.equals(written)) return written
  const least = Math.min(synced.length, written.length)
  const between = least + random.below(Math.abs(written.length - synced.length) + 1)
  const longest = Math.max(synced.length, written.length)
  switch (random.below(6)) {
    case 0:
      return synced
    case 1:
      return written
    case 2:
      // The first part of it.
      return written.subarray(0, between)
    case 3:
      // Its length and none of its bytes.
      return Buffer.concat([synced], longest)
    default: {
      // Blocks in any order.
      const size = random.pick([512, 4096])
      const image = Buffer.concat([synced], random.chance(0.5) ? longest : between)
      const chance = random.pick([0.2, 0.5, 0.8])
      for (let from = 0; from < Math.min(image.length, written.length); from += size) {
        if (random.chance(chance)) written.copy(image, from, from, from + size)
      }
      return image
    }
  }
}

function treeOf(
  root: DirectoryNode,
  entriesOf: (directory: DirectoryNode) => ReadonlyMap<string, Node>,
  contentOf: (file: FileNode) => Buffer,
): Map<string, Buffer | null> {
  const tree = new Map<string, Buffer | null>()
  const walk = (directory: DirectoryNode, path: string) => {
    for (const [name, node] of entriesOf(directory)) {
      const place = `${path}/${name}`
      tree.set(place, node.type === 'file' ? contentOf(node) : null)
      if (node.type === 'directory') walk(node, place)
    }
  }
  walk(root, '')
  return tree
}

export function readTree(root: string): Map<string, Buffer | null> {
  const tree = new Map<string, Buffer | null>()
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(root, name)
    tree.set(`/${name}`, statSync(path).isDirectory() ? null : readFileSync(path))
  }
  return tree
}

export function writeTree(root: string, tree: Tree): void {
  mkdirSync(root, { recursive: true })
  for (const [path, content] of tree) {
    if (content === null) mkdirSync(root + path, { recursive: true })
    else writeFileSync(root + path, content)
  }
}
