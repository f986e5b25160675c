import { single } from '../bounds.js'
import { needed, text } from '../fields.js'
import { aText, tool } from '../tool.js'

/** Of a text, in UTF-16 code units: the store has a bound of its own, in bytes. */
const longestText = 10 * 1024 ** 2

export const load = tool({
  name: 'load',
  description:
    'Keeps a text as a document; the same id replaces it. What this answers is on disk; job says when it can be asked.',
  fields: {
    document: needed(text(1024, 'its id, a URI')),
    text: needed(text(longestText)),
    title: text(1000),
    collection: text(1024),
  },
  output: { job: aText, document: aText },
  always: ['job', 'document'],
  writes: true,
  async run({ document, text, title, collection }, { stores }) {
    const { job } = await stores.load({
      id: document,
      content: text,
      ...(title !== undefined && { title }),
      ...(collection !== undefined && { collection }),
    })
    const said = `job ${job}: the text is on disk, and is processed next. The tool job says when it is done.`
    return single({ job, document }, () => said)
  },
})
