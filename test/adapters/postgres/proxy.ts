// An address in front of a server, whose connections can be cut.

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Proxy {
  /** Cuts a connection where the server answers: what was asked is done, and nobody is told. */
  cutsAnswers = false
  /** Cuts a connection behind what has this text, and takes none from then on. */
  endsAfter: string | undefined
  /** Passes nothing on from what has this text, and leaves the connection as it is. */
  silentFrom: string | undefined
  /** Holds back what has this text for 100 ms. */
  delays: string | undefined
  /** Holds back everything on its way to the server for so long. */
  delayMs = 0
  /** The server tells its errors in another language. */
  isForeign = false
  /** Takes no connection. */
  isDown = false
  /** Connections taken so far. */
  taken = 0
  readonly #muted = new WeakSet<Socket>()
  /** The port of the server that new connections go to. */
  target: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(target: number) {
    this.target = target
    this.#server = createServer((socket) => this.#take(socket))
  }

  static async start(target: number): Promise<Proxy> {
    const proxy = new Proxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  /** All connections, at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Nobody hears any more from all connections there are; what is said on them reaches the server. */
  mute(): void {
    for (const socket of this.#sockets) this.#muted.add(socket)
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.cut()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #take(socket: Socket): void {
    if (this.isDown) return void socket.destroy()
    this.taken++
    const server = connect(this.target, '127.0.0.1')
    const both = [socket, server]
    const end = () => {
      for (const each of both) {
        each.destroy()
        this.#sockets.delete(each)
      }
    }
    for (const each of both) {
      this.#sockets.add(each)
      // As the driver and the server send: what is left of an answer would wait for up to 40 ms for what came before.
      each.setNoDelay(true)
      each.on('error', end).on('close', end)
    }
    socket.on('data', (bytes) => {
      const has = (text: string | undefined) => text !== undefined && bytes.includes(text)
      if (has(this.silentFrom)) return void socket.pause()
      if (has(this.delays)) {
        setTimeout(() => server.write(bytes), 100)
        return
      }
      // Timers of one length go off in their order.
      if (this.delayMs > 0) return void setTimeout(() => server.write(bytes), this.delayMs)
      server.write(bytes)
      if (!has(this.endsAfter)) return
      this.isDown = true
      server.end()
      socket.destroy()
    })
    server.on('data', (bytes) => {
      if (this.#muted.has(server)) return
      if (this.cutsAnswers) end()
      else if (this.isForeign) socket.write(translated(bytes))
      else socket.write(bytes)
    })
  }
}

/** What an error begins with, in so many letters of a language of nobody. */
function translated(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replaceAll('SERROR\0', 'SARRER\0')
  return Buffer.from(text.replaceAll('SFATAL\0', 'SFETEL\0'), 'latin1')
}
