export { createLorekeep } from './lorekeep.js'
export type { Lorekeep, LorekeepOptions, ToldError } from './lorekeep.js'
export { restore } from './backup/restore.js'
export type {
  Backup,
  BackupOptions,
  BackupProgress,
  BackupSource,
  BackupSummary,
  BackupTarget,
  PartitionCounts,
  RestoreOptions,
  RestoreProgress,
} from './backup/types.js'
export { LorekeepError, catalogue, hasCode } from './errors.js'
export type {
  CodedError,
  DetailsByCode,
  ErrorCode,
  ErrorKind,
  ErrorOptions,
  Problem,
} from './errors.js'
export type { Chance, Clock } from './flow/clock.js'
export type {
  DocumentRef,
  CompletedDocument,
  Completion,
  DocumentQuery,
  DocumentStatus,
  EncodedDocument,
  Flow,
  FlowDefinition,
  FlowDocument,
  FlowLimits,
  FlowQueue,
  FlowStats,
  FlowStep,
  Job,
  JobEvent,
  JobFailure,
  JobQuery,
  JobState,
  NamedStep,
  PlainDocument,
  Runner,
  RunOptions,
  Step,
  StepContext,
  TextDocument,
  WatchQuery,
} from './flow/types.js'
export type {
  AskOptions,
  Bindings,
  EntityPattern,
  FilterValue,
  Graph,
  GraphQuery,
  GraphSnapshot,
  GraphSource,
  IndexOptions,
  IndexProgress,
  IndexState,
  MatchOptions,
  PatternOptions,
  NearEntity,
  NearestOptions,
  Neighbour,
  QuadSource,
  QueryPattern,
  RetrieveQuery,
  SolveOptions,
  Subgraph,
  TriplePattern,
  ValueFilter,
  Variable,
} from './graph/types.js'
export type { KnowledgeLimits } from './knowledge/limits.js'
export type {
  CoreCounts,
  CoreExport,
  CoreRef,
  CoreStat,
  ExportOptions,
  ImportOptions,
  ImportSummary,
  KnowledgeStore,
} from './knowledge/types.js'
export type { ByteSource } from './byte-source.js'
export type { Condition, Filters, Operand, Operators } from './objects/filter-types.js'
export type {
  CollectionStat,
  FieldDefinition,
  FieldType,
  FoundFields,
  ObjectChangeOptions,
  ObjectId,
  ObjectImport,
  ObjectImportOptions,
  ObjectImportResult,
  ObjectLimits,
  ObjectPage,
  ObjectQuery,
  ObjectStore,
  PlanType,
  QueryPlan,
  SchemaDefinition,
  SortDirection,
  StoredObject,
  SystemFields,
  WholeQuery,
} from './objects/types.js'
export type { Scope } from './scope.js'
export type {
  CoreMessage,
  CoreMetadata,
  Embedder,
  EntityEmbedding,
  GraphEmbeddingsData,
  JsonObject,
  JsonValue,
  Term,
  Triple,
  TriplesData,
  Vector,
} from './types.js'
export type {
  Backend,
  Entry,
  Operation,
  PartitionName,
  Precondition,
  Range,
  Storage,
  WriteOptions,
} from './storage.js'

export type { Finding, FindingCode, VerifyOptions, VerifyProgress } from './verify/finding.js'
