// What is on its way, in or out, how much of it has gone, and what became of it. Views come and go: it stays for as
// long as somebody is signed in. One at a time of each list: two would share the line.

import { texts } from './texts.js'

export interface TransferOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: { readonly bytes: number }) => void
  /** For what goes on when all has been sent. */
  readonly onStep: (step: Step) => void
  /** Waits for what somebody says to it. Each answer with what is said of it. */
  readonly ask: <T extends string>(
    question: string,
    answers: readonly (readonly [T, string])[],
  ) => Promise<T>
}

/** What is done with it now, and how much of that, where somebody knows. */
interface Step {
  readonly text: string
  readonly done?: number | undefined
  readonly total?: number | undefined
}

/** Resolves with what is to be said of it. */
export type Work = (options: TransferOptions) => Promise<string>

interface Transfer {
  readonly key: number
  readonly name: string
  /** `undefined` where nobody knows before the end. */
  readonly size: number | undefined
  readonly bytes: number
  readonly step?: Step
  readonly question?: Question | undefined
  readonly outcome?: {
    readonly text?: string
    readonly error?: unknown
    readonly isDone?: boolean
  }
  readonly leave: () => void
}

interface Question {
  readonly text: string
  readonly answers: readonly { readonly text: string; readonly give: () => void }[]
}

interface Watcher {
  readonly onChange: () => void
  /** Told after each that has ended, well or not. */
  readonly onEnd: () => void
}

export class TransferList {
  #list: readonly Transfer[] = []
  #last: Promise<void> = Promise.resolve()
  #keys = 0
  readonly #watchers = new Set<Watcher>()

  get list(): readonly Transfer[] {
    return this.#list
  }

  get isBusy(): boolean {
    return this.#list.some(({ outcome }) => outcome === undefined)
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** @param cancelled what is to be said where somebody ended it */
  begin(
    name: string,
    size: number | undefined,
    work: Work,
    cancelled: () => Promise<string> = async () => texts.cancelled,
  ): void {
    const key = ++this.#keys
    const leaving = new AbortController()
    const { signal } = leaving
    const change = (fields: Partial<Transfer>) =>
      this.#set(this.#list.map((one) => (one.key === key ? { ...one, ...fields } : one)))
    const ask: TransferOptions['ask'] = (text, answers) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        const give = (answer: (typeof answers)[number][0]) => () => {
          change({ question: undefined })
          resolve(answer)
        }
        const given = answers.map(([answer, text]) => ({ text, give: give(answer) }))
        change({ question: { text, answers: given } })
      })
    const onProgress = ({ bytes }: { readonly bytes: number }) => change({ bytes })
    const run = async (): Promise<Transfer['outcome']> => {
      try {
        signal.throwIfAborted()
        const onStep = (step: Step) => change({ step })
        return { text: await work({ signal, onProgress, onStep, ask }), isDone: true }
      } catch (error) {
        // What fails while it is ended is no less an error.
        if (!signal.aborted || error !== signal.reason) return { error }
      }
      return cancelled().then(
        (text) => ({ text }),
        (error: unknown) => ({ error }),
      )
    }
    this.#set([...this.#list, { key, name, size, bytes: 0, leave: () => leaving.abort() }])
    this.#last = this.#last.then(async () => {
      const outcome = await run()
      change({ question: undefined, ...(outcome && { outcome }) })
      for (const { onEnd } of this.#watchers) onEnd()
    })
  }

  /** Ends all that is on its way. Resolves when it has: a job may have to be cancelled. */
  leave(): Promise<void> {
    for (const { leave } of this.#list) leave()
    return this.#last
  }

  dismiss(key: number): void {
    this.#set(this.#list.filter((one) => one.key !== key))
  }

  #set(list: readonly Transfer[]): void {
    this.#list = list
    for (const { onChange } of this.#watchers) onChange()
  }
}

/** Those of one session, by name. */
export class TransferLists {
  readonly #lists = new Map<string, TransferList>()

  of(name: string): TransferList {
    const list = this.#lists.get(name) ?? new TransferList()
    this.#lists.set(name, list)
    return list
  }

  get isBusy(): boolean {
    return [...this.#lists.values()].some(({ isBusy }) => isBusy)
  }

  /** Resolves when all has ended. */
  async leave(): Promise<void> {
    await Promise.all([...this.#lists.values()].map((list) => list.leave()))
  }
}
