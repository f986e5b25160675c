// A file on its way to be a core.

import type { Session } from '../../session.js'
import { texts } from '../../texts.js'
import type { Work } from '../../transfer-list.js'

interface Importing {
  readonly work: Work
  /** What is to be said where it was cancelled. */
  readonly cancelled: () => Promise<string>
}

/** Into a core that is called as the file is. Where there is one already, it is asked what is to become of that. */
export function importOf({ keep, user }: Session, file: File): Importing {
  const ref = { user, id: idOf(file.name) }
  /** Of what was there before, once that is known. */
  let before: { readonly version: string | null } | undefined
  let sent = 0
  // Browsers tell of a core that is not there as of an error, and lists have none.
  const known = async () => {
    const { cores } = await keep.knowledge.corePage({ user, prefix: ref.id, limit: 1 })
    return cores.find(({ id }) => id === ref.id)
  }
  return {
    work: async ({ signal, onProgress, ask }) => {
      const stat = await known()
      const mode =
        stat === undefined
          ? 'append'
          : await ask(texts.cores.isThere(ref.id), [
              ['replace', texts.cores.replace],
              ['append', texts.cores.append],
            ])
      before = { version: stat?.digest ?? null }
      const done = await keep.knowledge.import(ref, file, {
        index: true,
        mode,
        signal,
        // Of what came in between nobody was asked.
        ifVersion: before.version,
        onProgress: ({ bytes }) => {
          sent = bytes
          onProgress({ bytes })
        },
      })
      return texts.cores.imported(done.triples, done.vectors)
    },
    cancelled: async () => {
      if (before === undefined) return texts.cores.cancelled
      // Who leaves behind the last byte has its import, now or when it is done.
      const now = await known()
      if ((now?.digest ?? null) !== before.version) return texts.cores.cancelledLate
      return sent < file.size ? texts.cores.cancelled : texts.cores.cancelledUnsure
    },
  }
}

/** A file that is nothing but its ending is called by that. */
function idOf(name: string): string {
  return name.replace(/(?<=.)\.(core|msgpack|mpk|bin)$/i, '')
}
