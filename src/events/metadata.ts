/** Defines the metadata of every event: who wrote it, when, why, and with which credential. */
import { z } from 'zod';
import { AUTHOR_TYPES } from '../shared/access/author.ts';

/** The business identifier of a person or organization that is in a directory other than that of the record's owner. */
const identifier = z.object({ system: z.string().optional(), value: z.string() });

const tenant = z.object({ project: z.string(), environment: z.enum(['sandbox', 'production']) });

/**
 * The metadata's schema. Its JSON text ends with the chain's `hash`, which isn't in the schema, because the store adds it
 * rather than the writer.
 */
export const metadataSchema = z.object({
  schema_version: z.int().positive().describe("version of the event's type"),
  /** UTC with microseconds; strictly later than the previous event in the stream. */
  recorded_at: z.string(),
  request_id: z.string(),
  /** One id per command. Retries with the same `Idempotency-Key` share the id. */
  command_id: z.string(),
  /** Index of the event in its append, and how many the append has: a reader knows where a whole ends. */
  append: z.tuple([z.int().nonnegative(), z.int().positive()]),
  /** The tenant that owns the record or directory; absent on streams of organizations and projects. */
  owner: tenant.optional(),
  /** The credential that authorized the write. */
  credential: z.object({
    kind: z.enum(['api_key', 'id_token', 'client', 'grant', 'system']),
    /** For ID tokens: the issuer of the identity. */
    issuer: z.string().optional(),
    subject: z.string().optional(),
    project: z.string().optional(),
    environment: z.enum(['sandbox', 'production']).optional(),
    /** The application, for tokens from `client_credentials` and from grants. */
    application: z.string().optional(),
    grant_id: z.string().optional(),
    key_id: z.string().optional(),
  }),
  author: z
    .object({
      type: z.enum(AUTHOR_TYPES),
      /** For an AI: the model that wrote the event, as named by the writer. */
      model: z.string().optional(),
      reference: z.string().optional(),
      /** The author's name or, if no author is named, the acting person's name, as the directory had it at that time. */
      display: z.string().optional(),
      /** Replaces the reference under a grant, because the author is in the directory of the application's project. */
      identifier: identifier.optional(),
    })
    .optional(),
  acting_as: z.string().optional(),
  /** The acting person's name, if someone else is the author, as the directory had it at that time. */
  acting_as_display: z.string().optional(),
  /** Replaces `acting_as` under a grant. */
  acting_as_identifier: identifier.optional(),
  on_behalf_of: z.object({ reference: z.string(), display: z.string().optional() }).optional(),
  /** Replaces `on_behalf_of` under a grant: an organization in the directory of the application's project. */
  organization: z.object({ display: z.string().optional(), identifier: identifier.optional() }).optional(),
  /**
   * The person who accepted the proposal that the events carry out. In that case, `credential` and `author` belong to the
   * application that made the proposal.
   */
  approved_by: z
    .object({
      issuer: z.string(),
      subject: z.string(),
      /** `self`: it is the person's own record. `representative`: the person looks after the patient. */
      role: z.enum(['self', 'representative']),
      proposal_id: z.string(),
    })
    .optional(),
  source_system: z.string().optional(),
  origin_id: z.string().optional(),
  /** The reason why the service wrote the event, if the event itself doesn't contain it. */
  cause: z.string().optional(),
  /** An id shared by all events from one transaction Bundle. */
  transaction_id: z.string().optional(),
});

/**
 * The `cause` of decisions that an operator of the installation made in person. If they were made on the command line, their
 * credential is `system`.
 */
export const BY_OPERATOR = 'operator';

/** Parsed metadata. */
export type EventMetadata = z.infer<typeof metadataSchema>;

/** Parses stored metadata without validating it; the hash chain detects changes. */
export function parseMetadata(text: string): EventMetadata & { hash?: string } {
  return JSON.parse(text) as EventMetadata & { hash?: string };
}
