// What connect() is told: where the server is, and how it is asked.

export interface ConnectOptions {
  /** Of the server: `https://example.com`, with a path in front of `/api/v1` where it is mounted so. */
  readonly url: string | URL
  /** What stands in front of every path, as createHandler() was told. `/api/v1` by default. */
  readonly prefix?: string
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** One that the server has, for the paths of objects: they say nothing else of it. By default `default`. */
  readonly flow?: string
  /** In place of the global one. What it rejects with is asked again where that is safe, unless it says `isFinal: true`. */
  readonly fetch?: Fetch
}

export interface Fetch {
  (url: string, init: RequestInit): Promise<Response>
  /** It asks for a path as it is, with `.` and `..` in it: things may have them for ids. */
  readonly isLiteral?: true
}

const names = ['url', 'prefix', 'token', 'flow', 'fetch']

/** @throws TypeError. A prefix without its slash would be part of the name of another host, which got the token. */
export function checkOptions(options: ConnectOptions): void {
  const {
    url,
    prefix = '',
    token = '-',
    flow = '-',
    fetch = () => {},
  } = Object(options) as Partial<Record<keyof ConnectOptions, unknown>>
  // What is no URL has no protocol of ours.
  const { protocol, username, password, search } = new URL(
    URL.canParse(url as string) ? (url as string) : 'of:none',
  )
  const unknown = Object.keys(Object(options) as object).find((name) => !names.includes(name))
  const problems = [
    [unknown !== undefined, `has no option '${unknown}', but ${names.join(', ')}`],
    [!/^https?:$/.test(protocol), 'url must be one of http or https, as http://localhost:8088'],
    [username + password !== '', 'url must have no user and password: give a token, or a fetch'],
    [search !== '', 'url must have no query'],
    [
      !/^(?:\/[^?#]*[^/?#])?$/.test(String(prefix)),
      "prefix must be '', or begin with a slash and not end with one",
    ],
    [
      !isText(token) || /[^\x21-\x7e]/.test(token),
      'token must be a text of visible ASCII characters',
    ],
    [!isText(flow), 'flow must be the name of one'],
    [typeof fetch !== 'function', 'fetch must be a function'],
  ] as const
  for (const [isWrong, found] of problems) if (isWrong) throw new TypeError(`connect(): ${found}`)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
