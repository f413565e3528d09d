/** The client of Annal: see README.md. */
export { Annal, type AnswerOf, type Input, type NewDocument } from './client.ts';
export {
  AnnalError,
  ApiError,
  ConnectionError,
  type ErrorType,
  type FieldError,
  OAuthError,
  TimeoutError,
  WebhookError,
} from './errors.ts';
export type {
  EverythingParameters,
  FhirClient,
  JsonPatch,
  NewResource,
  ResourceType,
  SearchParameters,
} from './fhir.ts';
export type * as Api from './generated/api.ts';
export type * as Fhir from './generated/fhir.ts';
export {
  AnnalApp,
  type AppSettings,
  type AuthorizeOptions,
  type Pending,
  type TokenStore,
  type Tokens,
} from './oauth.ts';
export type { Paged } from './paging.ts';
export type { Answer, Credential, RequestOptions, Settings } from './transport.ts';
export type { Progress, UploadOptions } from './upload.ts';
export { type Delivery, verifyWebhook, type WebhookEvent } from './webhooks.ts';
