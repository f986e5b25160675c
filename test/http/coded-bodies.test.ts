// Bodies that come encoded, by both doors (RFC 9110, section 8.4): what is taken, and what is broken or too much.

import zlib from 'node:zlib'
import t from 'tap'
import { codings } from '../../src/http/coding/codings.js'
import { encoders } from './fixtures/codings.js'
import { byBothDoors, fill } from './fixtures/doors.js'
import { defineQuick } from './fixtures/flows.js'
import { core, json } from './fixtures/serving.js'

t.test('bodies are taken in every coding there is', async (t) => {
  t.strictSame(codings.map(({ name }) => name).sort(), Object.keys(encoders).sort())
  await byBothDoors(t, {}, async (t, ask, { knowledge, objects, flows }) => {
    await fill(objects)
    await defineQuick({ flows })
    const bytes = core('x', 'alice', 100)
    const object = Buffer.from(JSON.stringify({ n: 7, text: 'ü'.repeat(70_000) }))
    const form = Buffer.from('nonsense=1')
    for (const [name, encode] of Object.entries(encoders)) {
      const headers = { 'Content-Encoding': name }
      const imported = await ask(`/import-core?id=${name}&mode=replace`, {
        method: 'POST',
        headers,
        body: encode(bytes),
      })
      t.match(imported, { status: 200 }, name)
      t.match(await knowledge.stat({ user: 'alice', id: name }), { triples: 200 }, name)
      const path = '/collections/things/objects/small'
      const replaced = await ask(path, { method: 'PUT', headers, body: encode(object) })
      t.match(replaced, { status: 200 }, name)
      t.match(json(replaced as never), { n: 7 })
      const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const asked = { method: 'POST', headers: { ...headers, ...type }, body: encode(form) }
      t.match(json((await ask('/sparql', asked)) as never), { detail: /nonsense/ }, name)
      const loaded = await ask('/flow/quick/service/file-load?id=a', {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'text/plain' },
        body: encode(Buffer.from('A text.')),
      })
      t.equal(loaded.status, 200, name)
    }
    for (const name of ['x-gzip', 'GZIP', 'identity, gzip', ' gzip ', 'gzip, ']) {
      const headers = { 'Content-Encoding': name }
      const path = '/import-core?id=named&mode=replace'
      const body = encoders['gzip']!(bytes)
      t.equal((await ask(path, { method: 'POST', headers, body })).status, 200, name)
    }
    for (const name of ['', 'identity', 'Identity, identity']) {
      const headers = { 'Content-Encoding': name }
      const path = '/import-core?id=named&mode=replace'
      t.equal((await ask(path, { method: 'POST', headers, body: bytes })).status, 200, name)
    }
    for (const name of ['compress', 'gzip, gzip', 'gzip, br', 'aws-chunked', 'x']) {
      const headers = { 'Content-Encoding': name }
      for (const path of ['/import-core?id=none', '/flow/default/objects/import']) {
        const answer = await ask(path, { method: 'POST', headers, body: bytes })
        t.match(json(answer as never), { status: 415, code: 'LK_HTTP_ENCODING' }, name)
        t.equal(answer.headers['accept-encoding'], codings.map(({ name }) => name).join(', '))
      }
      t.equal(await knowledge.stat({ user: 'alice', id: 'none' }), undefined)
    }
  })
})

t.test('a body in a broken coding is a 400, and stores nothing', async (t) => {
  await byBothDoors(t, {}, async (t, ask, { knowledge, objects }) => {
    await fill(objects)
    const bytes = core('x', 'alice', 100)
    for (const [name, encode] of Object.entries(encoders)) {
      const whole = encode(bytes)
      const flipped = Buffer.from(whole)
      for (let at = 40; at < 140; at++) flipped[at] = 255 - flipped[at]!
      const bodies: [what: string, body: Uint8Array][] = [
        ['cut by a byte', whole.subarray(0, -1)],
        ['cut in the middle', whole.subarray(0, whole.length / 2)],
        ['nothing at all', new Uint8Array(0)],
        ['not encoded', bytes],
        ['changed', flipped],
        ['followed by nothing', Buffer.concat([whole, Buffer.alloc(9)])],
        ['followed by more', Buffer.concat([whole, Buffer.from('more of it')])],
      ]
      for (const [what, body] of bodies) {
        const headers = { 'Content-Encoding': name }
        const answer = await ask('/import-core?id=none', { method: 'POST', headers, body })
        t.match(answer.status, 400, `${name}, ${what}`)
        t.equal(await knowledge.stat({ user: 'alice', id: 'none' }), undefined, `${name}, ${what}`)
        const path = '/collections/things/objects/small'
        const before = await objects.get('things', 'small')
        t.equal((await ask(path, { method: 'PUT', headers, body })).status, 400, `${name}, ${what}`)
        t.strictSame(await objects.get('things', 'small'), before)
      }
    }
  })
})

t.test('limits are those of what comes out', async (t) => {
  const body = core('x', 'alice', 100)
  for (const [maxCoreBytes, status] of [
    [body.byteLength, 200],
    [body.byteLength - 1, 413],
  ] as const) {
    await byBothDoors(t, { maxCoreBytes }, async (t, ask, { knowledge }) => {
      for (const [name, encode] of Object.entries(encoders)) {
        const headers = { 'Content-Encoding': name }
        const path = `/import-core?id=${name}&mode=replace`
        const answer = await ask(path, { method: 'POST', headers, body: encode(body) })
        t.equal(answer.status, status, name)
        if (status === 413) t.match(json(answer as never), { code: 'LK_CORE_TOO_LARGE' })
        const isThere = (await knowledge.stat({ user: 'alice', id: name })) !== undefined
        t.equal(isThere, status === 200)
      }
    })
  }
  // As much as may be, in a coding that makes more of it.
  const object = `{"n":7,"text":"${'x'.repeat(999)}"}`
  await byBothDoors(t, { maxJsonBytes: object.length }, async (t, ask, { objects }) => {
    await fill(objects)
    const path = '/collections/things/objects/small'
    const body = zlib.gzipSync(object, { level: 0 })
    t.ok(body.length > object.length)
    const headers = { 'Content-Encoding': 'gzip' }
    t.equal((await ask(path, { method: 'PUT', headers, body })).status, 200)
    const more = zlib.gzipSync(`${object} `)
    t.ok(more.length < object.length)
    t.equal((await ask(path, { method: 'PUT', headers, body: more })).status, 413)
  })
})

t.test('a bomb ends at the limit, in little memory', async (t) => {
  // A megabyte of nothing, again and again: 10 GiB in ten megabytes.
  const member = zlib.gzipSync(Buffer.alloc(1024 ** 2))
  const bomb = Buffer.concat(Array.from({ length: 10_240 }, () => member))
  const message = core('bomb', 'alice', 1)
  const copies = Array(Math.ceil(1024 ** 2 / message.length)).fill(message) as Buffer[]
  const messages = zlib.gzipSync(Buffer.concat(copies))
  const maxCoreBytes = 8 * 1024 ** 2
  await byBothDoors(t, { maxCoreBytes }, async (t, ask, { knowledge, objects }) => {
    await fill(objects)
    const before = process.memoryUsage.rss()
    const headers = { 'Content-Encoding': 'gzip' }
    const path = '/collections/things/objects/small'
    const answer = await ask(path, { method: 'PUT', headers, body: bomb })
    t.match(json(answer as never), {
      status: 413,
      code: 'LK_HTTP_TOO_LARGE',
      maxJsonBytes: 16 * 1024 ** 2,
    })
    // The same of messages of a core, which are stored as they come: a gigabyte, of which eight megabytes are taken.
    const cores = await ask('/import-core?id=bomb', {
      method: 'POST',
      headers,
      body: Buffer.concat(Array(1024).fill(messages) as Buffer[]),
    })
    t.match(json(cores as never), { status: 413, code: 'LK_CORE_TOO_LARGE' })
    t.equal(await knowledge.stat({ user: 'alice', id: 'bomb' }), undefined)
    const grown = (process.memoryUsage.rss() - before) / 1024 ** 2
    t.ok(grown < 128, `${grown} MiB more`)
  })
})
