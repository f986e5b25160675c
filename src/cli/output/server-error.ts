/** What a server answered with a problem document. Its message is the server's own words. */
export class ServerError extends Error {
  readonly code: string
  /** The members of the document. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, code: string, details: Readonly<Record<string, unknown>>) {
    super(message)
    this.code = code
    this.details = details
  }
}
