export { createLorekeep } from './lorekeep.js'
export type { Lorekeep, LorekeepOptions } from './lorekeep.js'
export { LorekeepError, catalogue, hasCode } from './errors.js'
export type { ErrorCode, ErrorKind, ErrorOptions } from './errors.js'
export type { Chance, Clock } from './flow/clock.js'
export type {
  DocumentRef,
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
export type { KnowledgeLimits } from './knowledge/core-import.js'
export type {
  ByteSource,
  CoreCounts,
  CoreExport,
  CoreRef,
  CoreStat,
  ImportOptions,
  ImportSummary,
  KnowledgeStore,
} from './knowledge/types.js'
export type {
  CollectionStat,
  FieldDefinition,
  FieldType,
  Filters,
  JsonObject,
  JsonValue,
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
  Scope,
  SortDirection,
  StoredObject,
} from './objects/types.js'
export type {
  CoreMessage,
  CoreMetadata,
  EntityEmbedding,
  GraphEmbeddingsData,
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
