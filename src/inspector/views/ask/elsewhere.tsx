// The request of a question as a line for curl, a program and a command.

import { Copy } from '../../parts/controls.js'
import { prefix, useSession } from '../../session.js'
import { texts } from '../../texts.js'
import { linesOf } from './lines.js'

interface ElsewhereProps {
  readonly question: string
  readonly entities: number
}

export function Elsewhere({ question, entities }: ElsewhereProps) {
  const { user, who, collection, token } = useSession()
  const lines = linesOf({
    question,
    entities,
    origin: location.origin,
    prefix,
    user,
    isNamed: who.user === '*',
    collection,
    hasToken: token !== undefined,
  })
  return (
    <section>
      <h2>{texts.ask.same}</h2>
      {(['curl', 'client', 'command'] as const).map((name) => {
        const text = lines[name]
        return text === undefined ? null : (
          <details key={name}>
            <summary>{texts.ask[name]}</summary>
            <div class="snippet">
              <pre tabIndex={0}>{text}</pre>
              <Copy text={text} />
            </div>
          </details>
        )
      })}
    </section>
  )
}
