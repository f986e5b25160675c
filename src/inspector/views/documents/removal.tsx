// Asks before a document goes.

import { Confirm } from '../../parts/confirm.js'
import { useSession } from '../../session.js'
import { texts } from '../../texts.js'

interface RemovalProps {
  readonly document: string
  readonly onDone: () => void
  readonly onClose: () => void
}

export function Removal({ document, onDone, onClose }: RemovalProps) {
  const { keep, user } = useSession()
  return (
    <Confirm
      title={texts.documents.removeTitle(document)}
      text={texts.documents.removeText}
      button={texts.remove}
      act={async () => {
        await keep.flows.removeDocument({ user, document })
        onDone()
      }}
      onClose={onClose}
    />
  )
}
