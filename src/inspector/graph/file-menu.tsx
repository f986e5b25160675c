// What is shown, as a file.

import { useId, useState } from 'preact/hooks'
import type { Triple } from '../../types.js'
import { useDoing } from '../asking.js'
import { Failure } from '../parts/states.js'
import { texts } from '../texts.js'
import { pngOf, rdfOf, save, svgOf, type FileKind } from './files.js'
import type { StillScene } from './picture.js'

interface FilesProps {
  readonly name: string
  readonly scene: { readonly current: StillScene | undefined }
  readonly triples: () => readonly Triple[]
}

const kinds: readonly FileKind[] = ['png', 'svg', 'ttl', 'nt', 'nq']

const types = {
  ttl: 'text/turtle',
  nt: 'application/n-triples',
  nq: 'application/n-quads',
} as const

export function Files({ name, scene, triples }: FilesProps) {
  const id = useId()
  const [kind, setKind] = useState<FileKind>('png')
  const { error, start } = useDoing()
  const write = async () => {
    const still = scene.current
    if (still === undefined) return
    const file = `${name.replace(/[^\w.-]+/g, '_').slice(0, 80)}.${kind}`
    const sized = {
      ...still,
      width: 0,
      height: 0,
      camera: { x: 0, y: 0, scale: 1 },
      isMoving: false,
    }
    if (kind === 'png') save(file, [await pngOf(sized)], 'image/png')
    else if (kind === 'svg') save(file, [svgOf(sized)], 'image/svg+xml')
    else save(file, [rdfOf(triples(), kind)], types[kind])
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
      <button type="button" onClick={() => void start(write)}>
        {texts.graph.save}
      </button>
      {error !== undefined && <Failure error={error} />}
    </div>
  )
}
