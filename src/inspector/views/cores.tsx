// Cores: what there is, in and out.

import { useState } from 'preact/hooks'
import type { CoreStat } from '../../knowledge/types.js'
import { useAsked } from '../asking.js'
import type { ViewProps } from '../later.js'
import { Confirm } from '../parts/confirm.js'
import { Drop, Field, Heading } from '../parts/controls.js'
import { agoText, bytesText } from '../parts/figures.js'
import { usePages } from '../parts/paging.js'
import { Answered, Empty } from '../parts/states.js'
import { hashOf, refine } from '../place.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { Uploads, useUploads } from '../uploads.js'
import { download } from '../download.js'

export default function Cores({ place }: ViewProps) {
  const { keep, user, mayChange } = useSession()
  const { prefix = '' } = place.query
  const [removed, setRemoved] = useState<CoreStat>()
  const pages = usePages(
    async (after, limit) => {
      const query = { user, limit, ...(after && { after }), ...(prefix && { prefix }) }
      const { cores, next } = await keep.knowledge.corePage(query)
      return { items: cores, next }
    },
    [user, prefix],
  )
  const index = useAsked(() => keep.knowledge.indexState({ user }), [user, pages.value])
  const uploads = useUploads(pages.again)
  const send = (files: readonly File[]) => {
    for (const file of files) {
      const id = file.name.replace(/\.(core|msgpack|mpk|bin)$/i, '')
      uploads.add(file, async ({ signal, onProgress }) => {
        const ref = { user, id }
        const done = await keep.knowledge.import(ref, file, { index: true, signal, onProgress })
        return texts.cores.imported(done.triples, done.vectors)
      })
    }
  }
  return (
    <>
      <Heading title={texts.views.cores} lead={texts.cores.lead}>
        {index.value !== undefined && (
          <p class="quiet aside">
            {texts.cores.library}: {texts.cores.parts(index.value.parts)},{' '}
            {bytesText(index.value.bytes)}, {texts.cores.waiting(index.value.waiting.segments)}
          </p>
        )}
      </Heading>
      {mayChange && (
        <Drop
          title={texts.cores.drop}
          hint={texts.cores.dropHint}
          button={texts.cores.choose}
          onFiles={send}
        />
      )}
      <Uploads uploads={uploads} />
      <div class="filters">
        <Field
          label={texts.documents.prefix}
          value={prefix}
          onInput={(prefix) => refine(hashOf('cores', undefined, { prefix }))}
        />
      </div>
      <Answered asked={pages}>
        {(cores) =>
          cores.length === 0 ? (
            <Empty title={texts.cores.none} hint={texts.cores.noneHint} />
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label={texts.views.cores}>
              <table>
                <thead>
                  <tr>
                    <th>{texts.cores.id}</th>
                    <th class="number">{texts.cores.messages}</th>
                    <th class="number">{texts.cores.vectors}</th>
                    <th class="number">{texts.cores.size}</th>
                    <th>{texts.cores.updated}</th>
                    <td />
                  </tr>
                </thead>
                <tbody>
                  {cores.map((core) => (
                    <tr key={core.id}>
                      <th class="free" dir="auto">
                        {core.id}
                      </th>
                      <td class="number">{texts.count(core.triples)}</td>
                      <td class="number">{texts.count(core.vectors)}</td>
                      <td class="number">{bytesText(core.bytes)}</td>
                      <td title={core.updatedAt}>{agoText(core.updatedAt)}</td>
                      <td class="actions">
                        <button
                          type="button"
                          class="small"
                          onClick={() =>
                            uploads.run(core.id, core.bytes, (options) =>
                              download(keep, core, options),
                            )
                          }
                        >
                          {texts.cores.download}
                          <span class="hidden"> {core.id}</span>
                        </button>
                        {mayChange && (
                          <button type="button" class="small" onClick={() => setRemoved(core)}>
                            {texts.remove}
                            <span class="hidden"> {core.id}</span>
                          </button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answered>
      {pages.more !== undefined && (
        <button type="button" onClick={pages.more}>
          {texts.more}
        </button>
      )}
      {removed !== undefined && (
        <Confirm
          title={texts.cores.removeTitle(removed.id)}
          text={texts.cores.removeText}
          button={texts.remove}
          act={async () => {
            await keep.knowledge.delete(removed, { ifVersion: removed.digest })
            pages.again()
          }}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  )
}
