// Results of a question as one JSON.

/** Terms can be long: a list of few of them that is longer than this ends early, and says so. */
const maxListLength = 8 * 1024 ** 2

/** `{ [name]: [...] }`, and whether there is more. */
export async function listOf(
  name: string,
  find: (limit: number) => AsyncIterable<unknown>,
  limit: number,
): Promise<string> {
  const texts: string[] = []
  let length = 0
  let truncated = false
  // One more than asked for tells whether there is more.
  for await (const value of find(limit + 1)) {
    truncated = texts.length === limit || length > maxListLength
    if (truncated) break
    const text = JSON.stringify(value)
    texts.push(text)
    length += text.length
  }
  return `{"${name}":[${texts.join()}]${truncated ? ',"truncated":true' : ''}}`
}
