// The collection that something new is to be in: any, or one of those that the token is for.

import { useSession } from '../session.js'
import { Choice, Field } from './controls.js'

interface CollectionProps {
  readonly label: string
  readonly value: string
  readonly onChange: (collection: string) => void
}

export function Collection({ label, value, onChange }: CollectionProps) {
  const { collections } = useSession().who
  if (collections === undefined) return <Field label={label} value={value} onInput={onChange} />
  const options = collections.map((name) => [name, name] as const)
  return <Choice label={label} value={value} options={options} onChange={onChange} />
}
