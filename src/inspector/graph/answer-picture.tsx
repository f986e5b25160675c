// The graph that an answer was drawn from, beside its passages: who chooses a line is shown what says it.

import { useMemo, useState } from 'preact/hooks'
import type { Subgraph } from '../../graph/types.js'
import type { Triple } from '../../types.js'
import { drawnOf, linkBetween, nothing, withTriples, type Shown } from './model.js'
import { Picture } from './picture.js'

interface AnswerPictureProps {
  readonly graph: Subgraph
  readonly chosen: Triple | undefined
  readonly onTriple: (triple: Triple) => void
}

const nobody = { kinds: new Set<string>(), relations: new Set<string>() }

export default function AnswerPicture({ graph, chosen, onTriple }: AnswerPictureProps) {
  const [selected, setSelected] = useState<string>()
  const shown = useMemo((): Shown => {
    const names = new Map(Object.entries(graph.labels))
    return { ...withTriples({ ...nothing, names }, graph.triples), expanded: true }
  }, [graph])
  const drawn = useMemo(() => drawnOf(shown, nobody), [shown])
  const link = chosen && linkBetween(drawn, chosen.s.v, chosen.o.v)
  return (
    <Picture
      drawn={drawn}
      shown={shown}
      selected={selected}
      selectedLink={link}
      onNode={setSelected}
      onLink={({ triples: [first] }) => first !== undefined && onTriple(first)}
      onToggle={setSelected}
    />
  )
}
