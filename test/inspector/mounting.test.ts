// The page under every server that the handler mounts on, and behind what changes paths.

import { execFile } from 'node:child_process'
import { createServer, request as httpRequest } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import t from 'tap'
import type { AddressInfo } from 'node:net'
import { fastifyLorekeep } from '../../src/fastify/index.js'
import { createFetchHandler, createHandler } from '../../src/http/index.js'
import { createSparql } from '../../src/sparql/index.js'
import { listen, openStore } from '../http/fixtures/serving.js'
import { inaccessibleByDayAndNight, launch, noBrowser, signIn, watchedPage } from './browser.js'
import { goTo, placesOf, storeThings } from './things.js'

const skip = noBrowser
// A browser takes its time where others work, too.
t.setTimeout(300_000)

t.test('every view stands wherever its handler does', { skip }, async (t) => {
  const lorekeep = await openStore(t)
  const { job } = await storeThings(t, lorekeep)
  const { knowledge, objects, flows, backup, health } = lorekeep
  const options = {
    ...{ knowledge, objects, flows, backup, health },
    authenticate: (token: string | undefined) => (token === 'secret' ? { user: '*' } : null),
    defaultUser: 'alice',
    inspector: true,
    metrics: true,
    sparql: createSparql(),
  }
  const handler = createHandler(options)
  const app = express().use('/lore', handler)
  const bare = createHandler({ ...options, prefix: '' })
  const hono = new Hono().mount('/deep', createFetchHandler(options))
  const fastify = Fastify({ forceCloseConnections: true })
  t.teardown(() => fastify.close())
  await fastify.register(fastifyLorekeep, { ...options, prefix: '/kept' })
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const inner = await listen(t, createServer(handler))
  const proxy = createServer((request, response) => {
    const path = request.url?.replace(/^\/behind/, '')
    const { method, headers } = request
    const passed = httpRequest({ port: inner, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  const fetching = createFetchHandler(options)
  const places = {
    'node:http': [inner, '/api/v1'],
    Express: [await listen(t, createServer(app)), '/lore/api/v1'],
    'no prefix': [await listen(t, createServer(bare)), ''],
    Hono: [await listen(t, createServer(getRequestListener(hono.fetch))), '/deep/api/v1'],
    Fetch: [await listen(t, createServer(getRequestListener(fetching))), '/api/v1'],
    Fastify: [(fastify.server.address() as AddressInfo).port, '/kept'],
    'a proxy that takes a prefix away': [await listen(t, proxy), '/behind/api/v1'],
  } as const
  const views = {
    ...placesOf(job),
    [`sparql?query=${encodeURIComponent('SELECT * { ?s ?p ?o } LIMIT 5')}`]: '5 results in',
    health: 'Caches',
  }
  // No name leads anywhere: there is the server, and nothing else.
  const browser = await launch(t, ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'])
  for (const [name, [port, path]] of Object.entries(places)) {
    const origin = `http://127.0.0.1:${port}`
    const { page, faults } = await watchedPage(t, origin, { browser })
    await signIn(page, `${origin}${path}/inspector`, 'secret')
    for (const [view, seen] of Object.entries(views)) {
      await goTo(page, view)
      await page.getByText(seen).first().waitFor()
      // The files are the same everywhere, and so is what they make of an answer that does not come.
      if (name !== 'node:http') continue
      t.strictSame(await inaccessibleByDayAndNight(page), [], view)
    }
    t.strictSame(faults, [], name)
    if (name === 'node:http') {
      // Without a network what is there stays, and says so; with one it goes on.
      await page.context().setOffline(true)
      await goTo(page, 'cores')
      await page.getByRole('alert').first().waitFor()
      await page.context().setOffline(false)
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await page.getByRole('rowheader', { name: 'of-alice' }).waitFor()
    }
    await page.close()
  }
})

t.test('what asks the same from elsewhere asks where the page is', { skip }, async (t) => {
  const { knowledge, objects, flows } = await openStore(t)
  const runner = flows.run()
  t.teardown(() => runner.stop())
  const content = 'Dick rowed the boat.'
  await flows.load('default', { id: 'boat', user: 'alice', content })
  for (;;) {
    const status = await flows.document({ user: 'alice', document: 'boat' })
    if (status?.completed !== undefined) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const authenticate = (token: string | undefined) => (token === 'secret' ? { user: '*' } : null)
  const options = { knowledge, objects, flows, authenticate, inspector: true }
  const fastify = Fastify({ forceCloseConnections: true })
  t.teardown(() => fastify.close())
  await fastify.register(fastifyLorekeep, { ...options, prefix: '/kept' })
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const app = express().use("/a/b's", createHandler(options))
  const places = {
    Fastify: [(fastify.server.address() as AddressInfo).port, '/kept'],
    Express: [await listen(t, createServer(app)), "/a/b's/api/v1"],
  } as const
  const question = "-who rowed the 'boat'?"
  const run = promisify(execFile)
  const env = { ...process.env, LOREKEEP_TOKEN: 'secret', LOREKEEP_URL: '' }
  for (const [name, [port, path]] of Object.entries(places)) {
    const origin = `http://127.0.0.1:${port}`
    const { page } = await watchedPage(t, origin)
    const ask = `ask?q=${encodeURIComponent(question)}`
    await signIn(page, `${origin}${path}/inspector#/${ask}`, 'secret')
    await page.getByLabel('User').fill('alice')
    await page.getByLabel('User').press('Enter')
    await page.getByRole('heading', { name: 'The same from elsewhere' }).waitFor()
    const lines = await page.locator('.snippet pre').allTextContents()
    const [curl = '', client = '', command] = lines
    const { stdout } = await run('sh', ['-c', curl.replace('curl', 'curl -sS')], { env })
    t.match(stdout, /Dick rowed the boat/, `${name}: curl`)
    const program = `${client.replace('lorekeep/client', import.meta.resolve('../../src/client/index.js'))}
console.log(JSON.stringify(sources)); await keep.close()`
    const asked = await run(process.execPath, ['--input-type=module', '-e', program], { env })
    t.match(asked.stdout, /Dick rowed the boat/, `${name}: client`)
    t.equal(command !== undefined, name === 'Express', 'commands look behind /api/v1 alone')
    if (command === undefined) continue
    const main = fileURLToPath(import.meta.resolve('../../src/cli/main.js'))
    const said = command.replace(/^lorekeep/, `'${process.execPath}' '${main}'`)
    const told = await run('sh', ['-c', said], { env })
    t.match(told.stdout, /Dick rowed the boat/, `${name}: command`)
  }
})

t.test('a server that asks nobody for a token asks for none here, too', { skip }, async (t) => {
  const { knowledge, objects, flows } = await openStore(t)
  const options = { knowledge, objects, flows, inspector: true, authenticate: 'none' } as const
  const port = await listen(t, createServer(createHandler(options)))
  const origin = `http://127.0.0.1:${port}`
  const { page, faults } = await watchedPage(t, origin)
  await page.goto(`${origin}/api/v1/inspector`)
  await page.getByRole('navigation').waitFor()
  t.strictSame(faults, [])
})
