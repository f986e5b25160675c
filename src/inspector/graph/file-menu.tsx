// What is shown, as a file.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Triple } from '../../types.js'
import { useDoing } from '../asking.js'
import { fileName, hand } from '../download.js'
import { Failure } from '../parts/states.js'
import { texts } from '../texts.js'
import { pngOf, rdfOf, svgOf, type FileKind } from './files.js'
import type { StillScene } from './picture.js'

interface FilesProps {
  readonly fileName: string
  readonly scene: { readonly current: StillScene | undefined }
  readonly triples: () => readonly Triple[]
}

const kinds: readonly FileKind[] = ['png', 'svg', 'ttl', 'nt', 'nq']

const types = {
  ttl: 'text/turtle',
  nt: 'application/n-triples',
  nq: 'application/n-quads',
} as const

const lookAgainMs = 50

export function Files({ fileName: wanted, scene, triples }: FilesProps) {
  const id = useId()
  const [kind, setKind] = useState<FileKind>('png')
  const { isBusy, error, start } = useDoing()
  const isLeft = useRef(false)
  useEffect(
    () => () => {
      isLeft.current = true
    },
    [],
  )
  const write = async () => {
    const file = `${fileName(wanted.slice(0, 80))}.${kind}`
    if (kind !== 'png' && kind !== 'svg') {
      hand(file, new Blob([rdfOf(triples(), kind)], { type: types[kind] }))
      return
    }
    while (!isPlaced(scene.current)) {
      if (isLeft.current) return
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
    }
    const camera = { x: 0, y: 0, scale: 1 }
    const sized = { ...scene.current, width: 0, height: 0, camera, isMoving: false }
    if (kind === 'png') hand(file, await pngOf(sized))
    else hand(file, new Blob([svgOf(sized)], { type: 'image/svg+xml' }))
  }
  return (
    <div class="files">
      <label for={id}>{texts.graph.file}</label>
      <select
        id={id}
        value={kind}
        onChange={({ currentTarget }) => setKind(currentTarget.value as FileKind)}
      >
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {texts.graph.files[kind]}
          </option>
        ))}
      </select>
      <button type="button" aria-busy={isBusy} onClick={() => void start(write)}>
        {texts.graph.save}
      </button>
      {error !== undefined && <Failure error={error} />}
    </div>
  )
}

/** Whether all of it has its place: threads find them, and a picture without would be of nothing. */
function isPlaced(scene: StillScene | undefined): scene is StillScene {
  if (scene === undefined || scene.places.length !== 2 * scene.sketch.names.length) return false
  return !scene.places.some((place) => Number.isNaN(place))
}
