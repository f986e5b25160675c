// Sending what is there as a whole, and telling how much of it has gone: browsers take a stream as a body over HTTP/2
// alone, and not all of them, and fetch tells nothing of anything else.

/** The bytes that were sent until then. */
export interface Sent {
  readonly bytes: number
}

interface Upload {
  readonly upload: { onprogress: (event: { readonly loaded: number }) => void }
  responseType: string
  readonly responseURL: string
  readonly status: number
  readonly response: ArrayBuffer
  onload: () => void
  onerror: () => void
  onabort: () => void
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}

const { XMLHttpRequest: Uploading } = globalThis as unknown as {
  XMLHttpRequest?: new () => Upload
}

/** Undefined but in browsers. */
export const upload =
  Uploading &&
  ((
    url: string,
    init: RequestInit & { readonly headers: Readonly<Record<string, string>>; signal: AbortSignal },
    onSent: (sent: Sent) => void,
  ): Promise<Response> => {
    const { method = 'POST', headers, body, signal } = init
    const request = new Uploading()
    const leave = () => request.abort()
    const sent = new Promise<void>((resolve, reject) => {
      request.open(method, url)
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
      request.responseType = 'arraybuffer'
      request.upload.onprogress = ({ loaded }) => onSent({ bytes: loaded })
      // Of who has left the signal says why.
      const fail = () => reject(new TypeError('failed to send'))
      request.onerror = fail
      request.onabort = fail
      request.onload = resolve
      signal.addEventListener('abort', leave)
      request.send(body)
    })
    const answered = sent.then(() => {
      // As fetch does with `redirect: 'error'`, if later.
      if (request.responseURL !== new URL(url).href) throw new TypeError('was redirected')
      // There may be none, or none that a page of another origin may read.
      const lines = request.getAllResponseHeaders().matchAll(/^(.+?): (.*)/gm)
      const pairs = [...lines].map(([, name, value]) => [name, value] as [string, string])
      const { status, response } = request
      return new Response(response.byteLength > 0 ? response : null, { status, headers: pairs })
    })
    return answered.finally(() => signal.removeEventListener('abort', leave))
  })
