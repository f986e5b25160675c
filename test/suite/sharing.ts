// Backends that are shared: two of them over one place, their turns and their messages. Those that
// are not shared have none of it.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { hasCode } from '../../src/errors.js'
import { longestMessage } from '../../src/storage.js'
import type { Sharing, Storage } from '../../src/storage.js'
import { assertBytes, hex, numbered, put, text } from './bytes.js'
import { raise } from './concurrency.js'
import type { Context, Place } from './types.js'

/** So long it may take until what was published has arrived. */
const soonMs = 5000
/** So long what must not happen is waited for. */
const briefMs = 50

export function sharing({ withPlace }: Context): void {
  const withTwo = (
    name: string,
    run: (one: Shared, two: Shared, place: Place) => Promise<void>,
  ): void => {
    withPlace(name, async (place) => {
      const first = place.backend()
      const one = await first.open('objects')
      assert.equal(one.sharing !== undefined, first.shared)
      if (!first.shared) return
      await run(sharedOf(one), sharedOf(await place.backend().open('objects')), place)
    })
  }

  withTwo('what one has written the other reads', async ({ storage: one }, { storage: two }) => {
    for (let n = 0; n < 20; n++) {
      const [writer, reader] = n % 2 === 0 ? [one, two] : [two, one]
      await put(writer, text('key'), numbered(n))
      assertBytes(await reader.get(text('key')), numbered(n))
      const pages = reader.scan({})[Symbol.asyncIterator]()
      assertBytes((await pages.next()).value?.[0]?.value, numbered(n))
    }
  })

  withTwo('a counter that both raise ends exact', async (one, two) => {
    await put(one.storage, text('counter'), numbered(0))
    await Promise.all(
      [one, two, one, two].map(({ storage }) => raise(storage, text('counter'), 25)),
    )
    assertBytes(await two.storage.get(text('counter')), numbered(100))
  })

  withTwo('what two move about is neither lost nor doubled', async (one, two) => {
    const accounts = Array.from({ length: 6 }, (_, n) => text(`account ${n}`))
    const number = (value: Uint8Array | undefined) => Buffer.from(value!).readUInt32BE()
    await one.storage.write(accounts.map((key) => ({ type: 'put', key, value: numbered(100) })))
    const move = async ({ storage }: Shared, n: number) => {
      const keys = [accounts[n % 6]!, accounts[(n * 5 + 1) % 6]!] as const
      for (;;) {
        const [from, to] = await storage.getMany(keys)
        const values = [number(from) - 1, number(to) + 1].map(numbered)
        const require = [from, to].map((value, at) => ({
          type: 'equals' as const,
          key: keys[at]!,
          value: value!,
        }))
        try {
          await storage.write(
            values.map((value, at) => ({ type: 'put', key: keys[at]!, value })),
            { require },
          )
          return
        } catch (error) {
          if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
        }
      }
    }
    let isOver = false
    const sum = (values: readonly (Uint8Array | undefined)[]) =>
      values.reduce((total, value) => total + number(value), 0)
    const reading = [one, two].map(async ({ storage }) => {
      for (; !isOver; await wait(1)) assert.equal(sum(await storage.getMany(accounts)), 600)
    })
    await Promise.all(
      [one, two, one, two].map(async (who, at) => {
        for (let n = 0; n < 12; n++) await move(who, at + n)
      }),
    )
    isOver = true
    await Promise.all(reading)
    assert.equal(sum(await two.storage.getMany(accounts)), 600)
  })

  withTwo('of two who both require what the other changes one is refused', async (one, two) => {
    for (let n = 0; n < 20; n++) {
      const [a, b] = [text(`a${n}`), text(`b${n}`)]
      await Promise.all([put(one.storage, a, text('0')), put(two.storage, b, text('0'))])
      const outcomes = await Promise.allSettled([
        one.storage.write([{ type: 'put', key: b, value: text('1') }], {
          require: [{ type: 'equals', key: a, value: text('0') }],
        }),
        two.storage.write([{ type: 'put', key: a, value: text('1') }], {
          require: [{ type: 'equals', key: b, value: text('0') }],
        }),
      ])
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      assert.equal(refused.length, 1)
      assert(hasCode(refused[0]?.reason, 'LK_STORAGE_CONFLICT'))
    }
  })

  withTwo('of two who both require that a key is absent one is refused', async (one, two) => {
    for (let n = 0; n < 20; n++) {
      const key = text(`key${n}`)
      const outcomes = await Promise.allSettled(
        [one, two].map(({ storage }) =>
          storage.write([{ type: 'put', key, value: text('1') }], {
            require: [{ type: 'absent', key }],
          }),
        ),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
    }
  })

  withTwo('a turn is one’s alone, and goes on in the order of asking', async (one, two) => {
    const order: string[] = []
    const first = await one.turn('name')
    const take = async (who: Shared, name: string) => {
      const release = await who.turn('name')
      order.push(name)
      await wait(1)
      order.push(`${name} ends`)
      release()
    }
    const takes: Promise<void>[] = []
    for (const [who, name] of [
      [two, 'b'],
      [one, 'c'],
      [two, 'd'],
      [one, 'e'],
    ] as const) {
      takes.push(take(who, name))
      // Asked for one after the other, as far as anybody can tell.
      await wait(briefMs)
    }
    assert.deepEqual(order, [])
    first()
    first()
    await Promise.all(takes)
    const ended = ['b', 'c', 'd', 'e'].flatMap((name) => [name, `${name} ends`])
    assert.deepEqual(order, ended)
  })

  withTwo('turns of other names and partitions are others', async (one, two, place) => {
    const releases = [await one.turn('name'), await two.turn('other')]
    const elsewhere = sharedOf(await place.backend().open('flows'))
    releases.push(await elsewhere.turn('name'))
    for (const release of releases) release()
  })

  withTwo('a turn that is not wanted any more is nobody’s', async (one, two) => {
    const first = await one.turn('name')
    const aborting = new AbortController()
    const given = two.turn('name', aborting.signal)
    const last = one.turn('name')
    await wait(briefMs)
    const reason = new Error('enough')
    aborting.abort(reason)
    await assert.rejects(given, reason)
    await assert.rejects(two.turn('name', aborting.signal), reason)
    first()
    const release = await last
    release()
    const again = await two.turn('name')
    again()
  })

  withTwo('turns end with the backend that has them, or waits', async (one, two) => {
    await one.turn('name')
    const waiting = one.turn('name')
    const next = two.turn('name')
    await wait(briefMs)
    const refused = assert.rejects(waiting, { code: 'LK_CLOSED' })
    await one.storage.close()
    await refused
    const release = await next
    release()
    await assert.rejects(one.turn('name'), { code: 'LK_CLOSED' })
  })

  withTwo('messages reach the others, in their order', async (one, two, place) => {
    const three = sharedOf(await place.backend().open('objects'))
    const elsewhere = sharedOf(await place.backend().open('flows'))
    const heard = [one, two, three, elsewhere].map((each) => listen(each))
    const sent: Uint8Array[] = [new Uint8Array(0), new Uint8Array(longestMessage).fill(255)]
    for (let n = 0; n < 50; n++) sent.push(numbered(n))
    for (const message of sent) one.publish(message)
    two.publish(text('two'))
    const told = [...sent].map(hex)
    const fromTwo = hex(text('two'))
    await until(() => heard[0]!.length === 1 && heard[2]!.length === sent.length + 1)
    await until(() => heard[1]!.length === sent.length)
    assert.deepEqual(heard[0], [fromTwo])
    assert.deepEqual(heard[1], told)
    assert.deepEqual(
      heard[2]!.filter((message) => message !== fromTwo),
      told,
    )
    assert.deepEqual(heard[3], [])
    assert.throws(() => one.publish(new Uint8Array(longestMessage + 1)), TypeError)
  })

  withTwo('who is told of a write sees it', async (one, two) => {
    const seen: Promise<Uint8Array | undefined>[] = []
    two.subscribe((key) => seen.push(two.storage.get(key)))
    for (let n = 0; n < 20; n++) {
      await put(one.storage, numbered(n), text('there'))
      one.publish(numbered(n))
    }
    await until(() => seen.length === 20)
    for (const value of await Promise.all(seen)) assertBytes(value, text('there'))
  })

  withTwo('who does not listen any more hears nothing', async (one, two) => {
    const heard = listen(two)
    const unheard: Uint8Array[] = []
    const end = two.subscribe((message) => unheard.push(message))
    end()
    end()
    one.publish(text('1'))
    await until(() => heard.length === 1)
    assert.deepEqual(unheard, [])
    await two.storage.close()
    one.publish(text('2'))
    await wait(briefMs)
    assert.equal(heard.length, 1)
    two.publish(text('3'))
  })
}

interface Shared extends Sharing {
  readonly storage: Storage
}

function sharedOf(storage: Storage): Shared {
  assert(storage.sharing !== undefined)
  return { storage, ...storage.sharing }
}

function listen({ subscribe }: Shared): string[] {
  const heard: string[] = []
  subscribe((message) => heard.push(hex(message)))
  return heard
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + soonMs
  while (!holds()) {
    assert(performance.now() < end, `not within ${soonMs} ms`)
    await wait(2)
  }
}
