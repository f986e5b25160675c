// Cores: what there is, in and out.

import { useEffect, useState } from 'preact/hooks'
import type { CoreStat } from '../../knowledge/types.js'
import { useAsked } from '../asking.js'
import type { ViewProps } from '../later.js'
import { Confirm } from '../parts/confirm.js'
import { Drop, Field, Heading } from '../parts/controls.js'
import { agoText, bytesText } from '../parts/figures.js'
import { List, RowButton } from '../parts/list.js'
import { usePages } from '../parts/paging.js'
import { hashOf, refine } from '../place.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { Transfers, useTransfers } from '../transfers.js'
import { chooseTarget, save } from '../download.js'
import { Comparison } from './cores/comparison.js'
import { importOf } from './cores/import-file.js'

export default function Cores({ place }: ViewProps) {
  const session = useSession()
  const { keep, user, mayChange } = session
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
  const index = useAsked(() => keep.knowledge.indexState({ user }), [user])
  useEffect(() => {
    if (pages.value !== undefined) index.again()
  }, [pages.value])
  const transfers = useTransfers('cores', pages.again)
  const send = (files: readonly File[]) => {
    for (const file of files) {
      const importing = importOf(session, file)
      transfers.begin(file.name, file.size, importing.work, importing.cancelled)
    }
  }
  const download = async (core: CoreStat) => {
    const target = await chooseTarget(`${core.id}.core`)
    if (target === undefined) return
    transfers.begin(core.id, core.bytes, async ({ signal, onProgress }) =>
      save(target, await keep.knowledge.export(core, { signal }), { onProgress }),
    )
  }
  return (
    <>
      <Heading title={texts.views.cores} lead={texts.cores.lead}>
        {index.value !== undefined && (
          <p class="quiet aside">
            {texts.cores.library}:{' '}
            {texts.cores.indexed(index.value.parts, bytesText(index.value.bytes))}
            {index.value.waiting.segments > 0 &&
              `, ${texts.cores.waiting(index.value.waiting.segments)}`}
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
      <Transfers transfers={transfers} />
      <div class="filters">
        <Field
          label={texts.documents.prefix}
          value={prefix}
          onInput={(prefix) => refine(hashOf('cores', undefined, { prefix }))}
        />
      </div>
      <List
        name={texts.views.cores}
        pages={pages}
        empty={
          prefix === ''
            ? { title: texts.cores.none, hint: texts.cores.noneHint }
            : { title: texts.documents.noneSo, hint: texts.documents.noneSoHint }
        }
        head={
          <>
            <th>{texts.cores.id}</th>
            <th class="number">{texts.cores.messages}</th>
            <th class="number">{texts.cores.vectors}</th>
            <th class="number">{texts.cores.size}</th>
            <th>{texts.cores.updated}</th>
            <td />
          </>
        }
        row={(core) => (
          <tr key={core.id}>
            <th class="free" dir="auto">
              <a href={hashOf('graph', core.id)}>{core.id}</a>
            </th>
            <td class="number">{texts.count(core.triples)}</td>
            <td class="number">{texts.count(core.vectors)}</td>
            <td class="number">{bytesText(core.bytes)}</td>
            <td title={core.updatedAt}>{agoText(core.updatedAt)}</td>
            <td class="actions">
              <RowButton
                label={texts.cores.download}
                of={core.id}
                onClick={() => void download(core)}
              />
              {mayChange && (
                <RowButton label={texts.remove} of={core.id} onClick={() => setRemoved(core)} />
              )}
            </td>
          </tr>
        )}
      />
      <Comparison />
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
