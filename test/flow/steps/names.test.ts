import t from 'tap'
import { entityUri, relationUri } from '../../../src/flow/steps/names.js'

const base = 'http://trustgraph.ai/e/'

// Each is what the reference system's Python makes of it.
const expected: Readonly<Record<string, string>> = {
  Paris: 'paris',
  'Ada Lovelace': 'ada-lovelace',
  "John O'Brien": 'john-o%27brien',
  'Café de Flore': 'caf%C3%A9-de-flore',
  'AT&T (US)': 'at%26t-%28us%29',
  'TCP/IP': 'tcp/ip',
  'a.b_c-d~e': 'a.b_c-d~e',
  'Yahoo! *new*': 'yahoo%21-%2Anew%2A',
  '100% #1?': '100%25-%231%3F',
  東京: '%E6%9D%B1%E4%BA%AC',
  '😀': '%F0%9F%98%80',
}

for (const [name, tail] of Object.entries(expected)) {
  t.test(`the URI of ${name} is in the reference's form`, async (t) => {
    t.equal(entityUri(name, base), base + tail)
    t.equal(relationUri(name, base), base + tail)
  })
}

t.test('any run of white space is one hyphen, and none is at the ends', async (t) => {
  t.equal(entityUri(' New\r\n  York\u00a0City\t', 'urn:x:'), 'urn:x:new-york-city')
})

t.test('what is no name has no URI', async (t) => {
  for (const name of ['', ' \n', 'half \ud83d', '\udc00', 'a'.repeat(1001)]) {
    t.throws(() => entityUri(name, base), { code: 'LK_STEP_OUTPUT' })
  }
  t.equal(entityUri('a'.repeat(1000), base).length, base.length + 1000)
})
