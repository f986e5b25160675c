// Documents: loaded here, and followed through their steps.

import { useState } from 'preact/hooks'
import type { CompletedDocument } from '../../flow/types.js'
import { useAsked } from '../asking.js'
import type { ViewProps } from '../later.js'
import { Collection } from '../parts/collection.js'
import { Choice, Drop, Field, Heading } from '../parts/controls.js'
import { agoText } from '../parts/figures.js'
import { List, RowButton } from '../parts/list.js'
import { usePages } from '../parts/paging.js'
import { hashOf, refine } from '../place.js'
import { useSession } from '../session.js'
import { texts } from '../texts.js'
import { Transfers, useTransfers } from '../transfers.js'
import { loadFile } from './documents/load-file.js'
import { Removal } from './documents/removal.js'
import { SingleDocument } from './documents/single-document.js'

export default function Documents({ place }: ViewProps) {
  return place.subject === undefined ? (
    <DocumentList prefix={place.query['prefix'] ?? ''} />
  ) : (
    <SingleDocument key={place.subject} document={place.subject} />
  )
}

function DocumentList({ prefix }: { readonly prefix: string }) {
  const session = useSession()
  const { keep, user, who, mayChange } = session
  const [collection, setCollection] = useState(session.collection ?? 'default')
  const [chosen, setChosen] = useState('default')
  const flows = useAsked(() => keep.flows.list(), [])
  const names = (flows.value ?? []).map(({ id }) => id)
  // The flow `default` may have been taken away.
  const flow = names.length === 0 || names.includes(chosen) ? chosen : (names[0] ?? chosen)
  const [removed, setRemoved] = useState<CompletedDocument>()
  const pages = usePages(
    async (after, limit) => {
      const query = { user, limit, ...(after && { after }), ...(prefix && { prefix }) }
      const { documents, next } = await keep.flows.documentPage(query)
      return { items: documents, next }
    },
    [user, prefix],
  )
  const transfers = useTransfers('documents', pages.again)
  const send = (files: readonly File[]) => {
    for (const file of files) {
      const into = { document: file.name, flow, collection, isReplaced: false }
      transfers.begin(file.name, undefined, (options) => loadFile(session, file, into, options))
    }
  }
  return (
    <>
      <Heading title={texts.views.documents} lead={texts.documents.lead} />
      {mayChange && (
        <Drop
          title={texts.documents.drop}
          hint={texts.documents.dropHint}
          button={texts.documents.choose}
          onFiles={send}
        />
      )}
      <Transfers
        transfers={transfers}
        {...(who.stores.includes('knowledge') && {
          way: { href: hashOf('ask'), text: texts.documents.ask },
        })}
      />
      <div class="filters">
        <Field
          label={texts.documents.prefix}
          value={prefix}
          onInput={(prefix) => refine(hashOf('documents', undefined, { prefix }))}
        />
        {mayChange && names.length > 1 && (
          <Choice
            label={texts.documents.flowHint}
            value={flow}
            options={names.map((name) => [name, name])}
            onChange={setChosen}
          />
        )}
        {mayChange && (
          <Collection
            label={texts.documents.collectionHint}
            value={collection}
            onChange={setCollection}
          />
        )}
      </div>
      <List
        name={texts.views.documents}
        pages={pages}
        empty={emptyOf(prefix, transfers.isBusy)}
        head={
          <>
            <th>{texts.documents.id}</th>
            <th>{texts.documents.flow}</th>
            <th>{texts.documents.collection}</th>
            <th>{texts.documents.done}</th>
            <td />
          </>
        }
        row={(one) => (
          <tr key={one.document}>
            <th class="free" dir="auto">
              <a href={hashOf('documents', one.document)}>{one.document}</a>
            </th>
            <td class="free">{one.completed.flow}</td>
            <td class="free">{one.completed.collection}</td>
            <td title={one.completed.at}>{agoText(one.completed.at)}</td>
            <td class="actions">
              {mayChange && (
                <RowButton label={texts.remove} of={one.document} onClick={() => setRemoved(one)} />
              )}
            </td>
          </tr>
        )}
      />
      {removed !== undefined && (
        <Removal
          document={removed.document}
          onDone={pages.again}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  )
}

function emptyOf(prefix: string, isBusy: boolean) {
  const { noneSo, noneSoHint, noneDone, noneDoneHint, none, noneHint } = texts.documents
  if (prefix !== '') return { title: noneSo, hint: noneSoHint }
  return isBusy ? { title: noneDone, hint: noneDoneHint } : { title: none, hint: noneHint }
}
