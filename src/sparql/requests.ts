import { Turns } from '../turns.js'

/** Each may go through ten thousand rows in one turn of the event loop. */
const mostAtOnce = 8

/** So long the others wait for those, and then for one less. Nobody is kept alive by it. */
const patienceMs = 20

/**
 * What a thread asks for: some at once, the others after them, and others of this process between them.
 * All that had come since the last turn, thousands in a path of any length, took seconds of one.
 */
export class Requests {
  readonly #waiting: (() => Promise<void>)[] = []
  readonly #turns = new Turns(undefined)
  #atOnce = 0
  #timer: NodeJS.Timeout | undefined

  /** Whatever fails is for the work to tell: it may not reject. */
  add(work: () => Promise<void>): void {
    this.#waiting.push(work)
    if (this.#atOnce < mostAtOnce) void this.#run()
    else this.#timer ??= setTimeout(this.#goOn, patienceMs).unref()
  }

  async #run(): Promise<void> {
    this.#atOnce++
    for (let work; (work = this.#waiting.shift()) !== undefined;) {
      await this.#turns.pass()
      await work()
    }
    this.#atOnce--
  }

  /** Those that are worked on may find nothing for long. */
  readonly #goOn = (): void => {
    this.#timer = undefined
    if (this.#waiting.length === 0) return
    void this.#run()
    this.#timer = setTimeout(this.#goOn, patienceMs).unref()
  }
}
