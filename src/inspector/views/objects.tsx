// Objects of a schema, by filter, in order, page by page.

import { useState } from 'preact/hooks'
import type { ObjectQuery, SchemaDefinition, StoredObject } from '../../objects/types.js'
import { parseJson } from '../../json-text.js'
import type { JsonObject } from '../../types.js'
import { useAsked, useSettled } from '../asking.js'
import { chooseTarget, save } from '../download.js'
import type { ViewProps } from '../later.js'
import { Confirm } from '../parts/confirm.js'
import { Choice, Field, Heading } from '../parts/controls.js'
import { List, RowButton } from '../parts/list.js'
import { usePages } from '../parts/paging.js'
import { Answered, Empty } from '../parts/states.js'
import { hashOf, refine } from '../place.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { Transfers, useTransfers } from '../transfers.js'
import { Condition } from './objects/condition.js'
import { Editor } from './objects/editor.js'
import { outputOf, type OutputFormat } from './objects/output.js'
import { Plan } from './objects/plan.js'

export default function Objects({ place: { query, subject } }: ViewProps) {
  const { keep } = useSession()
  const schemas = useAsked(() => keep.objects.schemas(), [])
  return (
    <>
      <Heading title={texts.views.objects} lead={texts.objects.lead} />
      <Answered asked={schemas}>
        {(schemas) => {
          const schema = schemas.find(({ name }) => name === subject) ?? schemas[0]
          return schema === undefined ? (
            <Empty title={texts.objects.noSchemas} hint={texts.objects.noSchemasHint} />
          ) : (
            <OfSchema key={schema.name} schema={schema} schemas={schemas} query={query} />
          )
        }}
      </Answered>
    </>
  )
}

interface OfSchemaProps {
  readonly schema: SchemaDefinition
  readonly schemas: readonly SchemaDefinition[]
  readonly query: ViewProps['place']['query']
}

function OfSchema({ schema, schemas, query }: OfSchemaProps) {
  const { keep, who, mayChange, seesAll } = useSession()
  const { filter = '', sort = '', order = 'asc' } = query
  const settled = useSettled(filter)
  const filters = filterOf(settled)
  const [removed, setRemoved] = useState<StoredObject>()
  const [edited, setEdited] = useState<StoredObject | 'new'>()
  const transfers = useTransfers('objects', () => undefined)
  const asked: ObjectQuery = {
    schema_name: schema.name,
    ...(filters !== undefined && { filters: filters as NonNullable<ObjectQuery['filters']> }),
    ...(sort && { sort: { [sort]: order as 'asc' | 'desc' } }),
  }
  const isWrong = [filter, settled].some(
    (text) => text.trim() !== '' && filterOf(text) === undefined,
  )
  const pages = usePages(
    async (after, limit) => {
      // Without its filter it would be another question.
      if (isWrong) return { items: [] }
      const page = await keep.objects.query({ ...asked, limit, after })
      return { items: page.objects as unknown as readonly StoredObject[], ...page }
    },
    [schema.name, settled, sort, order],
  )
  const set = (name: string) => (value: string) =>
    refine(hashOf('objects', schema.name, { ...query, [name]: value }))
  const fields = Object.keys(schema.fields)
  // The id has a column already.
  const columns = fields.filter((name) => name !== schema.id_field)
  const out = async (format: OutputFormat) => {
    const name = `${schema.name}.${format}`
    const target = await chooseTarget(name)
    if (target === undefined) return
    transfers.begin(name, undefined, ({ signal, onProgress }) => {
      const found = keep.objects.find(asked) as unknown as AsyncIterable<StoredObject>
      return save(target, outputOf(found, format, fields, signal), { onProgress })
    })
  }
  return (
    <>
      <div class="filters close">
        <div class="wide">
          <Choice
            label={texts.objects.schema}
            value={schema.name}
            options={schemas.map(({ name }) => [name, name])}
            onChange={(name) => refine(hashOf('objects', name))}
          />
        </div>
        <Choice
          label={texts.objects.sort}
          value={sort}
          options={[['', texts.objects.unsorted], ...fields.map((name) => [name, name] as const)]}
          onChange={set('sort')}
        />
        <Choice
          label={texts.objects.order}
          value={order}
          options={[
            ['asc', texts.objects.ascending],
            ['desc', texts.objects.descending],
          ]}
          onChange={set('order')}
        />
        <div class="widest">
          <Field
            label={texts.objects.filter}
            value={filter}
            onInput={set('filter')}
            isWrong={isWrong}
            hint={isWrong ? texts.objects.badFilter : texts.objects.filterHint}
          />
        </div>
      </div>
      <details>
        <summary>{texts.objects.byHand}</summary>
        <Condition
          schema={schema}
          filter={filters ?? {}}
          onFilter={(filter) => set('filter')(JSON.stringify(filter))}
        />
      </details>
      <div class="all">
        <p role="status" class="grows">
          {!isWrong && pages.total !== undefined && texts.objects.total(pages.total)}
        </p>
        {(['ndjson', 'csv'] as const).map((format) => (
          <button
            key={format}
            type="button"
            class="small"
            disabled={isWrong}
            onClick={() => void out(format)}
          >
            {texts.objects.saveAs[format]}
          </button>
        ))}
        {mayChange && (
          <button type="button" class="small" onClick={() => setEdited('new')}>
            {texts.objects.create}
          </button>
        )}
      </div>
      <Transfers transfers={transfers} />
      {!isWrong && (
        <List
          name={texts.views.objects}
          pages={pages}
          empty={
            filters === undefined
              ? { title: texts.objects.noneYet, hint: texts.objects.noneYetHint }
              : { title: texts.objects.none, hint: texts.objects.noneHint }
          }
          head={
            <>
              <th>{texts.objects.id}</th>
              <th>{texts.objects.collection}</th>
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
              <td />
            </>
          }
          row={(object) => (
            <tr key={`${object._collection} ${object._id}`}>
              <th class="cut" title={String(object._id)} dir="auto">
                {object._id}
              </th>
              <td class="free">{object._collection}</td>
              {columns.map((name) => (
                <td key={name} class="cut" title={shown(object[name])} dir="auto">
                  {shown(object[name])}
                </td>
              ))}
              <td class="actions">
                {mayChange && (who.user === '*' || object._user === who.user) && (
                  <>
                    <RowButton
                      label={texts.objects.edit}
                      of={object._id}
                      onClick={() => setEdited(object)}
                    />
                    <RowButton
                      label={texts.remove}
                      of={object._id}
                      onClick={() => setRemoved(object)}
                    />
                  </>
                )}
              </td>
            </tr>
          )}
        />
      )}
      {seesAll && <Plan asked={asked} isShown={!isWrong} />}
      {edited !== undefined && (
        <Editor
          schema={schema}
          object={edited === 'new' ? undefined : edited}
          onDone={pages.again}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && (
        <Confirm
          title={texts.objects.removeTitle(String(removed._id))}
          text={texts.objects.removeText}
          button={texts.remove}
          act={async () => {
            await keep.objects.delete(removed._collection, removed._id, {
              ifVersion: removed._version,
            })
            pages.again()
          }}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  )
}

/** `undefined` where it is empty, or no object. */
function filterOf(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

function shown(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
