// Documents of a library: what is said of each, and which of them are texts to be loaded.

import { own } from '../door/members.js'
import { Problems } from '../door/problems.js'
import { isRecord, shown } from '../door/wording.js'
import { noCharset } from '../flow/charset.js'
import { isAbsoluteIri } from '../rdf/terms.js'
import type { Term, Triple } from '../types.js'
import { inMember } from './faults.js'

export interface Description {
  readonly id: string
  /** A media type, in lower case and without parameters. */
  readonly kind: string
  readonly charset: string
  /** Empty for a document of its own. */
  readonly parent: string
  /** `source`, `page`, `section`, `chunk`, `image`, `extracted`, `answer`. */
  readonly type: string
  readonly metadata: readonly Triple[]
}

const dcterms = 'http://purl.org/dc/terms/'

/** @throws LorekeepError `LK_WORKSPACE_FORMAT` with all that is wrong */
export function readDescription(json: unknown, member: string): Description {
  const problems = new Problems()
  const fields = isRecord(json) ? json : {}
  if (fields !== json) problems.fail('', `must be an object, not ${shown(json)}`)

  /** Null is as good as nothing, as Python writes it. */
  const text = (name: string): string => {
    const value = own(fields, name) ?? ''
    if (typeof value === 'string') return value
    problems.fail(name, `must be a string, not ${shown(value)}`)
    return ''
  }
  const list = (name: string): readonly unknown[] => {
    const value = own(fields, name) ?? []
    if (Array.isArray(value)) return value
    problems.fail(name, `must be an array, not ${shown(value)}`)
    return []
  }

  const id = text('id')
  if (id === '' && problems.count === 0) problems.fail('id', 'is missing, or empty')
  const [kind = '', ...parameters] = (text('kind') || 'text/plain').split(';')
  const parent = text('parent_id')
  const metadata: Triple[] = []
  const say = (name: string, o: Term) => {
    if (o.v === '') return
    metadata.push({ s: entity(id), p: entity(dcterms + name), o })
  }
  say('title', literal(text('title')))
  say('description', literal(text('comments')))
  for (const [index, tag] of list('tags').entries()) {
    if (typeof tag === 'string') say('subject', literal(tag))
    else problems.fail(`tags[${index}]`, `must be a string, not ${shown(tag)}`)
  }
  say('dateSubmitted', literal(text('time')))
  say('format', literal(kind.trim()))
  say('isPartOf', entity(parent))
  for (const [index, said] of list('metadata').entries()) {
    const [s, p, o] = ['s', 'p', 'o'].map((name) => {
      const value = isRecord(said) ? own(said, name) : undefined
      if (typeof value === 'string') return value
      problems.fail(`metadata[${index}].${name}`, `must be a string, not ${shown(value)}`)
      return ''
    }) as [string, string, string]
    metadata.push({ s: entity(s), p: entity(p), o: termOf(o) })
  }
  if (problems.count > 0) throw inMember(problems.error('LK_WORKSPACE_FORMAT'), member)
  return {
    id,
    kind: kind.trim().toLowerCase(),
    charset: charsetIn(parameters) ?? 'utf-8',
    parent,
    type: text('document_type'),
    metadata,
  }
}

function charsetIn(parameters: readonly string[]): string | undefined {
  for (const parameter of parameters) {
    const found = /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(parameter)?.[1]
    if (found !== undefined && !noCharset.test(found)) return found
  }
  return undefined
}

/** The archive has lost what is an entity: what looks like the IRI of one is taken for one. */
function termOf(v: string): Term {
  return { v, e: isAbsoluteIri(v) && /^(?:urn:|[a-z][a-z0-9+.-]*:\/\/)/i.test(v) }
}

const entity = (v: string): Term => ({ v, e: true })
const literal = (v: string): Term => ({ v, e: false })

/** What becomes of a document. */
export type Fate = 'text' | 'part' | 'answer' | 'kind'

interface Known {
  /** Of no text: that is what a text is. */
  readonly kind: string | undefined
  readonly isAnswer: boolean
  readonly parent: string
}

/** Parts of parts are three deep or four; one that is its own part has no end. */
const maxDepth = 100

/** All documents of an archive, a few words of each. */
export class Library {
  readonly #documents = new Map<string, Known>()

  get size(): number {
    return this.#documents.size
  }

  /** False where there is one of that id. */
  add({ id, kind, parent, type }: Description): boolean {
    if (this.#documents.has(id)) return false
    this.#documents.set(id, {
      kind: kind.startsWith('text/') ? undefined : kind,
      isAnswer: type === 'answer',
      parent,
    })
    return true
  }

  /**
   * A text is loaded unless it is a part of one that is: of a text its chunks are passed over, of a PDF
   * the pages are loaded, and their chunks passed over.
   */
  fateOf(id: string): Fate {
    const document = this.#documents.get(id)
    if (document === undefined || document.kind !== undefined) return 'kind'
    if (document.isAnswer) return 'answer'
    let isPart = false
    let { parent } = document
    for (let depth = 0; depth < maxDepth; depth++) {
      const whole = this.#documents.get(parent)
      if (whole === undefined) return isPart ? 'part' : 'text'
      isPart ||= whole.kind === undefined && !whole.isAnswer
      ;({ parent } = whole)
    }
    return 'text'
  }

  *fates(): Generator<{ readonly fate: Fate; readonly kind: string }, void, undefined> {
    for (const [id, { kind = '' }] of this.#documents) yield { fate: this.fateOf(id), kind }
  }
}
