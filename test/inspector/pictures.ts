// Pictures of every view, at a fixed size, of fixed things: what changes with each run, times and what the machine has,
// is kept out of them.

import { existsSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { createSparql } from '../../src/sparql/index.js'
import { core, serve } from '../http/fixtures/serving.js'
import { signIn, watchedPage } from './browser.js'

const novel = '../shared/data/news-from-nowhere.txt'
const sample = 'The ferry of Hammersmith\n\nDick rowed the old man over the river in his boat.\n'
/** Its first chapters: all of it takes a minute. */
const novelLength = 60_000

const measures = `lorekeep_disk_free_bytes 81400000000
process_resident_memory_bytes 142000000
nodejs_heap_size_used_bytes 61300000
process_cpu_seconds_total 21.4
nodejs_eventloop_delay_seconds{quantile="0.99"} 0.021
nodejs_version_info{version="v22.20.0"} 1
lorekeep_cache_bytes{cache="objects"} 8300000
lorekeep_cache_bytes{cache="graph"} 41700000
lorekeep_cache_bytes{cache="vectors"} 96000000
lorekeep_cache_max_bytes{cache="objects"} 67108864
lorekeep_cache_max_bytes{cache="graph"} 67108864
lorekeep_cache_max_bytes{cache="vectors"} 265289728
lorekeep_index_parts 3
lorekeep_index_waiting_segments 0
lorekeep_index_behind 0
lorekeep_operation_duration_seconds_count{operation="index.make",outcome="ok"} 12
lorekeep_operation_duration_seconds_count{operation="index.merge",outcome="ok"} 4
lorekeep_storage_write_duration_seconds_count{partition="cores",outcome="ok"} 871
lorekeep_storage_write_duration_seconds_sum{partition="cores",outcome="ok"} 1.9
lorekeep_storage_written_bytes_total{partition="cores"} 18400000
lorekeep_http_requests_total{method="GET",route="/api/v1/cores",status="200"} 412
lorekeep_http_requests_under_way 2
`

const query = `PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>

SELECT ?name (COUNT(?other) AS ?links)
WHERE { ?thing skos:related ?other ; rdfs:label ?name }
GROUP BY ?name
ORDER BY DESC(?links) ?name
LIMIT 20
`

/** Each by its name, as PNG. */
export async function takePictures(t: Test): Promise<Map<string, Buffer>> {
  const { url, flows, objects, knowledge } = await serve(t, {
    inspector: true,
    defaultUser: 'alice',
    sparql: createSparql(),
  })
  await flows.define({
    id: 'letters',
    maxAttempts: 1,
    steps: [
      {
        name: 'read',
        run: () => {
          throw new Error('the letter has no text')
        },
      },
    ],
  })
  const runner = flows.run()
  t.teardown(() => runner.stop())
  const content = existsSync(novel) ? readFileSync(novel, 'utf8').slice(0, novelLength) : sample
  await flows.load('default', { id: 'news-from-nowhere.txt', user: 'alice', content })
  await flows.load('letters', { id: 'letter-1.txt', user: 'alice', content: 'x' })
  await knowledge.import({ user: 'alice', id: 'boats' }, [core('boats', 'alice', 40)], {
    index: true,
  })
  await objects.defineSchema({
    name: 'boats',
    fields: {
      id: { type: 'string' },
      name: { type: 'string', required: true },
      oars: { type: 'integer' },
    },
    indexes: ['name'],
  })
  const names = ['Willow', 'Heron', 'Kingfisher', 'Otter', 'Reed', 'Swift']
  const values = names.map((name, n) => ({ id: `b${n + 1}`, name, oars: 2 + 2 * (n % 3) }))
  const metadata = { id: 'batch', user: 'alice', collection: 'river' }
  await objects.import({ metadata, schema_name: 'boats', values })
  for (;;) {
    const [{ done }, { dead }] = [await flows.stats('default'), await flows.stats('letters')]
    if (done + dead === 2) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }

  const pictures = new Map<string, Buffer>()
  const open = async (options: Parameters<typeof watchedPage>[2]) => {
    const { page } = await watchedPage(t, url, { reducedMotion: 'reduce', ...options })
    // Long before anything was stored: everything was just now.
    await page.addInitScript('Date.now = () => 0')
    await page.route('**/metrics', (route) => route.fulfill({ body: measures }))
    await signIn(page, `${url}/api/v1/inspector`, 'admin')
    return page
  }
  const take = async (page: Page, name: string, place: string, seen: string) => {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
    await page.getByText(seen).first().waitFor()
    await page.locator('canvas[role=img]:not([data-done])').waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined)
    await page.evaluate(`for (const told of document.querySelectorAll('.run [role=status]')) {
      told.textContent = told.textContent.replace(/ in .*/, ' in 240 ms')
    }`)
    // Much text makes large pictures.
    const clip = { x: 0, y: 0, width: 960, height: 470 }
    const isLong = /^(ask|graph)/.test(name)
    pictures.set(name, await page.screenshot(isLong ? { clip } : {}))
  }
  const question = `ask?q=${encodeURIComponent('Who rowed with the old man?')}`
  const light = await open({ colorScheme: 'light', viewport: { width: 960, height: 600 } })
  await take(light, 'ask', question, 'Why')
  await take(light, 'graph', question.replace('ask', 'graph'), 'links')
  await take(light, 'sparql', `sparql?query=${encodeURIComponent(query)}`, 'results in')
  await take(light, 'cores', 'cores', 'boats')
  await take(light, 'documents', 'documents', 'news-from-nowhere.txt')
  await take(light, 'document', 'documents/news-from-nowhere.txt', 'Hammersmith')
  await take(light, 'objects', 'objects', 'Kingfisher')
  await take(light, 'queue', 'queue', 'the letter has no text')
  await take(light, 'health', 'health', 'Caches')
  const dark = await open({ colorScheme: 'dark', viewport: { width: 960, height: 600 } })
  await take(dark, 'ask-dark', question, 'Why')
  const phone = await open({ colorScheme: 'light', viewport: { width: 390, height: 700 } })
  await take(phone, 'queue-phone', 'queue', 'the letter has no text')
  return pictures
}
