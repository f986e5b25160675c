// Pages in browsers that ask: a browser sends requests, and opens sockets, to any server that a page names, with the
// cookies that it has for that server. What such a page may read of an answer the browser asks CORS; of a socket it
// reads everything.

/** Where a request says that it is from, and how it names the server. */
interface Whence {
  readonly origin: string | undefined
  readonly host: string | undefined
}

const loopback = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether it is of the server itself, of this machine, or of an origin in the list; programs name none. */
export function isFamiliar(whence: Whence, origins: readonly string[] | '*'): boolean {
  const { origin } = whence
  if (origin === undefined || isLoopback(origin) || isOwn(whence)) return true
  return origins === '*' || origins.includes(origin)
}

/** Whether it is of the server itself, by the name that the browser knows it by. */
export function isOwn({ origin = '', host }: Whence): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}

export function isLoopback(url: string): boolean {
  return URL.canParse(url) && loopback.test(new URL(url).hostname)
}
