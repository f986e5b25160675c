// One class, many codes. docs/errors.md lists every code; test/errors.test.ts keeps them equal.

export type ErrorKind =
  | 'argument'
  | 'authentication'
  | 'access'
  | 'not-found'
  | 'format'
  | 'type'
  | 'conflict'
  | 'limit'
  | 'timeout'
  | 'storage'
  | 'unavailable'
  | 'closed'
  | 'internal'

interface CatalogueEntry {
  readonly kind: ErrorKind
  readonly message: string
}

const define = <Code extends string>(entries: Readonly<Record<Code, CatalogueEntry>>) => entries

/** Every code with its kind and the sentence its message starts with. Codes are stable. */
export const catalogue = define({
  // knowledge cores
  LK_CORE_REF: { kind: 'argument', message: 'not the name of a core' },
  LK_CORE_NOT_FOUND: { kind: 'not-found', message: 'no such core' },
  LK_CORE_FORMAT: { kind: 'format', message: 'not a valid core stream' },
  LK_CORE_TYPE: { kind: 'type', message: 'unknown message type in a core stream' },
  LK_CORE_TOO_LARGE: { kind: 'limit', message: 'the core stream is too large' },
  LK_CORE_MESSAGE: { kind: 'argument', message: 'not a core message' },

  // asking cores
  LK_GRAPH_QUERY: { kind: 'argument', message: 'not a valid question' },
  LK_RDF_FORMAT: { kind: 'format', message: 'not valid RDF' },
  LK_RDF_LOSS: { kind: 'argument', message: 'the RDF has more than texts' },
  LK_PEER_MISSING: { kind: 'unavailable', message: 'a package is not installed' },

  // archives of workspaces
  LK_WORKSPACE_FORMAT: { kind: 'format', message: 'not a workspace that can be read' },
  LK_WORKSPACE_DAMAGED: { kind: 'format', message: 'the archive of the workspace is damaged' },
  LK_WORKSPACE_TOO_LARGE: { kind: 'limit', message: 'the archive of the workspace is too large' },

  // objects
  LK_SCHEMA_INVALID: { kind: 'argument', message: 'not a valid schema' },
  LK_SCHEMA_NOT_FOUND: { kind: 'not-found', message: 'no such schema' },
  LK_SCHEMA_VIOLATED: { kind: 'conflict', message: 'objects do not conform to the new schema' },
  LK_SCHEMA_IN_USE: { kind: 'conflict', message: 'the schema is in use' },
  LK_COLLECTION_NOT_FOUND: { kind: 'not-found', message: 'no such collection' },
  LK_OBJECT_REQUEST: { kind: 'argument', message: 'not a valid request for objects' },
  LK_OBJECT_INVALID: { kind: 'format', message: 'objects do not conform to their schema' },
  LK_OBJECT_DUPLICATE: { kind: 'conflict', message: 'the collection has such an object' },
  LK_OBJECT_ACCESS: { kind: 'access', message: 'no access to the object' },
  LK_OBJECT_NOT_FOUND: { kind: 'not-found', message: 'no such object' },
  LK_OBJECT_TOO_LARGE: { kind: 'limit', message: 'the batch is too large' },
  LK_QUERY: { kind: 'argument', message: 'not a valid query' },
  LK_QUERY_BUDGET: { kind: 'limit', message: 'the query takes too much' },

  // flows
  LK_FLOW_INVALID: { kind: 'argument', message: 'not a valid flow' },
  LK_FLOW_NOT_FOUND: { kind: 'not-found', message: 'no such flow' },
  LK_FLOW_INACTIVE: { kind: 'conflict', message: 'the flow is not active' },
  LK_FLOW_IN_USE: { kind: 'conflict', message: 'the flow is in use' },
  LK_FLOW_FULL: { kind: 'unavailable', message: 'the queue of the flow is full' },
  LK_DOCUMENT_INVALID: { kind: 'format', message: 'not a valid document' },
  LK_DOCUMENT_TOO_LARGE: { kind: 'limit', message: 'the document is too large' },
  LK_DOCUMENT_TYPE: { kind: 'type', message: 'files of this type are not read' },
  LK_DOCUMENT_UNREADABLE: { kind: 'format', message: 'the file cannot be read' },
  LK_DOCUMENT_ACCESS: { kind: 'access', message: 'no access to the document' },
  LK_DOCUMENT_NOT_FOUND: { kind: 'not-found', message: 'no such document' },
  LK_JOB_NOT_FOUND: { kind: 'not-found', message: 'no such job' },
  LK_JOB_STATE: { kind: 'conflict', message: 'the state of the job does not allow it' },
  LK_LEASE_LOST: { kind: 'conflict', message: 'the job is no longer held by this lease' },
  LK_STEP_INPUT: { kind: 'argument', message: 'a step got what it cannot work on' },
  LK_STEP_OUTPUT: { kind: 'format', message: 'the output of a step is not usable' },
  LK_STEP_TIMEOUT: { kind: 'timeout', message: 'a step took too long' },
  LK_STEP_UNRECOVERABLE: { kind: 'internal', message: 'a step gave up' },
  LK_MODEL_UNAVAILABLE: { kind: 'unavailable', message: 'the model does not answer' },
  LK_MODEL_REFUSED: { kind: 'argument', message: 'the model refused the request' },
  LK_MODEL_ANSWER: { kind: 'format', message: 'the answer of the model is not usable' },

  // storage
  LK_STORAGE_FAILED: { kind: 'storage', message: 'the storage failed' },
  LK_STORAGE_CORRUPT: { kind: 'storage', message: 'stored data is damaged' },
  LK_STORAGE_UNAVAILABLE: { kind: 'unavailable', message: 'the storage is unavailable' },
  LK_STORAGE_CONFLICT: { kind: 'conflict', message: 'the data changed meanwhile' },
  LK_STORAGE_FORMAT: { kind: 'storage', message: 'the data is of another format version' },
  LK_STORAGE_LOCKED: { kind: 'unavailable', message: 'the data is in use' },
  LK_BACKUP_FORMAT: { kind: 'format', message: 'not a backup that can be read' },
  LK_BACKUP_DAMAGED: { kind: 'format', message: 'the backup is damaged' },
  LK_BACKUP_NOT_EMPTY: { kind: 'conflict', message: 'a backup is restored into an empty backend' },
  LK_BACKUP_UNFINISHED: {
    kind: 'storage',
    message: 'a restore, or a salvage, did not come to its end',
  },
  LK_CLOSED: { kind: 'closed', message: 'the store is closed' },
  LK_PRECONDITION: { kind: 'conflict', message: 'a condition of the change does not hold' },
  LK_CURSOR: { kind: 'argument', message: 'not a cursor of this list' },

  // HTTP
  LK_HTTP_REQUEST: { kind: 'argument', message: 'bad request' },
  LK_HTTP_UNAUTHORIZED: { kind: 'authentication', message: 'authentication required' },
  LK_HTTP_FORBIDDEN: { kind: 'access', message: 'access denied' },
  LK_HTTP_JSON: { kind: 'format', message: 'the body is not valid JSON' },
  LK_HTTP_TOO_LARGE: { kind: 'limit', message: 'the body is too large' },
  LK_HTTP_NOT_FOUND: { kind: 'not-found', message: 'no such resource' },
  LK_HTTP_METHOD: { kind: 'argument', message: 'method not allowed' },
  LK_HTTP_NOT_ACCEPTABLE: { kind: 'argument', message: 'nothing of what is accepted' },
  LK_HTTP_ENCODING: { kind: 'argument', message: 'unsupported content encoding' },
  LK_HTTP_BODY_CONSUMED: { kind: 'internal', message: 'the request body was already read' },
  LK_HTTP_TIMEOUT: { kind: 'timeout', message: 'the client was too slow' },
  LK_HTTP_RANGE: { kind: 'argument', message: 'nothing lies in the range' },
  LK_HTTP_CONDITION: { kind: 'argument', message: 'a change without a condition' },
  LK_HTTP_RATE: { kind: 'unavailable', message: 'too much of one user at once' },
  LK_HTTP_BUSY: { kind: 'unavailable', message: 'too many requests at once' },
  LK_INTERNAL: { kind: 'internal', message: 'internal error' },

  // assistants
  LK_TOOL_ARGUMENTS: { kind: 'argument', message: 'not what the tool takes' },

  // command line
  LK_CONFIG: { kind: 'argument', message: 'bad configuration' },
})

export type ErrorCode = keyof typeof catalogue

export interface ErrorOptions {
  readonly cause?: unknown
  /** Facts for programs: offsets, indexes, what was found. Becomes `error.details`. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * Every error that is not the caller's programming mistake (those are plain `TypeError`s).
 * Catch by `code`; messages may improve between versions.
 */
export class LorekeepError extends Error {
  readonly code: ErrorCode
  readonly kind: ErrorKind
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, detail?: string, options: ErrorOptions = {}) {
    if (!Object.hasOwn(catalogue, code)) {
      throw new TypeError(
        `a LorekeepError has a code of docs/errors.md, not '${cut(String(code))}'`,
      )
    }
    const { kind, message } = catalogue[code]
    super(detail === undefined ? message : `${message}: ${cut(detail)}`, options)
    this.name = 'LorekeepError'
    this.code = code
    this.kind = kind
    this.details = withShortTexts(options.details ?? {})
  }
}

/**
 * The longest text that an error repeats, in UTF-16 code units. What clients send ends up in messages
 * and details, and from there in answers and logs: a key may be megabytes.
 */
const longestText = 8192

function cut(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
}

function withShortTexts(details: Readonly<Record<string, unknown>>): typeof details {
  const texts = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === 'string' ? cut(value) : value,
  ])
  return Object.fromEntries(texts) as typeof details
}

/** True for an error of ours with that code, whose details have a type then. */
export function hasCode<Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is CodedError<Code> {
  return error instanceof LorekeepError && error.code === code
}

/** One of ours again, of what came of it from another thread, where it has no class; undefined of any other. */
export function errorAcross({
  code,
  message,
  details,
}: {
  readonly code?: unknown
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>> | undefined
}): LorekeepError | undefined {
  if (typeof code !== 'string' || !Object.hasOwn(catalogue, code)) return undefined
  const { message: title } = catalogue[code as ErrorCode]
  const detail = message.startsWith(`${title}: `) ? message.slice(title.length + 2) : undefined
  return new LorekeepError(code as ErrorCode, detail, details && { details })
}

export type CodedError<Code extends ErrorCode> = LorekeepError & {
  readonly code: Code
  readonly details: Code extends keyof DetailsByCode ? DetailsByCode[Code] : object
}

/** One thing that is wrong. */
export interface Problem {
  /** Where: `values[2].price`, `["odd key"].x`; '' is the whole. */
  readonly path: string
  /** A predicate: "must be a string, not 7". */
  readonly message: string
}

/** Up to 100 of what is wrong, and how many more there are. */
interface Problems<Entry = Problem> {
  readonly errors: readonly Entry[]
  readonly errorsOmitted?: number
}

interface StreamFlaw {
  /** One, its path within the message's data, such as `t[5].s.v`: what follows it makes no sense. */
  readonly errors: readonly Problem[]
  /** Both from 0, in the stream as it was sent. */
  readonly messageIndex: number
  readonly byteOffset: number
  /** Another format that the data seems to be of. */
  readonly looksLike?: string
}

interface WorkspacePlace {
  /** The name of a member of the archive. */
  readonly member?: string
  /** In the archive, unpacked. */
  readonly byteOffset?: number
}

/** What `details` have, by code (docs/errors.md). */
export interface DetailsByCode {
  readonly LK_CORE_REF: Problems
  readonly LK_CORE_FORMAT: StreamFlaw
  readonly LK_CORE_TYPE: StreamFlaw
  readonly LK_CORE_TOO_LARGE: { readonly maxCoreBytes: number }
  readonly LK_CORE_MESSAGE: Pick<StreamFlaw, 'errors' | 'messageIndex'>
  readonly LK_GRAPH_QUERY: Partial<Problems> & { readonly line?: number }
  readonly LK_RDF_FORMAT: { readonly format: string; readonly line?: number }
  readonly LK_RDF_LOSS: Readonly<
    Record<'statements' | 'datatypes' | 'languages' | 'directions' | 'graphs', number>
  >
  readonly LK_PEER_MISSING: { readonly package: string }
  readonly LK_WORKSPACE_FORMAT: Partial<Problems> & WorkspacePlace & { readonly version?: number }
  readonly LK_WORKSPACE_DAMAGED: WorkspacePlace
  readonly LK_WORKSPACE_TOO_LARGE: WorkspacePlace &
    Readonly<
      Partial<
        Record<
          | 'maxUnpackedBytes'
          | 'maxRatio'
          | 'maxMembers'
          | 'maxJsonBytes'
          | 'maxHeldBytes'
          | 'maxExtendedBytes',
          number
        >
      >
    >
  readonly LK_SCHEMA_INVALID: Problems
  readonly LK_SCHEMA_NOT_FOUND: { readonly schema_name: string }
  readonly LK_SCHEMA_VIOLATED: Problems<
    Problem & { readonly collection: string; readonly id: string | number }
  >
  readonly LK_SCHEMA_IN_USE: { readonly objects: number }
  readonly LK_OBJECT_REQUEST: Problems
  readonly LK_OBJECT_INVALID: Problems<
    Problem & { readonly index: number; readonly id?: string | number }
  > & { readonly count: number }
  readonly LK_OBJECT_DUPLICATE: {
    readonly ids: readonly (string | number)[]
    readonly count: number
  }
  readonly LK_OBJECT_ACCESS: DetailsByCode['LK_OBJECT_DUPLICATE']
  readonly LK_OBJECT_TOO_LARGE: { readonly count: number; readonly maxBatchObjects: number }
  readonly LK_QUERY: Problems
  readonly LK_FLOW_INVALID: Problems
  readonly LK_FLOW_NOT_FOUND: { readonly flow: string }
  readonly LK_FLOW_INACTIVE: { readonly flow: string }
  readonly LK_FLOW_IN_USE: Readonly<Record<'queued' | 'delayed' | 'active' | 'dead', number>>
  readonly LK_HTTP_RATE:
    | { readonly maxUserRequests: number }
    | { readonly maxUserBytesPerSecond: number; readonly retryAfterSeconds: number }
  readonly LK_FLOW_FULL: { readonly flow: string; readonly maxQueued: number }
  readonly LK_DOCUMENT_INVALID: Problems<Problem & { readonly offset?: number }>
  readonly LK_DOCUMENT_TOO_LARGE: { readonly found: number } & Readonly<
    Partial<
      Record<'maxTextBytes' | 'maxMetadataTriples' | 'maxMetadataLength' | 'maxFileBytes', number>
    >
  >
  readonly LK_DOCUMENT_TYPE: { readonly found: string }
  readonly LK_DOCUMENT_UNREADABLE: { readonly reason: string }
  readonly LK_DOCUMENT_ACCESS: { readonly document: string }
  readonly LK_DOCUMENT_NOT_FOUND: { readonly document: string }
  readonly LK_JOB_NOT_FOUND: { readonly job: string }
  readonly LK_JOB_STATE: { readonly job: string; readonly state: string }
  readonly LK_STEP_INPUT: Problems & { readonly step: string }
  readonly LK_TOOL_ARGUMENTS: Problems
  readonly LK_CONFIG: Partial<Problems>
}

/** Whether the system had no room. LevelDB has its reason in the message, under a code of its own. */
export function isDiskFull(error: unknown, deepest = 8): boolean {
  if (!(error instanceof Error) || deepest === 0) return false
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return true
  if (/no space left on device|disk quota exceeded/i.test(error.message)) return true
  return isDiskFull(error.cause, deepest - 1)
}
