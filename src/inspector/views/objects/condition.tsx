// A condition put together by hand, which becomes a part of the filter.

import { useState } from 'preact/hooks'
import { parseJson } from '../../../json-text.js'
import type { FieldDefinition, SchemaDefinition } from '../../../objects/types.js'
import type { JsonObject, JsonValue } from '../../../types.js'
import { Choice, Field } from '../../parts/controls.js'
import { texts } from '../../texts.js'

interface ConditionProps {
  readonly schema: SchemaDefinition
  readonly filter: JsonObject
  readonly onFilter: (filter: JsonObject) => void
}

const operators = ['$eq', '$ne', '$lt', '$lte', '$gt', '$gte', '$regex', '$exists'] as const
type Operator = (typeof operators)[number]

export function Condition({ schema, filter, onFilter }: ConditionProps) {
  const names = Object.keys(schema.fields)
  const [name = '', setName] = useState(names[0])
  const [operator, setOperator] = useState<Operator>('$eq')
  const [text, setText] = useState('')
  const isBare = operator === '$exists'
  const add = () => {
    const value = isBare ? true : valueOf(text, operator, schema.fields[name])
    const condition = { [name]: { [operator]: value } }
    // A field that has a condition keeps it: both have to hold.
    onFilter(
      Object.hasOwn(filter, name) ? { $and: [filter, condition] } : { ...filter, ...condition },
    )
    setText('')
  }
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <Choice
        label={texts.objects.field}
        value={name}
        options={names.map((name) => [name, name])}
        onChange={setName}
      />
      <Choice
        label={texts.objects.operator}
        value={operator}
        options={operators.map((operator) => [operator, texts.objects.operators[operator]])}
        onChange={(operator) => setOperator(operator as Operator)}
      />
      {!isBare && <Field label={texts.objects.value} value={text} onInput={setText} />}
      <button type="submit" class="beside">
        {texts.objects.addCondition}
      </button>
    </form>
  )
}

/** As the field's type has it: `7` is a number where numbers are. */
function valueOf(text: string, operator: Operator, field: FieldDefinition | undefined): JsonValue {
  const isText = ['string', 'text', 'date', 'timestamp', 'uri', 'email', 'uuid']
  if (operator === '$regex' || isText.includes(field?.type ?? '')) return text
  try {
    return parseJson(text) as JsonValue
  } catch {
    return text
  }
}
