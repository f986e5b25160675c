// An object as JSON, to change or to make: what its schema refuses is shown where it stands, and what somebody else
// changed meanwhile is not overwritten.

import { useId, useRef, useState } from 'preact/hooks'
import { LorekeepError } from '../../../client/index.js'
import { parseJson } from '../../../json-text.js'
import type { SchemaDefinition, StoredObject } from '../../../objects/types.js'
import type { JsonObject, JsonValue } from '../../../types.js'
import { useDoing } from '../../asking.js'
import { Code } from '../../parts/code.js'
import { Collection } from '../../parts/collection.js'
import { placesIn, type TextPlace } from '../../parts/json-places.js'
import { useModal } from '../../parts/modal.js'
import { Failure } from '../../parts/states.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'

interface EditorProps {
  readonly schema: SchemaDefinition
  /** Without one a new one is made. */
  readonly object?: StoredObject | undefined
  readonly onDone: () => void
  readonly onClose: () => void
}

/** What is wrong, and where, as far as that is in the text. */
interface Flaw {
  readonly path: string
  readonly message: string
  readonly place: TextPlace | undefined
}

export function Editor({ schema, object, onDone, onClose }: EditorProps) {
  const { keep, user, collection: own = 'default' } = useSession()
  const [text, setText] = useState(() => pretty(object ? ownFields(object) : templateOf(schema)))
  const [collection, setCollection] = useState(object?._collection ?? own)
  const [version, setVersion] = useState(object?._version)
  const [current, setCurrent] = useState<StoredObject>()
  const [flaws, setFlaws] = useState<readonly Flaw[]>([])
  const { isBusy, error, start } = useDoing()
  const id = useId()
  const first = useRef(text)
  // What was written is not lost by a key, and what is saved is told of.
  const { dialog, onCancel } = useModal(isBusy || text !== first.current)

  const save = async () => {
    setFlaws([])
    setCurrent(undefined)
    let value: JsonObject
    try {
      value = objectIn(text)
    } catch (error) {
      setFlaws([{ path: '', message: (error as Error).message, place: undefined }])
      return
    }
    try {
      if (object === undefined) {
        const metadata = { id: 'inspector', user, collection }
        await keep.objects.import({ metadata, schema_name: schema.name, values: [value] })
      } else {
        const conditions = version === undefined ? {} : { ifVersion: version }
        const { _collection, _id } = object
        const stored = await keep.objects.replace(_collection, _id, value, conditions)
        if (stored === undefined) throw new Error(texts.objects.gone)
      }
    } catch (error) {
      if (!(error instanceof LorekeepError)) throw error
      if (error.code === 'LK_PRECONDITION' && object !== undefined) {
        setCurrent(await keep.objects.get(object._collection, object._id))
        return
      }
      const found = flawsIn(error, text)
      if (found.length === 0) throw error
      setFlaws(found)
      return
    }
    onDone()
    dialog.current?.close()
  }
  const select = ({ start, end }: TextPlace) => {
    const area = dialog.current?.querySelector('textarea')
    area?.focus()
    area?.setSelectionRange(start, end)
  }
  return (
    <dialog ref={dialog} class="wide" aria-labelledby={id} onClose={onClose} onCancel={onCancel}>
      <h2 id={id} class="free">
        {object === undefined
          ? texts.objects.createTitle(schema.name)
          : texts.objects.editTitle(String(object._id))}
      </h2>
      {object === undefined && (
        <Collection label={texts.objects.collection} value={collection} onChange={setCollection} />
      )}
      <Code
        label={texts.objects.json}
        value={text}
        onInput={(text) => {
          setText(text)
          setFlaws([])
        }}
        marks={flaws.flatMap(({ place }) => place ?? [])}
        isWrong={flaws.length > 0}
        describedBy={flaws.length > 0 ? `${id}-flaws` : undefined}
      />
      {flaws.length > 0 && (
        <div id={`${id}-flaws`} role="alert">
          <ul class="flaws">
            {flaws.map(({ path, message, place }, at) => (
              <li key={at}>
                {place !== undefined && (
                  <button type="button" class="link" onClick={() => select(place)}>
                    {texts.objects.line(lineOf(text, place.start))}
                  </button>
                )}{' '}
                <strong class="free">{path}</strong> <span class="free">{message}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {current !== undefined && (
        <section class="failure" role="alert">
          <p>
            <strong>{texts.objects.changed}</strong> {texts.objects.changedHint}
          </p>
          <pre tabIndex={0}>{pretty(ownFields(current))}</pre>
          <div class="all">
            <button
              type="button"
              class="small"
              onClick={() => {
                setText(pretty(ownFields(current)))
                setVersion(current._version)
                setCurrent(undefined)
              }}
            >
              {texts.objects.takeTheirs}
            </button>
            <button
              type="button"
              class="small"
              onClick={() => {
                setVersion(current._version)
                setCurrent(undefined)
              }}
            >
              {texts.objects.keepMine}
            </button>
          </div>
        </section>
      )}
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <button type="button" disabled={isBusy} onClick={() => dialog.current?.close()}>
          {texts.cancel}
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => start(save)}>
          {texts.objects.save}
        </button>
      </div>
    </dialog>
  )
}

/** Without what the store adds. */
function ownFields(object: StoredObject): JsonObject {
  const own = Object.entries(object).filter(([name]) => !name.startsWith('_'))
  return Object.fromEntries(own) as JsonObject
}

/** What has to be there, with something to be written over. */
function templateOf({ fields, id_field, generate_ids }: SchemaDefinition): JsonObject {
  const wanted = Object.entries(fields).filter(
    ([name, { required }]) => required === true || (name === id_field && !generate_ids),
  )
  const begun: JsonObject = Object.fromEntries(
    wanted.map(([name, { type, default: value, values }]) => [
      name,
      value ?? values?.[0] ?? emptyOf[type] ?? '',
    ]),
  )
  return generate_ids || Object.hasOwn(begun, id_field) ? begun : { [id_field]: '', ...begun }
}

const emptyOf: Readonly<Partial<Record<string, JsonValue>>> = {
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
  object: {},
  any: null,
}

/** @throws Error that says what is wrong with it */
function objectIn(text: string): JsonObject {
  const value: unknown = parseJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonObject
  throw new Error(texts.objects.noObject)
}

function flawsIn(error: LorekeepError, text: string): readonly Flaw[] {
  if (error.code !== 'LK_OBJECT_INVALID') return []
  const { errors } = error.details as {
    readonly errors: readonly { readonly path: string; readonly message: string }[]
  }
  const places = placesIn(text)
  const flaws = errors.map(({ path, message }): Flaw => {
    return { path, message, place: path === '' ? undefined : places.get(path) }
  })
  return flaws.toSorted((a, b) => (a.place?.start ?? -1) - (b.place?.start ?? -1))
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function pretty(value: JsonObject): string {
  return JSON.stringify(value, undefined, 2)
}
