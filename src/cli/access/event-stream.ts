// Server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html has them:
// the data of each, without names and ids. Lines may end in CRLF, but not in a lone CR.

import { StringDecoder } from 'node:string_decoder'

export async function* readEventStream(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let data: string[] = []
  for await (const chunk of source) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line
      if (text.startsWith('data:')) data.push(text.slice(text[5] === ' ' ? 6 : 5))
      if (text !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
    }
  }
}
