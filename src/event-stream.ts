// Server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html has them: the
// data of each, without names and ids.

import { StringDecoder } from 'node:string_decoder'

/** An event that the source ends in is left out, as the standard has it. */
export async function* readEventStream(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  let data: string[] = []
  for await (const line of linesOf(source)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line === 'data') data.push('')
    if (line !== '' || data.length === 0) continue
    yield data.join('\n')
    data = []
  }
}

/** Lines that end in a CR, an LF or both, without these. */
async function* linesOf(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8')
  const end = /\r\n?|\n/g
  let begun = ''
  let isFirst = true
  let endedInCr = false
  for await (const chunk of source) {
    let text = decoder.write(chunk)
    if (text === '') continue
    if (isFirst) text = text.replace(/^\ufeff/, '')
    isFirst = false
    // The other half of a line end that was cut in two.
    let from = endedInCr && text.startsWith('\n') ? 1 : 0
    endedInCr = text.endsWith('\r')
    end.lastIndex = from
    for (let found = end.exec(text); found !== null; found = end.exec(text)) {
      yield begun + text.slice(from, found.index)
      begun = ''
      from = end.lastIndex
    }
    begun += text.slice(from)
  }
}
