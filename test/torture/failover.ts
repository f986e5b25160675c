// Two processes with load on all three stores over a primary and two standbys, of which it waits for one. The primary
// is killed, the standby that has most is promoted, and a new standby takes the place, again and again; in between
// connections are cut at random.

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Cluster } from '../adapters/postgres/cluster.js'
import { Proxy } from '../adapters/postgres/proxy.js'
import { Random } from '../fixtures/random.js'
import { Sharers } from './sharers.js'

const settings = [
  "synchronous_standby_names = 'ANY 1 (*)'",
  // Not before there is a standby.
  'synchronous_commit = local',
  'max_connections = 200',
  'max_wal_size = 4GB',
  'wal_keep_size = 1GB',
]

/** An address, and the server behind it: a standby that is made anew has another port. */
interface Place {
  readonly proxy: Proxy
  cluster: Cluster
}

export async function failovers(options: {
  readonly rounds: number
  readonly seed: number
  readonly retryMs?: number
  readonly leaseMs?: number
  readonly onRound?: (round: number) => void
}) {
  const { rounds, seed, retryMs = 10_000, leaseMs = 30_000, onRound } = options
  const random = new Random(seed)
  const places: Place[] = []
  try {
    const first = await Cluster.start({ settings })
    places.push({ cluster: first, proxy: await Proxy.start(first.port) })
    for (let n = 0; n < 2; n++) {
      const cluster = await Cluster.start({ of: first, settings })
      places.push({ cluster, proxy: await Proxy.start(cluster.port) })
    }
    await set(first, 'synchronous_commit', 'on')
    const hosts = places.map(({ proxy }) => new URL(proxy.url).host)
    const data = `postgres://postgres@${hosts.join(',')}/postgres`
    const sharers = new Sharers({ data, seed, leaseMs, retryMs })
    const running = [sharers.start(), sharers.start()]
    await Promise.all(running.map(({ open }) => open))
    let primary = places[0]!
    let cuts = 0
    for (let round = 0; round < rounds; round++) {
      for (let n = random.below(4); n > 0; n--) {
        await delay(random.below(500))
        for (const { proxy } of places) proxy.cut()
        cuts++
      }
      await delay(500 + random.below(1000))
      const before = sharers.acknowledged
      const downSince = performance.now()
      const next = await replace(places, primary)
      while (sharers.acknowledged === before) {
        assert.ok(performance.now() < downSince + 30_000, 'nobody goes on')
        await delay(5)
      }
      onRound?.(round)
      const cluster = await Cluster.start({ of: next.cluster, settings })
      await primary.cluster.stop()
      primary.cluster = cluster
      primary.proxy.target = cluster.port
      primary = next
    }
    for (const each of running) await sharers.stop(each)
    const jobs = await sharers.check()
    const { acknowledged, longestMs, errors, background } = sharers
    const gapMs = Math.round(sharers.longestGapMs)
    const early = errors.filter((line) => Number(line.split(' ').at(-1)) < retryMs)
    assert.deepEqual(early, [], 'an error before the time')
    const again = jobs.filter(({ attempts }) => attempts > 1).length
    const told = { errors: errors.length, background: background.length }
    return { rounds, cuts, acknowledged, jobs: jobs.length, again, gapMs, longestMs, ...told }
  } finally {
    for (const { proxy, cluster } of places) {
      await proxy.stop()
      await cluster.stop()
    }
  }
}

/** Kills the primary, and promotes whoever has most: what was acknowledged is on one of the two. */
async function replace(places: readonly Place[], primary: Place): Promise<Place> {
  await primary.cluster.kill()
  primary.proxy.cut()
  const standbys = places.filter((place) => place !== primary)
  const received = await Promise.all(
    standbys.map(async ({ cluster }) => {
      const text = `SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::text`
      return BigInt(String((await cluster.query(text))[0]?.[0]))
    }),
  )
  const [next, other] = received[0]! >= received[1]! ? standbys : standbys.toReversed()
  assert.ok(next !== undefined && other !== undefined)
  await next.cluster.query('SELECT pg_promote()')
  await set(
    other.cluster,
    'primary_conninfo',
    `host=127.0.0.1 port=${next.cluster.port} user=postgres`,
  )
  return next
}

async function set(cluster: Cluster, name: string, value: string): Promise<void> {
  await cluster.query(`ALTER SYSTEM SET ${name} = '${value}'`)
  await cluster.query('SELECT pg_reload_conf()')
}
