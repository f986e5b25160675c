import t from 'tap'
import { PostgresBackend } from '../../../adapters/postgres/index.js'
import { suite } from '../../suite/index.js'
import { Cluster, skip } from './cluster.js'
import { Proxy } from './proxy.js'

if (skip !== false) void t.test('the conformance suite', { skip }, () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  const proxy = await Proxy.start(cluster.port)
  t.teardown(() => proxy.stop())
  let places = 0
  for (const shared of [false, true]) {
    suite({
      test: (name, run) => t.test(`${shared ? 'shared' : 'alone'}: ${name}`, run),
      factory: {
        persistent: true,
        create: () => {
          const schema = `place_${places++}`
          return {
            backend: () => new PostgresBackend({ url: proxy.url, schema, shared }),
            cut: () => proxy.cut(),
            remove: async () =>
              void (await cluster.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)),
          }
        },
      },
    })
  }
}
