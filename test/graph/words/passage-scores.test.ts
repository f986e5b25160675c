// What searches keep for the next one: it is clean, and there is a bound to it.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { entity, literal, messageOf } from '../../graph/asked.js'

const text = { v: vocabulary.text, e: true }

t.test(
  'searches of all users at once, and of parts of a user, leave nothing to each other',
  async (t) => {
    const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
    t.teardown(() => keep.close())
    const users = Array.from({ length: 5 }, (_, n) => `u${n}`)
    for (const [n, user] of users.entries()) {
      const triples = Array.from({ length: 1 + n }, (_, at) => {
        return { s: entity(`${user} ${at}`), p: text, o: literal(`river ${user} ${at}`) }
      })
      await keep.knowledge.write({ user, id: 'odd' }, [messageOf(triples, 'odd')])
      await keep.knowledge.write({ user, id: 'even' }, [messageOf(triples, 'even')])
    }
    const questions = users.flatMap((user) => [
      { user, text: 'river' },
      { user, text: 'river -0', collection: 'odd' },
      { user, text: `"river ${user}"`, cores: ['even'] },
      { user, text: 'nothing' },
    ])
    const answer = ({ user, ...question }: (typeof questions)[number]) =>
      keep.knowledge.graph({ user }).search(question)
    const alone: unknown[] = []
    for (const question of questions) alone.push(await answer(question))
    for (let round = 0; round < 3; round++) {
      const ends = questions.map(() => AbortSignal.abort(new Error('enough')))
      const ended = ends.map((signal) =>
        keep.knowledge
          .graph({ user: 'u4' })
          .search({ text: 'river', signal })
          .catch(() => []),
      )
      t.strictSame(await Promise.all(questions.map(answer)), alone)
      await Promise.all(ended)
    }
  },
)
