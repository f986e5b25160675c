import t from 'tap'
import { PostgresBackend } from '../../../adapters/postgres/index.js'

void t.test(
  'a URL that cannot be read is a mistake of the program, and is not shown',
  async (t) => {
    const urls = [
      'mysql://secret@host',
      'postgres://lore:secret@host:notaport/lore',
      'postgres://lore:secret@host:65536/lore',
      'postgres://lore:secret@one:5432,two:notaport/lore',
      'postgres://lore:secret@host/lore?port=notaport',
      'postgres://lore:secret@host/lore?port=65536',
      // A slash in the password: the rest is taken for a port.
      'postgres://lore:sec/ret@host/lore',
    ]
    for (const url of urls) {
      t.throws(
        () => new PostgresBackend({ url }),
        {
          name: 'TypeError',
          message: /^PostgresBackend\(\): url must be [^]*postgres:(?![^]*sec)/u,
        },
        url,
      )
    }
  },
)

void t.test('a URL that can be is taken in all its forms', async (t) => {
  const urls = [
    'postgres://host',
    'postgresql://lore@host:5432/lore?sslmode=verify-full',
    'postgres://lore:p%2Fw%23@one:5432,two:5433,[::1]:5434/lore',
    'postgres://one,,two/lore',
    'postgres://lore:é%E0%A4%A@host/lore',
    'postgres:///lore?host=/var/run/postgresql',
    'postgres://lore:secret@/lore?host=/var/run/postgresql&port=5433',
    'postgres://%2Fvar%2Frun%2Fpostgresql/lore',
    'postgres://lore:one two@host/lore',
    'postgres://lore:100%@host/lore',
  ]
  for (const url of urls) t.doesNotThrow(() => new PostgresBackend({ url }), url)
})
