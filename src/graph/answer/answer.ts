// An answer on its way: found, prompted, generated and cited while somebody reads it, once for all who do.

import { shown } from '../../door/wording.js'
import type {
  Answer,
  AnswerQuery,
  AnswerSource,
  AnswerStream,
  Generate,
  Prompt,
  RetrieveQuery,
  Subgraph,
} from '../types.js'
import { citationsIn, wholeCitations } from './citations.js'
import { passageCitations, passageTexts } from './passages.js'
import { promptOf } from './prompt.js'
import { checkAnswer } from './query.js'

interface Prepared {
  readonly prompt: Prompt
  /** Undefined where the passages are the answer. */
  readonly generate: Generate | undefined
  /** Aborts when the asker gives up, or nobody reads any more. */
  readonly signal: AbortSignal
}

/**
 * Nothing is done before somebody reads, or waits for the whole. Pieces are kept, so that each reader has
 * all of them, and another one is asked for when a reader has none left, or somebody waits.
 */
export class StreamedAnswer implements AnswerStream {
  readonly [Symbol.toStringTag] = 'AnswerStream'
  readonly #query: AnswerQuery
  readonly #retrieve: (query: RetrieveQuery) => Promise<Subgraph>
  readonly #left = new AbortController()
  #prepared: Promise<Prepared> | undefined
  #texts: AsyncIterator<string, unknown> | undefined
  readonly #pieces: string[] = []
  #readers = 0
  #pulling: Promise<void> | undefined
  /** Why there are no more pieces. */
  #end: { readonly error?: unknown } | undefined
  #whole: Promise<Answer> | undefined

  constructor(query: AnswerQuery, retrieve: (query: RetrieveQuery) => Promise<Subgraph>) {
    this.#query = query
    this.#retrieve = retrieve
  }

  async sources(): Promise<readonly AnswerSource[]> {
    const { prompt } = await this.#prepare()
    return prompt.sources
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    let state: 'new' | 'open' | 'closed' = 'new'
    let at = 0
    const done = { done: true, value: undefined } as const
    const next = async (): Promise<IteratorResult<string, undefined>> => {
      if (state === 'new') this.#readers++
      if (state === 'new') state = 'open'
      while (state === 'open' && at === this.#pieces.length && this.#end === undefined) {
        await this.#pull()
      }
      if (state === 'closed') return done
      if (at < this.#pieces.length) return { done: false, value: this.#pieces[at++] as string }
      state = 'closed'
      this.#readers--
      if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error
      return done
    }
    // Not a generator: its return() would wait for the next piece, which may never come.
    const leave = async () => {
      const wasOpen = state === 'open'
      state = 'closed'
      if (wasOpen && --this.#readers === 0 && this.#whole === undefined) await this.#abandon()
      return done
    }
    return { next, return: leave }
  }

  then<Result = Answer, Failure = never>(
    onAnswer?: ((answer: Answer) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return (this.#whole ??= this.#readWhole()).then(onAnswer, onError)
  }

  catch<Failure = never>(
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Answer | Failure> {
    return this.then(undefined, onError)
  }

  finally(onEnd?: (() => void) | null): Promise<Answer> {
    return this.then().finally(onEnd)
  }

  async #readWhole(): Promise<Answer> {
    while (this.#end === undefined) await this.#pull()
    if ('error' in this.#end) throw this.#end.error
    const { prompt, generate } = await this.#prepare()
    const { sources, triples, labels } = prompt
    const text = this.#pieces.join('')
    const cited =
      generate === undefined
        ? { citations: passageCitations(sources), unknown: [] }
        : citationsIn(text, sources)
    return { text, ...cited, sources, triples, labels }
  }

  #prepare(): Promise<Prepared> {
    return (this.#prepared ??= this.#preparation())
  }

  async #preparation(): Promise<Prepared> {
    const { text, retrieval, generate, maxPromptLength, signal: asked } = checkAnswer(this.#query)
    const left = this.#left.signal
    const signal = asked === undefined ? left : AbortSignal.any([left, asked])
    const found = await this.#retrieve({ ...retrieval, signal })
    return { prompt: promptOf(text, found, maxPromptLength), generate, signal }
  }

  /** One more piece, or the end: never rejects. */
  #pull(): Promise<void> {
    const pulled = (this.#pulling ??= this.#advance().finally(() => (this.#pulling = undefined)))
    return pulled
  }

  async #advance(): Promise<void> {
    try {
      const prepared = await unlessAborted(this.#prepare(), this.#left.signal)
      this.#texts ??= textsOf(prepared)[Symbol.asyncIterator]()
      const { done, value } = await unlessAborted(this.#texts.next(), prepared.signal)
      if (done === true) this.#end = {}
      else this.#pieces.push(value)
    } catch (error) {
      this.#end = { error }
      // It may be in the middle of something that never ends.
      this.#texts?.return?.().catch(() => {})
    }
  }

  async #abandon(): Promise<void> {
    if (this.#end !== undefined) return
    const error = new DOMException('the answer was left before its end', 'AbortError')
    this.#left.abort(error)
    if (this.#pulling !== undefined) return this.#pulling
    this.#end = { error }
    await this.#texts?.return?.().catch(() => {})
  }
}

function textsOf({ prompt, generate, signal }: Prepared): AsyncIterable<string> {
  if (generate === undefined) return each(passageTexts(prompt.sources))
  // Nothing was found: a model could only make something up.
  if (prompt.sources.length === 0 && prompt.triples.length === 0) return each([])
  return wholeCitations(generated(generate, prompt, signal))
}

async function* generated(
  generate: Generate,
  prompt: Prompt,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const made: unknown = await generate(prompt, { signal })
  if (typeof made === 'string') {
    yield made
    return
  }
  if (typeof made !== 'object' || made === null || !(Symbol.asyncIterator in made)) {
    throw new TypeError(
      `generate must give a string or an async iterable of strings, not ${shown(made)}`,
    )
  }
  for await (const text of made as AsyncIterable<unknown>) {
    if (typeof text !== 'string') {
      throw new TypeError(`generate must give strings, and one of its pieces is ${shown(text)}`)
    }
    yield text
  }
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* values
}

/** Rejects with the signal's reason, whatever becomes of the work. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const settled = () => signal.removeEventListener('abort', abort)
    work.then(resolve, reject).then(settled, settled)
  })
}
