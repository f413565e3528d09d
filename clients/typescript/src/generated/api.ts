/** Generated from the OpenAPI document by `npm run generate`. */
export type AccessLogEntry = {
  id: string;
  /** ISO 8601, UTC. */
  ts: string;
  /** The interaction, such as `read` or `search-type`. `token_reuse`: a refresh token or code was used a second time. `open-link`, `open-link-file`: a shared link was opened, or its file fetched; `link-file-sent`: the whole file was sent. */
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  status: 'ok' | 'denied' | 'not_found' | 'error';
  /** How many of the patient’s resources the answer showed; null if it was streamed. */
  count: number | null;
  /** The purpose that the grant states, or why a member read a production record. */
  purpose: string | null;
  /** The name of the application, key or member, or the one that the recipient of a shared link gave; under `/me` also of a patient or representative. */
  actor: string | null;
  /** `application/app_…`, `key/key_…`, `link/shl_…`, or `person/` with `self`, `representative` or `member`. */
  actor_ref: string;
  request_id: string;
  /** The receipt for a context, a `$summary`, an answer to an assistant or shared content: `rcpt_…`. */
  receipt: string | null;
};

export type AccessRequest = {
  id: string;
  /** `expired`: nobody answered in time, or a newer request from the application has replaced it. */
  status: 'pending' | 'approved' | 'denied' | 'expired';
  environment: 'sandbox' | 'production';
  application: {
    id: string;
    name: string;
    /** `public` or `confidential`. */
    kind: string;
    /** Its name. */
    organization: string;
    privacy_url: string | null;
  };
  /** The application’s text, which the person compares with the text that the application shows. Show it as plain text. */
  binding_message: string | null;
  /** The record that the application named, or that you approved. Null: choose one. */
  patient_id: string | null;
  /** The requested scopes in SMART v2 form; after an approval, the granted scopes. */
  scopes: string[];
  /** The same scopes in words. */
  scopes_text: string[];
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** ISO 8601, UTC. */
  decided_at: string | null;
  /** The grant that an approval gave. */
  grant_id: string | null;
};

export type Application = {
  id: string;
  project_id: string;
  client_id: string;
  name: string;
  environment: 'sandbox' | 'production';
  kind: 'public' | 'confidential';
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  scopes: string[];
  grant_types: string[];
  privacy_url: string | null;
  jwks: {
    keys: {
      kty: string;
      [name: string]: unknown;
    }[];
  } | null;
  jwks_uri: string | null;
  /** null: the application has its own sector. */
  sector: string | null;
  /** After a rotation: the time until which the previous client secret works; null if only the current one works. */
  previous_secret_expires_at: string | null;
  /** Branding that the consent page shows beside the name. */
  branding: {
    logo_uri: string | null;
    client_uri: string | null;
    tos_uri: string | null;
    color: string | null;
    /** The uploaded logo, served by this service. */
    logo: {
      url: string;
      content_type: string;
      /** In bytes. */
      size: number;
    } | null;
  };
  /** Whether the operator lets it use the first-party identity grant. */
  trusted: boolean;
  /** ISO 8601, UTC. */
  created_at: string;
};

export type AuditedAccess = {
  id: string;
  /** ISO 8601, UTC. */
  ts: string;
  /** The interaction, such as `read` or `search-type`. `token_reuse`: a refresh token or code was used a second time. `open-link`, `open-link-file`: a shared link was opened, or its file fetched; `link-file-sent`: the whole file was sent. */
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  status: 'ok' | 'denied' | 'not_found' | 'error';
  /** How many of the patient’s resources the answer showed; null if it was streamed. */
  count: number | null;
  /** The purpose that the grant states, or why a member read a production record. */
  purpose: string | null;
  /** The name of the application, key or member, or the one that the recipient of a shared link gave; under `/me` also of a patient or representative. */
  actor: string | null;
  /** `application/app_…`, `key/key_…`, `link/shl_…`, or `person/` with `self`, `representative` or `member`. */
  actor_ref: string;
  request_id: string;
  /** The receipt for a context, a `$summary`, an answer to an assistant or shared content: `rcpt_…`. */
  receipt: string | null;
  patient: string;
  /** The name that the record has now; null without `names=true`, or if the record has no name. */
  patient_name: string | null;
  /** The entry’s number in the patient’s log, from 1 without gaps. */
  entry: number;
  /** Hash over this entry and the previous entry’s hash: docs/access-log.md. */
  hash: string;
  /** The name of a member; patients and representatives aren’t named. */
  person: {
    issuer: string;
    subject: string;
  } | null;
  /** Name of the organization to which the application, key or member belongs; null for other readers. */
  organization: string | null;
  /** Group of the type that was read, as on the consent page: `results`, `medications`, …; null if the read was not about one group. */
  category: string | null;
  /** Where the one resource that was read came from; null if it was not one, or it does not say. */
  source_system: string | null;
  grant: string | null;
};

export type Checkpoint = {
  id: string;
  /** When it was signed. */
  time: string;
  /** Position in the event store; the checkpoint covers all events up to it. */
  position: string | null;
  /** Null for a project’s auditors, like the other numbers. */
  events: number | null;
  streams: number | null;
  /** Number of patients whose access log it covers. */
  access_logs: number | null;
  /** Merkle root: 64 hex digits, enough to recognise the file later. */
  root: string;
  public_key: string;
  /** Size of the compressed file in bytes. */
  bytes: number | null;
};

export type CheckpointJob = {
  id: string;
  /** `waiting`: an instance takes the job within seconds, even after a restart. */
  status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  progress: {
    done: number;
    /** An estimate, which may grow. */
    total: number;
    unit: string;
    /** What the job is doing; null while it counts. */
    note: string | null;
  } | null;
  /** Why the job failed, or why it is waiting. */
  error: string | null;
  /** Someone has cancelled the job, but it hasn’t stopped yet. */
  cancelling: boolean;
  started_by: {
    issuer: string;
    subject: string;
    email: string | null;
  };
  /** Id of the instance that runs the job, or ran it last. */
  instance: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  started_at: string | null;
  /** ISO 8601, UTC. */
  finished_at: string | null;
  /** The checkpoint’s id, once it is made. */
  checkpoint: string | null;
};

export type Code = {
  /** URI of the code system. */
  system: string;
  code: string;
  display: string | null;
  /** The category of an observation with this code. */
  category: string | null;
  /** The usual unit of the measurement, in UCUM. */
  unit: string | null;
};

export type Comparison = {
  code: string;
  unit: string | null;
  a: {
    from: string;
    to: string;
    count: number;
    median: number | null;
    min: number | null;
    max: number | null;
  };
  b: {
    from: string;
    to: string;
    count: number;
    median: number | null;
    min: number | null;
    max: number | null;
  };
  difference: {
    /** How much larger the values of b are (Hodges–Lehmann). */
    absolute: number;
    /** The difference in percent of the median of `a`. */
    percent: number | null;
    p_value: number;
    /** Ends of the 95 % interval of `absolute`. */
    low: number;
    high: number;
  } | null;
  sufficient: boolean;
  /** Why no difference is stated. */
  reason: string | null;
  method: string;
  /** Values that were left out, and values that are known only roughly. */
  warnings: {
    kind: 'left_out' | 'unit' | 'bound' | 'same_time' | 'preliminary';
    text: string;
    count: number;
  }[];
};

export type Concept = {
  concept_id: string;
  type: 'symptom' | 'condition' | 'treatment';
  display: string;
  synonyms: string[];
  codes: {
    /** URI of the code system. */
    system: string;
    code: string;
  }[];
};

export type Condition = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  clinical_status: string | null;
  onset: string | null;
  abatement: string | null;
  note: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
};

export type Context = {
  /** Id of the manifest, from which the same context can be made again. */
  manifest_id: string;
  patient: string;
  budget_tokens: number;
  /** Number of tokens in the text that `format: text` returns; structured answers have the same content. */
  tokens_used: number;
  tokenizer: string;
  needs: string[];
  sections: {
    kind: 'patient' | 'allergies' | 'medications' | 'problems' | 'vitals' | 'labs' | 'observations' | 'social_history' | 'procedures' | 'encounters' | 'plans' | 'immunizations' | 'documents' | 'ai_notes';
    /** Number of tokens in this section’s part of the text. */
    tokens: number;
    /** The most needed first. */
    items: {
      /** One line. */
      text: string;
      /** When it happened or began, as written in the record. */
      date: string | null;
      /** The kind of author who wrote this version. */
      author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
      /** The source system. */
      source: string | null;
      /** `<Type>/<id>/_history/<version>` */
      fhir: string;
      /** Only in `ai_notes`. */
      verified?: false;
      /** In `ai_notes`: the text that another author had written before an AI changed it. */
      before?: string[];
      [name: string]: unknown;
    }[];
    text?: string;
    note?: string;
    /** Every version that the context was made from. */
    sources: string[];
  }[];
  omitted: {
    kind: 'patient' | 'allergies' | 'medications' | 'problems' | 'vitals' | 'labs' | 'observations' | 'social_history' | 'procedures' | 'encounters' | 'plans' | 'immunizations' | 'documents' | 'ai_notes';
    count: number;
    reason: 'budget' | 'window' | 'past';
  }[];
  warnings: {
    kind: 'contradiction' | 'gap' | 'left_out' | 'not_found';
    text: string;
    fhir: string[];
    count?: number;
  }[];
  provenance_note: string;
  /** With `format: text`. */
  text?: string;
};

export type CreatedDocument = {
  id: string;
  /** The id of the patient. */
  patient: string;
  title: string | null;
  kind: 'lab_report' | 'discharge_summary' | 'prescription' | 'imaging_report' | 'referral' | 'other';
  content_type: string | null;
  date: string | null;
  description: string | null;
  /** `pending` until it has content. */
  status: 'pending' | 'final';
  /** Bytes. */
  size: number | null;
  /** SHA-256 of the content, in hex. */
  sha256: string | null;
  /** Where the content is fetched from the store itself, for 15 minutes; null in lists, and where only the service gives it. */
  download_url: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** Where the content may go, once, without a credential; it is finalized then. Under a grant it takes the access token, and finalizes the document. */
  upload: {
    url: string;
    method: 'PUT';
    /** Headers that the upload must have. */
    headers: Record<string, string>;
    expires_in_seconds: number;
  };
  /** Implausible values. They are stored as they were sent. */
  warnings: Warning[];
};

export type DescribedConcept = {
  concept_id: string;
  type: 'symptom' | 'condition' | 'treatment';
  display: string;
  synonyms: string[];
  codes: {
    /** URI of the code system. */
    system: string;
    code: string;
  }[];
  related: RelatedConcept[];
};

export type Document = {
  id: string;
  /** The id of the patient. */
  patient: string;
  title: string | null;
  kind: 'lab_report' | 'discharge_summary' | 'prescription' | 'imaging_report' | 'referral' | 'other';
  content_type: string | null;
  date: string | null;
  description: string | null;
  /** `pending` until it has content. */
  status: 'pending' | 'final';
  /** Bytes. */
  size: number | null;
  /** SHA-256 of the content, in hex. */
  sha256: string | null;
  /** Where the content is fetched from the store itself, for 15 minutes; null in lists, and where only the service gives it. */
  download_url: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
};

export type Error = {
  error: {
    type: 'malformed' | 'unauthenticated' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'not_acceptable' | 'conflict' | 'precondition_failed' | 'too_large' | 'unsupported_media_type' | 'invalid' | 'throttled' | 'internal' | 'unavailable';
    /** A sentence for developers that says what is wrong. */
    message: string;
    /** The first invalid input: a dotted path into the body, or `query.`, `header.` or `path.` followed by its name. */
    field?: string;
    /** Every invalid input. */
    errors?: {
      field: string;
      code: string;
      message: string;
    }[];
    /** The answer’s `Service-Request-Id`. */
    request_id: string;
    /** Where it is explained. */
    doc_url?: string;
  };
};

export type FailedRequests = {
  /** ISO 8601, UTC. */
  from: string;
  /** ISO 8601, UTC. */
  to: string;
  /** Hours without failed requests are left out. */
  hours: {
    /** ISO 8601, UTC. */
    hour: string;
    /** 5xx */
    failed: number;
    /** 429 */
    throttled: number;
  }[];
  data: {
    project: {
      id: string;
      /** Null if it was deleted. */
      name: string | null;
      organization: string | null;
    };
    /** Null for a request about the project as a whole. */
    environment: 'sandbox' | 'production' | null;
    method: string;
    /** The path with `{id}` in place of ids. */
    route: string;
    status: number;
    /** The error’s `type`; in a group, the type of the newest error. */
    error: string | null;
    requests: number;
    /** ISO 8601, UTC. */
    first_at: string;
    /** ISO 8601, UTC. */
    last_at: string;
    /** Id of the newest request. */
    request_id: string;
  }[];
};

export type Finding = {
  /** Findings with the same evidence have the same id. */
  finding_id: string;
  kind: 'trend' | 'out_of_range' | 'change_point' | 'correlation' | 'gap';
  /** The observation. */
  title: string;
  /** For a correlation with a medication: the medication’s code, then the code of the values. */
  codes: {
    system: string;
    code: string;
    display: string | null;
  }[];
  window: {
    from: string;
    to: string;
  };
  direction: 'up' | 'down' | 'above' | 'below' | 'together' | 'opposite' | null;
  /** Its size. */
  effect: {
    value: number;
    unit: string | null;
    /** Ends of the 95 % interval, if the method has one. */
    low: number | null;
    high: number | null;
    /** For a trend: the slope. */
    per_day?: number;
    /** For a change: its first value. For a medication: its start. */
    since?: string;
    /** By how many days the second series follows the first. */
    lag_days?: number;
  };
  /** 1 − p of the finding’s own test: how rarely chance alone would show as much. */
  confidence: number;
  method: string;
  /** The last change of the record that the finding includes. */
  computed_at: string;
};

export type FindingEvidence = {
  fhir: string;
  version: number;
  at: string;
  value: number | null;
  /** The value is only known to be below or above this. */
  comparator: '<' | '<=' | '>=' | '>' | null;
  unit: string | null;
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  role: 'supports' | 'contradicts';
};

export type FoundRequest = {
  request_id: string;
  project: {
    id: string;
    /** Null if it was deleted. */
    name: string | null;
    organization: string | null;
  };
  /** Null for a request about the project as a whole. */
  environment: 'sandbox' | 'production' | null;
  method: string;
  /** The path with `{id}` in place of ids. */
  route: string;
  status: number;
  /** The error’s `type`; in a group, the type of the newest error. */
  error: string | null;
  ms: number;
  /** ISO 8601, UTC. */
  ts: string;
};

export type Grant = {
  id: string;
  status: 'active' | 'revoked' | 'expired';
  purpose: string | null;
  application: {
    id: string;
    name: string;
    /** `public` or `confidential`. */
    kind: string;
    /** Its name. */
    organization: string;
    privacy_url: string | null;
  };
  /** As granted, in SMART v2 form. */
  scopes: string[];
  /** The sentences that the person read and allowed. */
  scopes_text: string[];
  /** ISO 8601, UTC. */
  granted_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** ISO 8601, UTC. */
  revoked_at: string | null;
  /** `representative`: someone who looks after the patient. `creator`: the identity grant. */
  granted_by: 'patient' | 'representative' | 'creator';
};

export type Instance = {
  id: string;
  version: string;
  host: string;
  /** Id of the process that receives signals, if the instance consists of several processes. */
  pid: number;
  /** ISO 8601, UTC. */
  started_at: string;
  /** At most ten seconds old. */
  last_seen_at: string;
  /** False if the instance wasn’t seen for 30 seconds. An instance that shuts down cleanly isn’t listed. */
  alive: boolean;
  /** True for the instance that answers this request. */
  answers: boolean;
  /** The processes and read models that it runs for all instances. */
  runs: string[];
};

export type Invitation = {
  id: string;
  relationship: 'self' | 'dependent';
  /** The address that the person must have; null for any address. */
  email: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** `closed`: after five wrong birth dates. */
  status: 'pending' | 'redeemed' | 'withdrawn' | 'expired' | 'closed';
};

export type Issuer = {
  issuer: string;
  /** null: only an organization trusts it. */
  audiences: string[] | null;
  keys: {
    kid: string | null;
    alg: string | null;
    kty: string;
  }[];
  /** ISO 8601, UTC. */
  fetched_at: string | null;
  /** When the last fetch failed; null if it succeeded. */
  failed_at: string | null;
  failure: string | null;
};

export type Key = {
  id: string;
  project_id: string;
  name: string;
  environment: 'sandbox' | 'production';
  scopes: ('read' | 'write')[];
  /** The last four characters of the key. */
  last4: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** Updated at most once a minute. */
  last_used_at: string | null;
  /** When the key expires; null: never. */
  expires_at: string | null;
  /** ISO 8601, UTC. */
  revoked_at: string | null;
};

export type LabItemsInput = {
  items: {
    code?: string | null;
    /** The display; without `code`, also used as the code. */
    marker?: string | null;
    /** The display; without `code`, also used as the code. */
    test?: string | null;
    /** The display; without `code`, also used as the code. */
    analyte?: string | null;
    system?: string | null;
    display?: string | null;
    /** Default: `laboratory`. */
    category?: 'vital-signs' | 'laboratory' | 'symptom' | 'activity' | 'survey' | 'exam' | 'imaging' | 'social-history' | null;
    /** Default: the report’s `date`. */
    effective_at?: string | null | string;
    value?: number | null;
    /** A number, or text such as `5,6` or `< 5`. */
    result?: number | null | string;
    /** As written by the laboratory; converted to UCUM if the meaning is certain. */
    unit?: string | null;
    /** With a unit also `< 5`. */
    value_text?: string | null;
    value_code?: {
      code: string;
      system?: string | null;
      display?: string | null;
    } | null;
    value_boolean?: boolean | null;
    /** The ends of the range, or text such as `3,9 - 5,5`. */
    reference_range?: {
      low?: number | null;
      high?: number | null;
    } | null | string;
    /** End of the reference range. */
    low?: number | null;
    /** End of the reference range. */
    high?: number | null;
    note?: string | null;
  }[];
  /** The date of items that have no `effective_at`. */
  date?: string | null | string;
  /** The id of the report in the source system. */
  origin?: string | null;
};

export type LabMessageInput = {
  /** HL7 v2, ORU^R01. */
  message: string;
  /** Name of the system the data comes from. */
  source_system?: string | null;
};

export type Link = {
  id: string;
  /** `self`: the record is the person’s own. `dependent`: they look after the patient. */
  relationship: 'self' | 'dependent';
  /** How the link came to be. */
  via: 'invitation' | 'own' | 'identity_grant';
  /** ISO 8601, UTC. */
  since: string;
};

export type LogEvent = {
  id: string;
  /** ISO 8601, UTC. */
  recorded_at: string;
  /** The event’s type: docs/events.md. */
  type: string;
  /** Null for an event of the project itself. */
  environment: 'sandbox' | 'production' | null;
  /** What the event is about. For a version: the resource’s name, and for a deletion, its last name. For an event of the project: the key, application or webhook endpoint. Null for other events, and in production without `X-Service-Reason`. */
  title: string | null;
  /** The patient whose record it is in; null in the directory. */
  patient: string | null;
  /** Null if the Patient is deleted or has no name, and in production without `X-Service-Reason`. */
  patient_name: string | null;
  /** `Type/id`; null for an event that is not a version. */
  resource: string | null;
  version: number | null;
  /** The author that the client named; null if the event names no author. */
  author: {
    reference: string | null;
    display: string | null;
    /** `patient`, `practitioner`, `device`, `import`, `ai`. */
    type: string | null;
  } | null;
  acting_as: {
    reference: string | null;
    display: string | null;
  } | null;
  on_behalf_of: {
    reference: string | null;
    display: string | null;
  } | null;
  /** The person who accepted the proposal that the event carries out. */
  approved_by: {
    issuer: string;
    subject: string;
    role: string;
    proposal: string;
  } | null;
  /** The credential with which the write was made. */
  credential: {
    /** `client`, `grant`: an application’s token; `system`: the service itself. */
    kind: 'api_key' | 'id_token' | 'client' | 'grant' | 'system';
    /** The name of the key, with its last four characters, or of the application; for a member, the e-mail address. */
    name: string | null;
    key: string | null;
    application: string | null;
    grant: string | null;
    issuer: string | null;
    subject: string | null;
  };
  source_system: string | null;
  request_id: string;
};

export type Medication = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  status: string | null;
  dosage: string | null;
  start: string | null;
  end: string | null;
  note: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
};

export type MemberInvitation = {
  id: string;
  organization_id: string;
  organization_name: string;
  email: string;
  role: 'owner' | 'admin' | 'developer' | 'auditor';
  /** The address of the member who sent the invitation, or their `sub`. */
  invited_by: string;
  status: 'pending' | 'accepted' | 'withdrawn' | 'replaced' | 'expired';
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** The page at which the invited person accepts. Pass this URL on, because the service sends no mail. */
  url: string;
};

export type MemberToken = {
  /** `at_…`. Shown only now; the service stores its SHA-256. */
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: 900;
  environment: 'sandbox' | 'production';
  scopes: ('read' | 'write')[];
};

export type MutedApplication = {
  application_id: string;
  name: string | null;
  /** ISO 8601, UTC. */
  muted_at: string;
};

export type MyGrant = {
  id: string;
  status: 'active' | 'revoked' | 'expired';
  purpose: string | null;
  application: {
    id: string;
    name: string;
    /** `public` or `confidential`. */
    kind: string;
    /** Its name. */
    organization: string;
    privacy_url: string | null;
  };
  /** As granted, in SMART v2 form. */
  scopes: string[];
  /** The sentences that the person read and allowed. */
  scopes_text: string[];
  /** ISO 8601, UTC. */
  granted_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** ISO 8601, UTC. */
  revoked_at: string | null;
  /** `representative`: someone who looks after the patient. `creator`: the identity grant. */
  granted_by: 'patient' | 'representative' | 'creator';
  patient: string;
  /** Number of reads that showed something from the record; refused reads don’t count. */
  access_count: number;
  /** When the last of these reads happened. */
  last_access_at: string | null;
};

export type MyPatient = {
  id: string;
  /** Null if the patient was deleted, like the next two members. */
  given: string | null;
  family: string | null;
  birth_date: string | null;
  relationship: 'self' | 'dependent';
};

export type NewApplication = {
  id: string;
  project_id: string;
  client_id: string;
  name: string;
  environment: 'sandbox' | 'production';
  kind: 'public' | 'confidential';
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  scopes: string[];
  grant_types: string[];
  privacy_url: string | null;
  jwks: {
    keys: {
      kty: string;
      [name: string]: unknown;
    }[];
  } | null;
  jwks_uri: string | null;
  /** null: the application has its own sector. */
  sector: string | null;
  /** After a rotation: the time until which the previous client secret works; null if only the current one works. */
  previous_secret_expires_at: string | null;
  /** Branding that the consent page shows beside the name. */
  branding: {
    logo_uri: string | null;
    client_uri: string | null;
    tos_uri: string | null;
    color: string | null;
    /** The uploaded logo, served by this service. */
    logo: {
      url: string;
      content_type: string;
      /** In bytes. */
      size: number;
    } | null;
  };
  /** Whether the operator lets it use the first-party identity grant. */
  trusted: boolean;
  /** ISO 8601, UTC. */
  created_at: string;
  /** For a confidential application. Shown only now; the service stores its SHA-256. */
  client_secret?: string;
};

export type NewInvitation = {
  id: string;
  relationship: 'self' | 'dependent';
  /** The address that the person must have; null for any address. */
  email: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** `closed`: after five wrong birth dates. */
  status: 'pending' | 'redeemed' | 'withdrawn' | 'expired' | 'closed';
  /** Shown only now; the service stores only its SHA-256. */
  code: string;
  /** The page where the person redeems the code. Deliver this URL to the person. */
  url: string;
};

export type NewKey = {
  id: string;
  project_id: string;
  name: string;
  environment: 'sandbox' | 'production';
  scopes: ('read' | 'write')[];
  /** The last four characters of the key. */
  last4: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** Updated at most once a minute. */
  last_used_at: string | null;
  /** When the key expires; null: never. */
  expires_at: string | null;
  /** ISO 8601, UTC. */
  revoked_at: string | null;
  /** Shown only now; the service stores its SHA-256. */
  key: string;
};

export type Observation = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  category: string | null;
  effective_at: string | null;
  value: number | null;
  unit: string | null;
  /** Also has the value in words if no other field can hold it. */
  value_text: string | null;
  value_code: {
    code: string | null;
    system: string | null;
    display: string | null;
  } | null;
  value_boolean: boolean | null;
  components: {
    code: string | null;
    system: string | null;
    display: string | null;
    value: number | null;
    unit: string | null;
    /** Also has the value in words if no other field can hold it. */
    value_text: string | null;
    value_code: {
      code: string | null;
      system: string | null;
      display: string | null;
    } | null;
    value_boolean: boolean | null;
    /** Absent if the component doesn’t have its own. */
    reference_range?: {
      low: number | null;
      high: number | null;
    };
  }[];
  reference_range: {
    low: number | null;
    high: number | null;
  } | null;
  note: string | null;
  /** Ids of documents. */
  derived_from: string[];
  status: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
};

export type OperationsHealth = {
  /** `act`: something is urgent. */
  status: 'well' | 'watch' | 'act';
  /** Urgent needs come first. */
  data: OperationsNeed[];
  /** Position of the newest event; null if the log doesn’t answer. */
  log_head: string | null;
  /** The newest verification of the whole installation that was started over HTTP. */
  last_verification: {
    id: string;
    /** `waiting`: an instance takes the job within seconds, even after a restart. */
    status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
    /** Null until the verification is done. */
    faults: number | null;
    /** ISO 8601, UTC. */
    finished_at: string | null;
  } | null;
};

export type OperationsNeed = {
  code: 'log_away' | 'requests_failing' | 'notice' | 'read_model_missing' | 'read_model_outdated' | 'read_model_failed' | 'read_model_behind' | 'process_behind' | 'parked_events' | 'rebuild_failed' | 'verification_faults' | 'issuer_away' | 'production_requests' | 'instance_lost' | 'versions_differ';
  /** True if requests fail or data wait until someone acts. */
  urgent: boolean;
  /** The name of the read model, process, issuer or instance. */
  subject: string | null;
  count: number | null;
  /** ISO 8601, UTC. */
  since: string | null;
  /** What is wrong. */
  message: string;
  /** What to do. */
  action: string;
  /** The list below `/admin/operations` that shows the problem. */
  where: string;
};

export type OperatorsProductionRequest = {
  id: string;
  project: {
    id: string;
    name: string;
  };
  organization: {
    id: string;
    name: string;
  };
  /** Who asked: e-mail address, or else the subject. */
  person: string | null;
  use: string;
  status: 'pending' | 'allowed' | 'refused';
  /** Whether the project may create production keys and applications now. */
  production: boolean;
  reason: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  answered_at: string | null;
};

export type Organization = {
  id: string;
  name: string;
  /** The caller’s role. */
  role: 'owner' | 'admin' | 'developer' | 'auditor';
  /** The domain that an owner confirmed. */
  confirmed_domain: string | null;
  sso: {
    issuer: string;
    client_id: string;
    domains: string[];
  } | null;
  /** ISO 8601, UTC. */
  created_at: string;
};

export type ParkedEvent = {
  id: string;
  process: string;
  event_id: string;
  stream: string;
  revision: number;
  /** Of the event; null if it is gone. */
  type: string | null;
  /** The project that the event belongs to; null for the installation’s own events. */
  project: {
    id: string;
    name: string | null;
    organization: string | null;
  } | null;
  environment: 'sandbox' | 'production' | null;
  /** The last attempt’s error, without data. */
  error: string;
  attempts: number;
  /** ISO 8601, UTC. */
  since: string;
  /** ISO 8601, UTC. */
  retry_at: string;
};

export type Patient = {
  id: string;
  /** The id of the patient. */
  patient: string;
  given: string | null;
  family: string | null;
  birth_date: string | null;
  gender: string | null;
  identifiers: {
    system: string | null;
    value: string;
  }[];
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
};

export type Prescription = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  status: string | null;
  dosage: string | null;
  /** The first day on which to take it, if the dosage has bounds. */
  start: string | null;
  /** The last day on which to take it, if the dosage has bounds. */
  end: string | null;
  note: string | null;
  prescribed_on: string | null;
  /** The name of the prescriber; a reference if the caller isn’t allowed to see the name. */
  prescriber: string | null;
  /** `order`, `plan`, `proposal` or another FHIR intent. */
  intent: string | null;
  quantity: {
    value: number | null;
    unit: string | null;
  } | null;
  /** How many times it can be dispensed again. */
  refills: number | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
};

export type Process = {
  name: string;
  /** Position in the log. */
  position: string | null;
  /** The distance behind the log; null if it is unknown. */
  lag: {
    /** Number of events behind the log, counted up to 5,000. */
    events: number;
    /** Age of the oldest of these events. */
    seconds: number;
  } | null;
  /** Events that it could not handle, and retries. */
  parked: number;
  /** Id of the instance that runs it, at most ten seconds old; null if no instance runs it. */
  instance: string | null;
};

export type ProductionRequest = {
  id: string;
  project_id: string;
  use: string;
  status: 'pending' | 'allowed' | 'refused';
  /** Why the operator refused it; null if they gave no reason. */
  reason: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** null while it is pending. */
  answered_at: string | null;
};

export type Project = {
  id: string;
  organization_id: string;
  name: string;
  /** ISO 8601, UTC. */
  created_at: string;
};

export type ProjectWithAccess = {
  id: string;
  organization_id: string;
  name: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** Whether the project may create production keys and applications now. */
  production: boolean;
};

export type Proposal = {
  id: string;
  patient: string;
  /** `superseded`: the resource has a newer version. `expired`: the proposal’s time is over, or its grant has ended. */
  status: 'pending' | 'accepted' | 'rejected' | 'withdrawn' | 'superseded' | 'expired';
  operation: 'create' | 'update';
  resource_type: string;
  /** Null for a creation that was not accepted. */
  resource_id: string | null;
  /** For an update: the version of the resource that the proposal changes. Null for a creation. */
  current_version: number | null;
  /** The FHIR resource after the change. */
  resource: Record<string, unknown>;
  /** The changes from `current_version` to `resource`; for a creation, every element. Null if the grant does not let the application read that version. */
  difference: {
    /** The element, such as `dosage[0].text`. For a removed element: its place in the previous version. */
    path: string;
    /** Absent: the element is added. */
    before?: string | number | boolean | unknown[] | Record<string, unknown>;
    /** Absent: the element is removed. */
    after?: string | number | boolean | unknown[] | Record<string, unknown>;
  }[] | null;
  /** `ai`: a program made the values and nobody has verified them, even after acceptance. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  application: {
    id: string;
    name: string;
    /** `public` or `confidential`. */
    kind: string;
    /** Its name. */
    organization: string;
    privacy_url: string | null;
  };
  /** The application’s reason. Show it as text. */
  rationale: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** When it was accepted, rejected or withdrawn, or lapsed. */
  decided_at: string | null;
  /** For an accepted proposal: the version that resulted from it. */
  version: number | null;
  /** For an accepted proposal: `<Type>/<id>`. */
  fhir: string | null;
};

export type ProvenanceEntry = {
  version: number;
  activity: 'CREATE' | 'UPDATE' | 'DELETE';
  /** ISO 8601, UTC. */
  recorded: string;
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  /** `Practitioner/<id>` or `PractitionerRole/<id>`. */
  author: string | null;
  /** The name of `author` when this version was written. */
  author_name: string | null;
  /** Who entered it for the author: `X-Service-Acting-As`, if both headers were sent. */
  acting_as: string | null;
  acting_as_name: string | null;
  /** The owner of the credential that made the write, whatever author the write names. */
  written_by: {
    /** `application`: an application with its own token; `member`: a person in the organization, in the dashboard; `organization`: a key, application or member from another project; `service`: Annal itself, for example a sandbox. */
    kind: 'api_key' | 'application' | 'member' | 'organization' | 'service';
    /** `key_…`, `app_…` or `org_…`; for a member the `sub` at their issuer. */
    id: string | null;
    name: string | null;
    /** The last four characters of the key. */
    last4: string | null;
  };
  source_system: string | null;
  origin_id: string | null;
  /** `Provenance/<id>` on the FHIR interface. */
  fhir: string;
};

export type ReadModel = {
  name: string;
  /** `outdated`: a different version of Annal made the tables. `failed`: this instance stopped at an event that it can’t apply. */
  state: 'serving' | 'rebuilding' | 'missing' | 'outdated' | 'failed';
  /** True if reads are refused (503) on this instance. */
  stale: boolean;
  /** Version of the tables that this version of Annal needs. */
  version: number;
  /** Version of the tables that are in service. */
  table_version: number | null;
  /** Position in the log. */
  position: string | null;
  /** The distance behind the log; null if it is unknown. */
  lag: {
    /** Number of events behind the log, counted up to 5,000. */
    events: number;
    /** Age of the oldest of these events. */
    seconds: number;
  } | null;
  bytes: number;
  /** Id of the instance that runs it, at most ten seconds old; null if no instance runs it. */
  instance: string | null;
  failure: string | null;
};

export type Rebuild = {
  id: string;
  /** `waiting`: an instance takes the job within seconds, even after a restart. */
  status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  progress: {
    done: number;
    /** An estimate, which may grow. */
    total: number;
    unit: string;
    /** What the job is doing; null while it counts. */
    note: string | null;
  } | null;
  /** Why the job failed, or why it is waiting. */
  error: string | null;
  /** Someone has cancelled the job, but it hasn’t stopped yet. */
  cancelling: boolean;
  started_by: {
    issuer: string;
    subject: string;
    email: string | null;
  };
  /** Id of the instance that runs the job, or ran it last. */
  instance: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  started_at: string | null;
  /** ISO 8601, UTC. */
  finished_at: string | null;
  read_models: string[];
  load: 'low' | 'full';
  force: boolean;
  /** The result per read model; null until the rebuild has ended. */
  result: {
    name: string;
    /** `differs`: rebuilt rows differ from the rows in service, which stay in service. */
    outcome: 'swapped' | 'stopped' | 'differs';
    events: number;
    /** The comparison; empty if a different version of Annal made the serving tables. */
    tables: {
      table: string;
      /** Its rows. */
      serving: number;
      rebuilt: number;
      differences: number;
      /** True if counting stopped. */
      more_differences: boolean;
    }[];
  }[] | null;
};

export type Receipt = {
  id: string;
  /** ISO 8601, UTC. */
  made_at: string;
  kind: 'context' | 'summary' | 'mcp' | 'link';
  /** Who got the answer: `grant/…`, `key/key_…`, `application/app_…`, `link/shl_…` or `member`. */
  reader: string;
  /** When the last change that the answer takes into account was recorded. */
  position: string | null;
  /** The resource versions that the answer was made from. */
  versions: {
    id: string;
    version: number;
  }[];
  /** The rules by which the answer was made. */
  renderer: string;
  /** Hash of the bytes that were sent. */
  sha256: string;
  /** `matches`: the answer was made again, and is byte for byte the one that was sent. `differs`: the answer that was made again differs. `altered`: the receipt was altered. `gone`: something that the answer was made from no longer exists; see `missing`. */
  outcome: 'matches' | 'differs' | 'altered' | 'gone';
  missing: string | null;
  /** The answer that was sent; null unless it matches. */
  content: string | null;
};

export type RecordChange = {
  /** `removed`: deleted, entered in error or refuted, including entries that were also added in between. */
  kind: 'added' | 'changed' | 'removed';
  /** `<Type>/<id>`. */
  resource: string;
  /** The type in words. */
  type_text: string;
  /** The version at the first time; null if there was none. */
  version_before: number | null;
  /** The version at the second time; if the entry was deleted, the version of the deletion. */
  version_after: number;
  /** Number of versions in between, including the last one. */
  versions: number;
  /** What the entry said at the first time. */
  before: string | null;
  /** What the entry said at the second time; null if it was deleted. */
  after: string | null;
  /** For an entry that was added and deleted in between: what it said last. Null for all other entries. */
  between: string | null;
  /** Elements that differ, in words where there are some. */
  elements: string[];
  /** When the last of the versions was stored. */
  at: string;
  /** The event of that version, which `…/events/{event_id}` shows with its proof. */
  event_id: string;
  author: {
    type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
    /** The type in words. */
    type_text: string;
    /** As the directory had it when the version was written. */
    name: string | null;
    reference: string | null;
  };
  /** The source system that the write named. */
  source: string | null;
  /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
  key: string | null;
};

export type RecordEvent = {
  kind: 'document' | 'observation' | 'medication' | 'condition' | 'encounter' | 'procedure' | 'immunization' | 'allergy' | 'report' | 'care_plan' | 'goal' | 'prescription';
  /** The kind in words. */
  kind_text: string;
  /** What happened, as one sentence without its date. */
  text: string;
  date: string;
  date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | 'entered';
  /** The date with its meaning, in words. */
  when: string;
  /** `<Type>/<id>`. */
  resource: string;
  version: number;
  author: {
    type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
    /** The type in words. */
    type_text: string;
    /** As the directory had it when the version was written. */
    name: string | null;
    reference: string | null;
  };
  /** The source system that the write named. */
  source: string | null;
  /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
  key: string | null;
};

export type RecordOverview = {
  patient: {
    id: string;
    /** `<Type>/<id>`. */
    resource: string;
    version: number;
    name: string | null;
    other_names: string[];
    birth_date: string | null;
    /** The age at that time, or at death, in words. */
    age: string | null;
    gender: string | null;
    gender_text: string | null;
    identifiers: {
      system: string | null;
      value: string;
      kind: string | null;
    }[];
    died: {
      date: string | null;
      text: string;
    } | null;
  };
  environment: 'sandbox' | 'production';
  /** The point in time that is shown. */
  as_of: string;
  is_now: boolean;
  language: string;
  position: {
    /** Number of versions in the record up to that time. */
    versions: number;
    /** When the last one was stored. */
    recorded: string;
    event_id: string;
  } | null;
  counts: {
    type: string;
    text: string;
    count: number;
  }[];
  allergies: {
    title: string;
    /** Statements that there is none, as `no known allergies`: they count as no entry. */
    absent: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is current, the most dangerous first. */
    now: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is planned or proposed, and isn’t so yet. */
    planned: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    past: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** How many are past, in words; empty for none. */
    past_text: string;
    /** The sentence if nothing is current; null otherwise. */
    none: string | null;
    /** Entries that an AI wrote or changed and nobody confirmed; they are never among the others. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`. */
    left_out: {
      title: string;
      why: string;
      /** The whole as one sentence: since when, and what it said before. */
      text: string;
      /** When the version was stored that withdrew it; null if it was never stated, or isn’t known. */
      since: string | null;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
    }[];
  };
  medicines: {
    title: string;
    /** Statements that there is none, as `no known allergies`: they count as no entry. */
    absent: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is current, the most dangerous first. */
    now: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is planned or proposed, and isn’t so yet. */
    planned: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    past: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** How many are past, in words; empty for none. */
    past_text: string;
    /** The sentence if nothing is current; null otherwise. */
    none: string | null;
    /** Entries that an AI wrote or changed and nobody confirmed; they are never among the others. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`. */
    left_out: {
      title: string;
      why: string;
      /** The whole as one sentence: since when, and what it said before. */
      text: string;
      /** When the version was stored that withdrew it; null if it was never stated, or isn’t known. */
      since: string | null;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
    }[];
  };
  problems: {
    title: string;
    /** Statements that there is none, as `no known allergies`: they count as no entry. */
    absent: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is current, the most dangerous first. */
    now: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is planned or proposed, and isn’t so yet. */
    planned: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    past: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** How many are past, in words; empty for none. */
    past_text: string;
    /** The sentence if nothing is current; null otherwise. */
    none: string | null;
    /** Entries that an AI wrote or changed and nobody confirmed; they are never among the others. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`. */
    left_out: {
      title: string;
      why: string;
      /** The whole as one sentence: since when, and what it said before. */
      text: string;
      /** When the version was stored that withdrew it; null if it was never stated, or isn’t known. */
      since: string | null;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
    }[];
  };
  vaccinations: {
    title: string;
    /** Statements that there is none, as `no known allergies`: they count as no entry. */
    absent: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is current, the most dangerous first. */
    now: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is planned or proposed, and isn’t so yet. */
    planned: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    past: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** How many are past, in words; empty for none. */
    past_text: string;
    /** The sentence if nothing is current; null otherwise. */
    none: string | null;
    /** Entries that an AI wrote or changed and nobody confirmed; they are never among the others. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`. */
    left_out: {
      title: string;
      why: string;
      /** The whole as one sentence: since when, and what it said before. */
      text: string;
      /** When the version was stored that withdrew it; null if it was never stated, or isn’t known. */
      since: string | null;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
    }[];
  };
  care_plans: {
    title: string;
    /** Statements that there is none, as `no known allergies`: they count as no entry. */
    absent: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is current, the most dangerous first. */
    now: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is planned or proposed, and isn’t so yet. */
    planned: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    past: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** How many are past, in words; empty for none. */
    past_text: string;
    /** The sentence if nothing is current; null otherwise. */
    none: string | null;
    /** Entries that an AI wrote or changed and nobody confirmed; they are never among the others. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`. */
    left_out: {
      title: string;
      why: string;
      /** The whole as one sentence: since when, and what it said before. */
      text: string;
      /** When the version was stored that withdrew it; null if it was never stated, or isn’t known. */
      since: string | null;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
    }[];
  };
  goals: {
    title: string;
    /** Statements that there is none, as `no known allergies`: they count as no entry. */
    absent: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is current, the most dangerous first. */
    now: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** What is planned or proposed, and isn’t so yet. */
    planned: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    past: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** How many are past, in words; empty for none. */
    past_text: string;
    /** The sentence if nothing is current; null otherwise. */
    none: string | null;
    /** Entries that an AI wrote or changed and nobody confirmed; they are never among the others. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      /** State, certainty and danger. */
      badges: {
        tone: 'good' | 'warn' | 'plain';
        text: string;
      }[];
      details: string[];
      /** The state as a code; null if it isn’t recorded. */
      status: string | null;
      /** A FHIR date, as exact as it is. */
      date: string | null;
      date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | null;
      /** For medicines: when they were taken and prescribed. */
      periods: {
        /** `taken_on` and prescription days have no length. */
        means: 'taken' | 'taken_on' | 'planned' | 'prescribed' | 'ordered';
        /** A FHIR date, as exact as it is. */
        from: string | null;
        /** Null if the end isn’t known. */
        until: string | null;
        /** Its source says that the medicine is taken. */
        current: boolean;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
      /** Other entries about the same thing, each with its own statement. */
      others: {
        text: string;
        /** `<Type>/<id>`. */
        resource: string;
        version: number;
      }[];
    }[];
    /** Entries that aren’t shown, and why: `entered in error`, `refuted`, `withdrawn by an AI`, `modified`. */
    left_out: {
      title: string;
      why: string;
      /** The whole as one sentence: since when, and what it said before. */
      text: string;
      /** When the version was stored that withdrew it; null if it was never stated, or isn’t known. */
      since: string | null;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
    }[];
  };
  procedures: {
    title: string;
    /** The kind in the timeline, which has all entries. */
    kind: 'procedure' | 'encounter';
    /** The newest first, at most three. */
    newest: RecordEvent[];
    /** Which of the three an AI wrote and nobody confirmed. */
    unverified: RecordEvent[];
    total: number;
    /** The sentence if there are none; null otherwise. */
    none: string | null;
  };
  visits: {
    title: string;
    /** The kind in the timeline, which has all entries. */
    kind: 'procedure' | 'encounter';
    /** The newest first, at most three. */
    newest: RecordEvent[];
    /** Which of the three an AI wrote and nobody confirmed. */
    unverified: RecordEvent[];
    total: number;
    /** The sentence if there are none; null otherwise. */
    none: string | null;
  };
  results: {
    /** Abnormal or outside their range, the gravest first. */
    abnormal: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      value: string;
      when: string;
      /** When it was measured, as the record says. */
      at: string | null;
      /** The reference range, without its unit. */
      range: string | null;
      judgement: string | null;
      grade: 'critical' | 'out' | 'good' | null;
      status: string | null;
      /** `system|code`. */
      code: string | null;
      /** Values of this kind that were read; at most ten. */
      values: number;
      /** If a later version of the entry changed the value: when, and from what, in words. */
      changed: string | null;
      /** A later measurement without a value, in words. */
      later: string | null;
      /** Other values with the same time, in words; the record doesn’t say which of them is right. */
      beside: string | null;
    }[];
    /** The sentence if there are none. */
    abnormal_none: string | null;
    /** The newest of each kind, the newest first. */
    latest: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      value: string;
      when: string;
      /** When it was measured, as the record says. */
      at: string | null;
      /** The reference range, without its unit. */
      range: string | null;
      judgement: string | null;
      grade: 'critical' | 'out' | 'good' | null;
      status: string | null;
      /** `system|code`. */
      code: string | null;
      /** Values of this kind that were read; at most ten. */
      values: number;
      /** If a later version of the entry changed the value: when, and from what, in words. */
      changed: string | null;
      /** A later measurement without a value, in words. */
      later: string | null;
      /** Other values with the same time, in words; the record doesn’t say which of them is right. */
      beside: string | null;
    }[];
    /** Results that an AI wrote and nobody confirmed. */
    unverified: {
      /** The whole line as one sentence, in the language that was asked for. */
      text: string;
      /** `<Type>/<id>`. */
      resource: string;
      version: number;
      /** When this version was stored. */
      recorded: string;
      author: {
        type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** The type in words. */
        type_text: string;
        /** As the directory had it when the version was written. */
        name: string | null;
        reference: string | null;
      };
      /** The source system that the write named. */
      source: string | null;
      /** The name of the API key that wrote it, with its last four characters; null if it was no key. */
      key: string | null;
      title: string;
      value: string;
      when: string;
      /** When it was measured, as the record says. */
      at: string | null;
      /** The reference range, without its unit. */
      range: string | null;
      judgement: string | null;
      grade: 'critical' | 'out' | 'good' | null;
      status: string | null;
      /** `system|code`. */
      code: string | null;
      /** Values of this kind that were read; at most ten. */
      values: number;
      /** If a later version of the entry changed the value: when, and from what, in words. */
      changed: string | null;
      /** A later measurement without a value, in words. */
      later: string | null;
      /** Other values with the same time, in words; the record doesn’t say which of them is right. */
      beside: string | null;
    }[];
    /** Number of kinds whose newest value can’t be judged, because it has no interpretation from the laboratory and no single numeric range. */
    unjudged: number;
    /** Results with a modifier extension. */
    left_out: string[];
    /** Number of results that were cancelled or aren’t available yet. */
    not_done: number;
  };
  /** Entries that are too large to be read here. */
  too_large: string[];
};

export type RelatedConcept = {
  /** How the concept relates to the other concept. */
  relation: 'symptom_of' | 'has_symptom' | 'treated_with' | 'treats' | 'measured_by' | 'part_of' | 'has_part';
  /** Null for `measured_by`, which leads to a code. */
  concept_id: string | null;
  type: 'symptom' | 'condition' | 'treatment' | null;
  display: string | null;
  /** The LOINC code, for `measured_by`; otherwise null. */
  code: {
    /** URI of the code system. */
    system: string;
    code: string;
  } | null;
};

export type Series = {
  /** The first requested code. */
  code: string;
  system: string;
  /** The name in the resource with the newest value, or else the name in the terminology. */
  display: string | null;
  /** The equivalent codes. */
  codes: {
    system: string;
    code: string;
  }[];
  /** UCUM: the unit that most values have; other values were converted to it. */
  unit: string | null;
  /** The oldest first. */
  points: {
    /** As written in the resource; for a bucket, its first day. */
    at: string;
    value: number;
    /** The value is only known to be below or above this. */
    comparator: '<' | '<=' | '>=' | '>' | null;
    /** Number of values. */
    n: number;
    /** `Observation/<id>/_history/<version>`; for a bucket, the version with the newest value. */
    fhir: string;
    reference_range: {
      low: number | null;
      high: number | null;
    } | null;
    /** For a bucket: every version in it. */
    versions?: string[];
  }[];
  /** Computed from all values, whatever the bucket. */
  stats: {
    count: number;
    min: number | null;
    max: number | null;
    mean: number | null;
    /** Per day, by least squares. */
    slope: number | null;
  };
  /** Values that were left out, and values that are known only roughly. */
  warnings: {
    kind: 'left_out' | 'unit' | 'bound' | 'same_time' | 'preliminary';
    text: string;
    count: number;
  }[];
};

export type Session = {
  /** Only names the session; it gives no access. */
  id: string;
  /** The sign-in. */
  started_at: string;
  /** Time of the last request, to the minute. */
  used_at: string;
  /** True for the session that makes this request; false for all if you use an ID token. */
  current: boolean;
};

export type SharedLink = {
  id: string;
  /** `closed`: after five wrong passcodes, or because its key was lost with the database. */
  status: 'active' | 'revoked' | 'expired' | 'closed';
  label: string | null;
  /** `summary`, `everything` or `document/<id>`. */
  content: string;
  /** `L`: each opening shows the current record; `P`: it has a passcode; `LP`: both; or empty. */
  flag: string;
  /** `shlink:/…`, for applications. Null if the link has ended. */
  shlink: string | null;
  /** A page that opens the link in any browser. Null if the link has ended. */
  viewer_url: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** How often it was opened. */
  access_count: number;
  /** ISO 8601, UTC. */
  last_access_at: string | null;
};

export type Sizes = {
  database_bytes: number;
  /** Size of the events in the database; null if another store has them. */
  log_bytes: number | null;
  /** Content of documents, as of the newest sample. */
  documents: {
    count: number;
    bytes: number;
  } | null;
  schemas: {
    /** A read model, `log`, or tables that aren’t derived. */
    name: string;
    bytes: number;
    tables: {
      name: string;
      /** With indexes. */
      bytes: number;
      /** An estimate. */
      rows: number | null;
    }[];
  }[];
  /** One sample per day; the newest 90, oldest first. */
  samples: {
    date: string;
    database_bytes: number;
    schemas: Record<string, number>;
    documents: {
      count: number;
      bytes: number;
    } | null;
  }[];
};

export type SlowRequests = {
  /** A day ago, or later if there were more than 50,000 requests. */
  from: string;
  /** Number of requests that were looked at. */
  requests: number;
  data: {
    method: string;
    /** The path with `{id}` in place of ids. */
    route: string;
    requests: number;
    /** Milliseconds. */
    p50_ms: number;
    /** Milliseconds. */
    p95_ms: number;
    /** Milliseconds. */
    max_ms: number;
    slowest: {
      request_id: string;
      project_id: string;
      status: number;
      /** ISO 8601, UTC. */
      ts: string;
    };
  }[];
};

export type Takeback = {
  id: string;
  project_id: string;
  environment: 'sandbox' | 'production';
  select: {
    /** As `X-Service-Source-System` named it. */
    source_system?: string;
    key_id?: string;
    application_id?: string;
    author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
    /** As `X-Service-Author-Model` named it; only with `author_type` `ai`. */
    model?: string;
  };
  /** ISO 8601, UTC. */
  since: string | null;
  /** ISO 8601, UTC. */
  until: string;
  reason: string | null;
  status: 'planning' | 'planned' | 'running' | 'done' | 'undoing' | 'undone' | 'failed';
  /** Null unless the status is `failed`. You can undo a take-back that failed while `running`. */
  failed_while: 'planning' | 'running' | 'undoing' | null;
  progress: {
    done: number;
    total: number;
    unit: string;
  } | null;
  /** Why it failed, or why it is waiting. Send the request again to continue it. */
  error: string | null;
  /** Null while it is being planned. */
  plan: {
    /** Selected versions. */
    versions: number;
    /** Number of records that contain them; the directory counts as one record. */
    records: number;
    resources: number;
    /** Number of resources that get the content of the last version that isn’t selected. */
    restored: number;
    /** Number of resources that are deleted, because they had no other content before. */
    removed: number;
    /** Number of resources that stay as they are. */
    stays: number;
    /** The first 200 resources that stay. */
    staying: {
      resource: string;
      /** Its current version. */
      version: number;
      /** `changed_since`: others have changed it. `record_in_use`: the Patient of a record in which others have written. `patient_deleted`: others have deleted the Patient. */
      because: 'changed_since' | 'record_in_use' | 'patient_deleted';
    }[];
    /** How the data may have reached others since the first selected version in each record. */
    told: {
      /** Number of signed exports of the records. */
      exports: number;
      /** Shared links that were opened. */
      shared_links: number;
      contexts: number;
      /** Receipts of answers that name a selected version; absent in plans before receipts. */
      receipts?: number;
      webhooks: {
        deliveries: number;
        endpoints: string[];
      };
    };
  } | null;
  result: {
    records: number;
    /** Versions that were written. */
    versions: number;
    /** Resources that stayed as they were. */
    stays: number;
  } | null;
  undo_result: {
    records: number;
    /** Versions that were written. */
    versions: number;
    /** Resources that stayed as they were. */
    stays: number;
  } | null;
  /** Null for the operator of the installation, also in the next two members. */
  planned_by: {
    issuer: string;
    subject: string;
    email: string | null;
  } | null;
  started_by: {
    issuer: string;
    subject: string;
    email: string | null;
  } | null;
  undone_by: {
    issuer: string;
    subject: string;
    email: string | null;
  } | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  started_at: string | null;
  /** ISO 8601, UTC. */
  finished_at: string | null;
  /** ISO 8601, UTC. */
  undone_at: string | null;
};

export type TimelineEntry = {
  kind: 'document' | 'observation' | 'medication' | 'condition' | 'encounter' | 'procedure' | 'immunization' | 'allergy' | 'report' | 'care_plan' | 'goal' | 'prescription';
  id: string;
  /** As precise as in the record; if the record has no date, when it was recorded. */
  date: string;
  /** The meaning of the date; `entered` if the record has none and it is the date of entry here. */
  date_means: 'born' | 'onset' | 'last_reaction' | 'taken' | 'prescribed' | 'measured' | 'reported' | 'performed' | 'given' | 'visited' | 'planned' | 'written' | 'recorded' | 'entered';
  title: string;
  /** The finding and its state. */
  summary: string | null;
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** The version that the entry shows. */
  version: number;
};

export type TrustedApplication = {
  id: string;
  name: string;
  client_id: string;
  environment: 'sandbox' | 'production';
  project: {
    id: string;
    name: string;
  };
  organization: {
    id: string;
    name: string;
  };
  /** ISO 8601, UTC. */
  trusted_at: string | null;
};

export type Verification = {
  id: string;
  /** `waiting`: an instance takes the job within seconds, even after a restart. */
  status: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  progress: {
    done: number;
    /** An estimate, which may grow. */
    total: number;
    unit: string;
    /** What the job is doing; null while it counts. */
    note: string | null;
  } | null;
  /** Why the job failed, or why it is waiting. */
  error: string | null;
  /** Someone has cancelled the job, but it hasn’t stopped yet. */
  cancelling: boolean;
  started_by: {
    issuer: string;
    subject: string;
    email: string | null;
  };
  /** Id of the instance that runs the job, or ran it last. */
  instance: string | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  started_at: string | null;
  /** ISO 8601, UTC. */
  finished_at: string | null;
  scope: {
    kind: 'all' | 'project' | 'record';
    project: string | null;
    patient: string | null;
  };
  /** Number of faults; null until the verification is done. */
  faults: number | null;
  /** Null until the verification is done; lists leave out `causes`. */
  report: {
    events: number;
    streams: number;
    faults: number;
    /** What was compared besides the events. Null in reports from earlier versions. Jobs don’t compare with a checkpoint. */
    compared: {
      documents: number;
      /** Patients whose access log was checked. */
      access_logs: number;
      access_entries: number;
      read_models: string[];
    } | null;
    /** Faults by cause; at most 200. */
    causes: {
      /** `log`, `documents`, `access log`, or a table. */
      where: string;
      /** docs/audit.md lists them. */
      what: string;
      which: string;
      /** Id of the event, if the fault is about one. */
      event: string | null;
      messages: string[];
      /** Elements that differ, without their values. */
      changed: string[];
      /** Number of rows per table that differ because of this cause. */
      follows: Record<string, number>;
    }[];
    /** Read models that were not compared to the end of the log, because they lag. */
    lagging: {
      read_model: string;
      behind: number;
    }[];
  } | null;
};

export type Warning = {
  field: string;
  code: 'impossible_value' | 'unit_mismatch' | 'future_date' | 'born_after_death' | 'implausible_age' | 'dates_out_of_order';
  message: string;
};

export type WholeLogEvent = {
  id: string;
  /** ISO 8601, UTC. */
  recorded_at: string;
  /** The event’s type: docs/events.md. */
  type: string;
  /** Null for an event of the project itself. */
  environment: 'sandbox' | 'production' | null;
  /** What the event is about. For a version: the resource’s name, and for a deletion, its last name. For an event of the project: the key, application or webhook endpoint. Null for other events, and in production without `X-Service-Reason`. */
  title: string | null;
  /** The patient whose record it is in; null in the directory. */
  patient: string | null;
  /** Null if the Patient is deleted or has no name, and in production without `X-Service-Reason`. */
  patient_name: string | null;
  /** `Type/id`; null for an event that is not a version. */
  resource: string | null;
  version: number | null;
  /** The author that the client named; null if the event names no author. */
  author: {
    reference: string | null;
    display: string | null;
    /** `patient`, `practitioner`, `device`, `import`, `ai`. */
    type: string | null;
  } | null;
  acting_as: {
    reference: string | null;
    display: string | null;
  } | null;
  on_behalf_of: {
    reference: string | null;
    display: string | null;
  } | null;
  /** The person who accepted the proposal that the event carries out. */
  approved_by: {
    issuer: string;
    subject: string;
    role: string;
    proposal: string;
  } | null;
  /** The credential with which the write was made. */
  credential: {
    /** `client`, `grant`: an application’s token; `system`: the service itself. */
    kind: 'api_key' | 'id_token' | 'client' | 'grant' | 'system';
    /** The name of the key, with its last four characters, or of the application; for a member, the e-mail address. */
    name: string | null;
    key: string | null;
    application: string | null;
    grant: string | null;
    issuer: string | null;
    subject: string | null;
  };
  source_system: string | null;
  request_id: string;
  stream: string;
  /** The event’s number in the stream, from 0; null if the log does not have the event. */
  revision: number | null;
  /** The event’s position in the event store. */
  position: string | null;
  chain: {
    /** Hash of the previous event; 64 zeros for the first event. */
    previous: string | null;
    hash: string | null;
    /** Whether the texts below and `previous` result in `hash`. If false, this event or the one before it was altered. */
    holds: boolean;
    /** The service’s newest checkpoint, if it covers this event or entry: if the event or entry is changed afterwards, it doesn’t match the checkpoint’s hash. Null if the event or entry is newer than the checkpoint. */
    checkpoint: {
      id: string;
      /** When the checkpoint was made. */
      time: string;
      /** The last event in the stream, or the last entry in the access log, that the checkpoint covers. */
      revision: number;
      /** Hash of that event or entry. */
      hash: string;
      /** The checkpoint’s Merkle root. */
      root: string;
    } | null;
  };
  /** The exact JSON text in the log. */
  data: string | null;
  /** The exact JSON text in the log; its last member is the hash. */
  metadata: string | null;
  /** Elements in which the version differs from the previous one. For a first version: all elements. For a deletion: the last version’s elements, as removed. For other events: the members of their data. */
  changes: {
    path: string;
    /** JSON; null if the element was added. */
    before: string | null;
    /** JSON; null if it was removed. */
    after: string | null;
  }[];
};

export type WrittenCondition = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  clinical_status: string | null;
  onset: string | null;
  abatement: string | null;
  note: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** Implausible values. They are stored as they were sent. */
  warnings: Warning[];
};

export type WrittenDocument = {
  id: string;
  /** The id of the patient. */
  patient: string;
  title: string | null;
  kind: 'lab_report' | 'discharge_summary' | 'prescription' | 'imaging_report' | 'referral' | 'other';
  content_type: string | null;
  date: string | null;
  description: string | null;
  /** `pending` until it has content. */
  status: 'pending' | 'final';
  /** Bytes. */
  size: number | null;
  /** SHA-256 of the content, in hex. */
  sha256: string | null;
  /** Where the content is fetched from the store itself, for 15 minutes; null in lists, and where only the service gives it. */
  download_url: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** Implausible values. They are stored as they were sent. */
  warnings: Warning[];
};

export type WrittenMedication = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  status: string | null;
  dosage: string | null;
  start: string | null;
  end: string | null;
  note: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** Implausible values. They are stored as they were sent. */
  warnings: Warning[];
};

export type WrittenObservation = {
  id: string;
  /** The id of the patient. */
  patient: string;
  code: string | null;
  system: string | null;
  display: string | null;
  category: string | null;
  effective_at: string | null;
  value: number | null;
  unit: string | null;
  /** Also has the value in words if no other field can hold it. */
  value_text: string | null;
  value_code: {
    code: string | null;
    system: string | null;
    display: string | null;
  } | null;
  value_boolean: boolean | null;
  components: {
    code: string | null;
    system: string | null;
    display: string | null;
    value: number | null;
    unit: string | null;
    /** Also has the value in words if no other field can hold it. */
    value_text: string | null;
    value_code: {
      code: string | null;
      system: string | null;
      display: string | null;
    } | null;
    value_boolean: boolean | null;
    /** Absent if the component doesn’t have its own. */
    reference_range?: {
      low: number | null;
      high: number | null;
    };
  }[];
  reference_range: {
    low: number | null;
    high: number | null;
  } | null;
  note: string | null;
  /** Ids of documents. */
  derived_from: string[];
  status: string | null;
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** Implausible values. They are stored as they were sent. */
  warnings: Warning[];
};

export type WrittenPatient = {
  id: string;
  /** The id of the patient. */
  patient: string;
  given: string | null;
  family: string | null;
  birth_date: string | null;
  gender: string | null;
  identifiers: {
    system: string | null;
    value: string;
  }[];
  version: number;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. */
  updated_at: string;
  /** The kind of author who wrote this version. */
  author_type: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
  source_system: string | null;
  origin_id: string | null;
  /** `<Type>/<id>` on the FHIR interface. */
  fhir: string;
  /** Implausible values. They are stored as they were sent. */
  warnings: Warning[];
};

/** What each operation takes (`path`, `query`, `body`) and returns, by method and path. */
export interface Operations {
  GET: {
    /** Patients that the project sees, the newest first; under a grant, only its patient */
    '/v1/patients': { path: {}; query: { limit?: number; cursor?: string; q?: string; birth_date?: string; identifier?: string }; body: undefined; answer: {
      data: Patient[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A patient */
    '/v1/patients/{patient_id}': { path: { patient_id: string }; query: { as_of?: string }; body: undefined; answer: Patient };
    /** A patient’s observations, the newest first */
    '/v1/patients/{patient_id}/observations': { path: { patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; category?: 'vital-signs' | 'laboratory' | 'symptom' | 'activity' | 'survey' | 'exam' | 'imaging' | 'social-history'; code?: string; from?: string; to?: string }; body: undefined; answer: {
      data: Observation[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Read an observation */
    '/v1/observations/{item_id}': { path: { item_id: string }; query: { as_of?: string }; body: undefined; answer: Observation };
    /** A patient’s conditions, the newest first */
    '/v1/patients/{patient_id}/conditions': { path: { patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; clinical_status?: 'active' | 'recurrence' | 'relapse' | 'inactive' | 'remission' | 'resolved' }; body: undefined; answer: {
      data: Condition[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Read a condition */
    '/v1/conditions/{item_id}': { path: { item_id: string }; query: { as_of?: string }; body: undefined; answer: Condition };
    /** A patient’s medications, the newest first */
    '/v1/patients/{patient_id}/medications': { path: { patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; status?: 'active' | 'completed' | 'stopped' | 'on-hold' | 'intended' | 'unknown' }; body: undefined; answer: {
      data: Medication[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Read a medication */
    '/v1/medications/{item_id}': { path: { item_id: string }; query: { as_of?: string }; body: undefined; answer: Medication };
    /** A patient’s prescriptions, the newest first */
    '/v1/patients/{patient_id}/prescriptions': { path: { patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; status?: 'active' | 'on-hold' | 'cancelled' | 'completed' | 'stopped' | 'draft' | 'unknown' }; body: undefined; answer: {
      data: Prescription[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Read a prescription */
    '/v1/patients/{patient_id}/prescriptions/{prescription_id}': { path: { patient_id: string; prescription_id: string }; query: { as_of?: string }; body: undefined; answer: Prescription };
    /** A patient’s documents, the most recently recorded first */
    '/v1/patients/{patient_id}/documents': { path: { patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; kind?: 'lab_report' | 'discharge_summary' | 'prescription' | 'imaging_report' | 'referral' | 'other' }; body: undefined; answer: {
      data: Document[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Read the description of a document */
    '/v1/documents/{doc_id}': { path: { doc_id: string }; query: { as_of?: string }; body: undefined; answer: Document };
    /** The content of a document, unchanged */
    '/v1/documents/{doc_id}/content': { path: { doc_id: string }; query: { attachment?: string }; body: undefined; answer: Blob };
    /** Events of a patient’s care, the newest first */
    '/v1/patients/{patient_id}/timeline': { path: { patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; from?: string; to?: string; kinds?: ('document' | 'observation' | 'medication' | 'condition' | 'encounter' | 'procedure' | 'immunization' | 'allergy' | 'report' | 'care_plan' | 'goal' | 'prescription')[] }; body: undefined; answer: {
      data: TimelineEntry[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Values of a patient over time */
    '/v1/patients/{patient_id}/series': { path: { patient_id: string }; query: { limit?: number; cursor?: string; code: string | readonly string[]; from?: string; to?: string; bucket?: 'raw' | 'day' | 'week' | 'month'; as_of?: string; at?: string }; body: undefined; answer: {
      data: Series[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Values of a patient over time, the patient in the query */
    '/v1/series': { path: {}; query: { patient: string; limit?: number; cursor?: string; code: string | readonly string[]; from?: string; to?: string; bucket?: 'raw' | 'day' | 'week' | 'month'; as_of?: string; at?: string }; body: undefined; answer: {
      data: Series[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Find patterns in a patient’s values */
    '/v1/patients/{patient_id}/patterns': { path: { patient_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Finding[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
      /** Values that were left out, and values that are known only roughly. */
      warnings: {
        kind: 'left_out' | 'unit' | 'bound' | 'same_time' | 'preliminary';
        text: string;
        count: number;
      }[];
    } };
    /** A finding */
    '/v1/patients/{patient_id}/patterns/{finding_id}': { path: { patient_id: string; finding_id: string }; query: {}; body: undefined; answer: Finding };
    /** The versions that a finding is based on */
    '/v1/patients/{patient_id}/patterns/{finding_id}/evidence': { path: { patient_id: string; finding_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: FindingEvidence[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A finding, by its id only */
    '/v1/patterns/{finding_id}': { path: { finding_id: string }; query: {}; body: undefined; answer: Finding };
    /** The versions that a finding is based on, by its id only */
    '/v1/patterns/{finding_id}/evidence': { path: { finding_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: FindingEvidence[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Who wrote each version of a resource, the newest first */
    '/v1/patients/{patient_id}/provenance/{resource_type}/{resource_id}': { path: { patient_id: string; resource_type: string; resource_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: ProvenanceEntry[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Invitations to a patient’s record, the newest first */
    '/v1/patients/{patient_id}/invitations': { path: { patient_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Invitation[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** People linked to a patient, the newest first */
    '/v1/patients/{patient_id}/links': { path: { patient_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Link[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Grants that applications have for a patient */
    '/v1/patients/{patient_id}/grants': { path: { patient_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Grant[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Changes that your application has proposed, the newest first */
    '/v1/patients/{patient_id}/proposals': { path: { patient_id: string }; query: { limit?: number; cursor?: string; status?: 'pending' | 'accepted' | 'rejected' | 'withdrawn' | 'superseded' | 'expired' }; body: undefined; answer: {
      data: Proposal[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Read a proposal of your application */
    '/v1/patients/{patient_id}/proposals/{proposal_id}': { path: { patient_id: string; proposal_id: string }; query: {}; body: undefined; answer: Proposal };
    /** Who read a patient’s record, the newest first */
    '/v1/patients/{patient_id}/access-log': { path: { patient_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: AccessLogEntry[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Codes of `loinc` or `atc` by typed text */
    '/v1/terminology/{system}': { path: { system: string }; query: { q: string; limit?: number }; body: undefined; answer: {
      data: Code[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A code of `loinc` or `atc` */
    '/v1/terminology/{system}/{code}': { path: { system: string; code: string }; query: {}; body: undefined; answer: Code };
    /** Symptoms by typed text, or all of them */
    '/v1/terminology/symptoms': { path: {}; query: { q?: string; limit?: number; lang?: string; cursor?: string }; body: undefined; answer: {
      data: Concept[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A symptom with its related concepts and codes */
    '/v1/terminology/symptoms/{concept_id}': { path: { concept_id: string }; query: { lang?: string }; body: undefined; answer: DescribedConcept };
    /** Conditions by typed text, or all of them */
    '/v1/terminology/conditions': { path: {}; query: { q?: string; limit?: number; lang?: string; cursor?: string }; body: undefined; answer: {
      data: Concept[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A condition with its related concepts and codes */
    '/v1/terminology/conditions/{concept_id}': { path: { concept_id: string }; query: { lang?: string }; body: undefined; answer: DescribedConcept };
    /** Treatments by typed text, or all of them */
    '/v1/terminology/treatments': { path: {}; query: { q?: string; limit?: number; lang?: string; cursor?: string }; body: undefined; answer: {
      data: Concept[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A treatment with its related concepts and codes */
    '/v1/terminology/treatments/{concept_id}': { path: { concept_id: string }; query: { lang?: string }; body: undefined; answer: DescribedConcept };
    /** Symptoms, conditions and treatments by typed text */
    '/v1/terminology/search': { path: {}; query: { q: string; limit?: number; lang?: string }; body: undefined; answer: {
      data: Concept[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A concept with its related concepts and codes */
    '/v1/terminology/search/{concept_id}': { path: { concept_id: string }; query: { lang?: string }; body: undefined; answer: DescribedConcept };
    /** Symptoms, conditions and treatments by typed text */
    '/v1/search': { path: {}; query: { q: string; limit?: number; lang?: string }; body: undefined; answer: {
      data: Concept[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A concept with its related concepts and codes */
    '/v1/search/{concept_id}': { path: { concept_id: string }; query: { lang?: string }; body: undefined; answer: DescribedConcept };
    /** The endpoints, oldest first */
    '/v1/webhooks': { path: {}; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: {
        id: string;
        url: string;
        events: string[];
        description: string | null;
        active: boolean;
        environment: 'sandbox' | 'production';
        /** ISO 8601, UTC. */
        created_at: string;
        /** ISO 8601, UTC. */
        updated_at: string;
        /** ISO 8601, UTC. */
        last_success_at: string | null;
        /** ISO 8601, UTC. */
        last_failure_at: string | null;
        /** Failed attempts since the last successful one. */
        failure_streak: number;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** The event types */
    '/v1/webhooks/event-types': { path: {}; query: {}; body: undefined; answer: {
      data: ('resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping')[];
    } };
    /** An endpoint */
    '/v1/webhooks/{endpoint_id}': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
    } };
    /** Deliveries of the last 30 days, newest first */
    '/v1/webhooks/{endpoint_id}/deliveries': { path: { endpoint_id: string }; query: { limit?: number; cursor?: string; status?: 'pending' | 'delivered' | 'failed' | 'exhausted'; event_type?: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' }; body: undefined; answer: {
      data: {
        id: string;
        endpoint_id: string;
        event_id: string;
        event_type: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping';
        /** `failed`: between attempts; `exhausted`: given up. */
        status: 'pending' | 'delivered' | 'failed' | 'exhausted';
        attempts: number;
        /** ISO 8601, UTC. */
        next_attempt_at: string | null;
        last_status_code: number | null;
        /** Why the last attempt failed, with the first 4 KB of the answer. */
        last_error: string | null;
        /** ISO 8601, UTC. */
        created_at: string;
        /** ISO 8601, UTC. */
        delivered_at: string | null;
        /** The body that is sent. */
        payload: Record<string, unknown>;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** The progress of the newest replay */
    '/v1/webhooks/{endpoint_id}/replay': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      status: 'running' | 'done' | 'cancelled';
      /** ISO 8601, UTC. */
      from: string;
      /** ISO 8601, UTC. */
      to: string;
      types: string[];
      /** Deliveries so far. */
      queued: number;
      delivered: number;
      exhausted: number;
      /** ISO 8601, UTC. */
      started_at: string;
      /** ISO 8601, UTC. */
      ended_at: string | null;
    } };
    /** Organizations that the caller is a member of, the newest first */
    '/admin/organizations': { path: {}; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Organization[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** An organization */
    '/admin/organizations/{org_id}': { path: { org_id: string }; query: {}; body: undefined; answer: Organization };
    /** Members, the newest first */
    '/admin/organizations/{org_id}/members': { path: { org_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: {
        issuer: string;
        subject: string;
        email: string | null;
        role: 'owner' | 'admin' | 'developer' | 'auditor';
        /** When they got this role. */
        since: string;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** An organization’s invitations, the newest first, including ended ones */
    '/admin/organizations/{org_id}/invitations': { path: { org_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: MemberInvitation[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Invitations for your verified e-mail address */
    '/admin/invitations': { path: {}; query: {}; body: undefined; answer: {
      data: MemberInvitation[];
    } };
    /** Where the owner of an e-mail address signs in */
    '/admin/sso/discover': { path: {}; query: { email: string }; body: undefined; answer: {
      issuer: string;
      client_id: string;
      /** Its name. */
      organization: string;
    } };
    /** An organization’s open projects, the newest first */
    '/admin/organizations/{org_id}/projects': { path: { org_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Project[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A project */
    '/admin/projects/{project_id}': { path: { project_id: string }; query: {}; body: undefined; answer: ProjectWithAccess };
    /** A project’s production requests and their answers, the newest first */
    '/admin/projects/{project_id}/production-requests': { path: { project_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: ProductionRequest[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A project’s API keys, the newest first, including revoked ones */
    '/admin/projects/{project_id}/keys': { path: { project_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Key[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A project’s OAuth applications, the newest first */
    '/admin/projects/{project_id}/applications': { path: { project_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Application[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** The scopes of an application in plain sentences, as the consent page words them */
    '/admin/applications/{application_id}/scopes': { path: { application_id: string }; query: { scope?: string; lang?: string }; body: undefined; answer: {
      /** Language of the sentences. */
      lang: string;
      /** All languages that the consent page has. */
      languages: {
        lang: string;
        /** The language’s name in the language itself. */
        name: string;
      }[];
      scopes: {
        /** The scope in SMART v2 form. */
        scope: string;
        /** What the consent page says about it; empty if people don’t decide about it. */
        sentences: string[];
      }[];
    } };
    /** The consent page of an application, as people will see it */
    '/admin/applications/{application_id}/consent-page': { path: { application_id: string }; query: { scope?: string; lang?: string }; body: undefined; answer: Blob };
    /** Patients of a project, the newest first */
    '/admin/projects/{project_id}/patients': { path: { project_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production' }; body: undefined; answer: {
      data: {
        id: string;
        given: string | null;
        family: string | null;
        birth_date: string | null;
        gender: string | null;
        version: number;
        /** ISO 8601, UTC. */
        created_at: string;
        /** ISO 8601, UTC. */
        updated_at: string;
        /** `Patient/<id>` */
        fhir: string;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A patient’s record as a Bundle, now or at a given time */
    '/admin/projects/{project_id}/patients/{patient_id}/record': { path: { project_id: string; patient_id: string }; query: { at?: string }; body: undefined; answer: {
      resourceType: 'Bundle';
      type: 'collection';
      /** When the patient’s last change was recorded. */
      timestamp: string;
      entry: {
        fullUrl: string;
        resource: Record<string, unknown>;
        [name: string]: unknown;
      }[];
      [name: string]: unknown;
    } };
    /** Consents that patients gave the project’s applications */
    '/admin/projects/{project_id}/consents': { path: { project_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production' }; body: undefined; answer: {
      data: {
        id: string;
        status: 'active' | 'revoked' | 'expired';
        purpose: string | null;
        application: {
          id: string;
          name: string;
          /** `public` or `confidential`. */
          kind: string;
          /** Its name. */
          organization: string;
          privacy_url: string | null;
        };
        /** As granted, in SMART v2 form. */
        scopes: string[];
        /** The sentences that the person read and allowed. */
        scopes_text: string[];
        /** ISO 8601, UTC. */
        granted_at: string;
        /** ISO 8601, UTC. */
        expires_at: string;
        /** ISO 8601, UTC. */
        revoked_at: string | null;
        /** `representative`: someone who looks after the patient. `creator`: the identity grant. */
        granted_by: 'patient' | 'representative' | 'creator';
        /** The pairwise id under which the application knows the patient. */
        patient: string;
        /** Null while it is active. Otherwise as in `consent.revoked`, or `expired`. */
        end_reason: 'patient' | 'replaced' | 'link_ended' | 'application_deleted' | 'platform' | 'patient_purged' | 'expired' | null;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** What a patient’s record says, now or at a given time */
    '/admin/projects/{project_id}/patients/{patient_id}/overview': { path: { project_id: string; patient_id: string }; query: { as_of?: string; language?: 'en' | 'de' | 'fr' | 'es' | 'nb' | 'ar' }; body: undefined; answer: RecordOverview };
    /** Events in a patient’s care, in words, the newest first */
    '/admin/projects/{project_id}/patients/{patient_id}/timeline': { path: { project_id: string; patient_id: string }; query: { limit?: number; cursor?: string; as_of?: string; from?: string; to?: string; kinds?: ('document' | 'observation' | 'medication' | 'condition' | 'encounter' | 'procedure' | 'immunization' | 'allergy' | 'report' | 'care_plan' | 'goal' | 'prescription')[]; language?: 'en' | 'de' | 'fr' | 'es' | 'nb' | 'ar' }; body: undefined; answer: {
      data: RecordEvent[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** When a patient’s record changed */
    '/admin/projects/{project_id}/patients/{patient_id}/moments': { path: { project_id: string; patient_id: string }; query: {}; body: undefined; answer: {
      /** The oldest first. */
      data: {
        /** ISO 8601, UTC. */
        from: string;
        /** As of this time, the record has all versions in the stretch. */
        to: string;
        versions: number;
      }[];
      /** Total number of versions. */
      total: number;
    } };
    /** What changed in a patient’s record between two points in time, the newest first */
    '/admin/projects/{project_id}/patients/{patient_id}/changes': { path: { project_id: string; patient_id: string }; query: { limit?: number; cursor?: string; language?: 'en' | 'de' | 'fr' | 'es' | 'nb' | 'ar'; from?: string; to?: string }; body: undefined; answer: {
      data: RecordChange[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** The versions of an entry of a patient’s record, the newest first */
    '/admin/projects/{project_id}/patients/{patient_id}/versions/{resource_type}/{resource_id}': { path: { project_id: string; patient_id: string; resource_type: string; resource_id: string }; query: { limit?: number; cursor?: string; language?: 'en' | 'de' | 'fr' | 'es' | 'nb' | 'ar' }; body: undefined; answer: {
      data: RecordChange[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Show the contents of a project’s sandbox */
    '/admin/projects/{project_id}/sandbox': { path: { project_id: string }; query: {}; body: undefined; answer: {
      /** Number of synthetic patients that still exist. */
      synthetic_patients: number;
      /** Number of patients that the project created. */
      own_patients: number;
      /** Number of requests since midnight UTC that may have written; up to a second old. */
      writes_today: number;
      /** How often the sandbox was reset. */
      resets: number;
    } };
    /** Requests to a project, newest first */
    '/admin/projects/{project_id}/logs': { path: { project_id: string }; query: { limit?: number; cursor?: string; request_id?: string; key?: string; application?: string; environment?: 'sandbox' | 'production'; status?: string; path?: string; method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; from?: string; to?: string }; body: undefined; answer: {
      data: {
        /** The answer’s `Service-Request-Id`. */
        request_id: string;
        /** ISO 8601, UTC. */
        ts: string;
        /** Null for a request about the project as a whole. */
        environment: 'sandbox' | 'production' | null;
        key_id: string | null;
        /** The application, if the request had an access token. */
        application_id: string | null;
        /** Issuer and subject of the ID token. */
        identity: string | null;
        method: string;
        /** Without the query string; `…` replaces segments that are neither an id of this service nor part of a route. */
        path: string;
        status: number;
        /** Duration in milliseconds. */
        ms: number;
        /** Why the request was refused; null if it succeeded, and in older entries. */
        error: {
          /** As in the error that was returned. */
          type: string;
          /** At most 20, without their texts; `…` replaces a name that isn’t part of the interfaces. */
          fields: {
            field: string;
            code: string;
          }[];
        } | null;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A request to a project, with the versions that it wrote */
    '/admin/projects/{project_id}/logs/{service_request_id}': { path: { project_id: string; service_request_id: string }; query: {}; body: undefined; answer: {
      /** The answer’s `Service-Request-Id`. */
      request_id: string;
      /** ISO 8601, UTC. */
      ts: string;
      /** Null for a request about the project as a whole. */
      environment: 'sandbox' | 'production' | null;
      key_id: string | null;
      /** The application, if the request had an access token. */
      application_id: string | null;
      /** Issuer and subject of the ID token. */
      identity: string | null;
      method: string;
      /** Without the query string; `…` replaces segments that are neither an id of this service nor part of a route. */
      path: string;
      status: number;
      /** Duration in milliseconds. */
      ms: number;
      /** Why the request was refused; null if it succeeded, and in older entries. */
      error: {
        /** As in the error that was returned. */
        type: string;
        /** At most 20, without their texts; `…` replaces a name that isn’t part of the interfaces. */
        fields: {
          field: string;
          code: string;
        }[];
      } | null;
      /** The versions that the request wrote, at most 1,000, except versions in purged records. Null if the caller’s role doesn’t allow reading the environment’s records, and on the gateway for production without `X-Service-Reason`. */
      events: {
        /** `Type/id/_history/n` */
        version: string;
        /** Id of the record; null for the directory. */
        patient: string | null;
        operation: 'create' | 'update' | 'delete';
        /** The version’s event, which `…/events/{event_id}` shows to auditors. */
        event_id: string;
      }[] | null;
    } };
    /** Search the log of a project, newest first */
    '/admin/projects/{project_id}/events': { path: { project_id: string }; query: { limit?: number; cursor?: string; from?: string; to?: string; language?: 'en' | 'de' | 'fr' | 'es' | 'nb' | 'ar'; environment?: 'sandbox' | 'production'; of?: 'records' | 'project'; type?: string; patient?: string; resource?: string; author?: string; author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai'; key?: string; application?: string; request_id?: string }; body: undefined; answer: {
      data: LogEvent[];
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
      /** Set if the page ended before it was full, because it had looked through 20,000 events: it covers the time from here on. `next_cursor` continues. */
      searched_to: string | null;
    } };
    /** An event with its content, and its place in the hash chain */
    '/admin/projects/{project_id}/events/{event_id}': { path: { project_id: string; event_id: string }; query: { language?: 'en' | 'de' | 'fr' | 'es' | 'nb' | 'ar' }; body: undefined; answer: WholeLogEvent };
    /** Who read the records of a project, newest first */
    '/admin/projects/{project_id}/access-log': { path: { project_id: string }; query: { limit?: number; cursor?: string; from?: string; to?: string; environment?: 'sandbox' | 'production'; patient?: string; application?: string; key?: string; person?: string; action?: string; status?: 'ok' | 'denied' | 'not_found' | 'error'; names?: 'true' }; body: undefined; answer: {
      data: AuditedAccess[];
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
      /** Set if the page ended before it was full, because it had looked through 20,000 entries: it covers the time from here on. `next_cursor` continues. */
      searched_to: string | null;
      /** Whether the service now logs reads with API keys and `client_credentials` tokens (`ACCESS_LOG=all`). If it doesn’t, such reads leave no entry, but earlier entries for such reads are listed. */
      logs_key_reads: boolean;
      /** With `patient`: what shows that no entry is missing. Null without `patient`. */
      proof: {
        /** Number of entries in the patient’s log, which is also the number of the last entry. */
        entries: number;
        /** Hash of the last entry; null if there are no entries. */
        hash: string | null;
        /** The service’s newest checkpoint, if it covers this event or entry: if the event or entry is changed afterwards, it doesn’t match the checkpoint’s hash. Null if the event or entry is newer than the checkpoint. */
        checkpoint: {
          id: string;
          /** When the checkpoint was made. */
          time: string;
          /** The last event in the stream, or the last entry in the access log, that the checkpoint covers. */
          revision: number;
          /** Hash of that event or entry. */
          hash: string;
          /** The checkpoint’s Merkle root. */
          root: string;
        } | null;
      } | null;
    } };
    /** An answer that a reader of a record received, made again */
    '/admin/projects/{project_id}/receipts/{receipt_id}': { path: { project_id: string; receipt_id: string }; query: {}; body: undefined; answer: {
      id: string;
      /** ISO 8601, UTC. */
      made_at: string;
      kind: 'context' | 'summary' | 'mcp' | 'link';
      /** Who got the answer: `grant/…`, `key/key_…`, `application/app_…`, `link/shl_…` or `member`. */
      reader: string;
      /** When the last change that the answer takes into account was recorded. */
      position: string | null;
      /** The resource versions that the answer was made from. */
      versions: {
        id: string;
        version: number;
      }[];
      /** The rules by which the answer was made. */
      renderer: string;
      /** Hash of the bytes that were sent. */
      sha256: string;
      /** `matches`: the answer was made again, and is byte for byte the one that was sent. `differs`: the answer that was made again differs. `altered`: the receipt was altered. `gone`: something that the answer was made from no longer exists; see `missing`. */
      outcome: 'matches' | 'differs' | 'altered' | 'gone';
      missing: string | null;
      /** The answer that was sent; null unless it matches. */
      content: string | null;
      patient: string;
    } };
    /** The public key that exports and checkpoints are signed with */
    '/admin/projects/{project_id}/exports/key': { path: { project_id: string }; query: {}; body: undefined; answer: {
      /** JWK thumbprint (RFC 7638). */
      key_id: string;
      /** The 32 bytes of the Ed25519 key, base64url. */
      public_key: string;
    } };
    /** Verifications, the newest first */
    '/admin/operations/verifications': { path: {}; query: { limit?: number; cursor?: string; project?: string }; body: undefined; answer: {
      data: Verification[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A verification, its progress, and what it found by cause */
    '/admin/operations/verifications/{job_id}': { path: { job_id: string }; query: {}; body: undefined; answer: Verification };
    /** Checkpoints that the service keeps, the newest first */
    '/admin/operations/checkpoints': { path: {}; query: { limit?: number; cursor?: string; project?: string }; body: undefined; answer: {
      data: Checkpoint[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** The job that makes a checkpoint, and its progress */
    '/admin/operations/checkpoints/jobs/{job_id}': { path: { job_id: string }; query: {}; body: undefined; answer: CheckpointJob };
    /** A checkpoint as a file */
    '/admin/operations/checkpoints/{checkpoint_id}': { path: { checkpoint_id: string }; query: {}; body: undefined; answer: Blob };
    /** Take-backs of a project, the newest first */
    '/admin/projects/{project_id}/takebacks': { path: { project_id: string }; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Takeback[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A take-back, its plan and its progress */
    '/admin/projects/{project_id}/takebacks/{takeback_id}': { path: { project_id: string; takeback_id: string }; query: {}; body: undefined; answer: Takeback };
    /** Usage of a project, by day and environment */
    '/admin/projects/{project_id}/usage': { path: { project_id: string }; query: { from?: string; to?: string }; body: undefined; answer: {
      data: {
        /** UTC. */
        date: string;
        environment: 'sandbox' | 'production';
        requests: number;
        /** Number of requests that were refused (4xx). Null if not recorded, because an earlier version ran that day. */
        client_errors: number | null;
        /** Number of requests that failed (5xx). Null if `client_errors` is null. */
        server_errors: number | null;
        /** Number of requests that can’t change anything. */
        reads: number;
        /** Number of requests that can change something, whatever the answer was. */
        writes: number;
        /** Bytes of the events written on that day. */
        storage_bytes: number;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** The webhook endpoints of a project, oldest first */
    '/admin/projects/{project_id}/webhooks': { path: { project_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production' }; body: undefined; answer: {
      data: {
        id: string;
        url: string;
        events: string[];
        description: string | null;
        active: boolean;
        environment: 'sandbox' | 'production';
        /** ISO 8601, UTC. */
        created_at: string;
        /** ISO 8601, UTC. */
        updated_at: string;
        /** ISO 8601, UTC. */
        last_success_at: string | null;
        /** ISO 8601, UTC. */
        last_failure_at: string | null;
        /** Failed attempts since the last successful one. */
        failure_streak: number;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Deliveries of the last 30 days, newest first */
    '/admin/webhooks/{endpoint_id}/deliveries': { path: { endpoint_id: string }; query: { limit?: number; cursor?: string; status?: 'pending' | 'delivered' | 'failed' | 'exhausted'; event_type?: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' }; body: undefined; answer: {
      data: {
        id: string;
        endpoint_id: string;
        event_id: string;
        event_type: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping';
        /** `failed`: between attempts; `exhausted`: given up. */
        status: 'pending' | 'delivered' | 'failed' | 'exhausted';
        attempts: number;
        /** ISO 8601, UTC. */
        next_attempt_at: string | null;
        last_status_code: number | null;
        /** Why the last attempt failed, with the first 4 KB of the answer. */
        last_error: string | null;
        /** ISO 8601, UTC. */
        created_at: string;
        /** ISO 8601, UTC. */
        delivered_at: string | null;
        /** The body that is sent. */
        payload: Record<string, unknown>;
      }[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** URLs and limits of this installation, and who the caller is */
    '/admin/config': { path: {}; query: {}; body: undefined; answer: {
      /** Version of the interfaces: `info.version` of the OpenAPI document. */
      version: string;
      mode: 'development' | 'production';
      base_url: string;
      fhir_base_url: string;
      openapi_url: string;
      limits: {
        /** Largest JSON body other than a Bundle. */
        body_bytes: number;
        bundle_bytes: number;
        bundle_entries: number;
        /** The limit per project, in each environment. */
        webhook_endpoints: number;
      };
      /** Who the caller is. A colleague needs this to add them as a member. */
      identity: {
        issuer: string;
        subject: string;
        email: string | null;
      };
      /** Whether the caller operates the installation. */
      operator: boolean;
    } };
    /** What needs attention, and what to do */
    '/admin/operations/health': { path: {}; query: {}; body: undefined; answer: OperationsHealth };
    /** Read models with state, lag and size */
    '/admin/operations/read-models': { path: {}; query: {}; body: undefined; answer: {
      data: ReadModel[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Processes that react to events, with lag and parked events */
    '/admin/operations/processes': { path: {}; query: {}; body: undefined; answer: {
      data: Process[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Events that a process could not handle, the newest first */
    '/admin/operations/parked': { path: {}; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: ParkedEvent[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Instances of the service that run on this database */
    '/admin/operations/instances': { path: {}; query: {}; body: undefined; answer: {
      data: Instance[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Trusted issuers of ID tokens and their keys, as this instance knows them */
    '/admin/operations/issuers': { path: {}; query: {}; body: undefined; answer: {
      data: Issuer[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Rebuilds of read models that were started over HTTP, the newest first */
    '/admin/operations/rebuilds': { path: {}; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: Rebuild[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A rebuild and its progress */
    '/admin/operations/rebuilds/{job_id}': { path: { job_id: string }; query: {}; body: undefined; answer: Rebuild };
    /** Sizes of the database, its tables and the documents, and how they grew */
    '/admin/operations/sizes': { path: {}; query: {}; body: undefined; answer: Sizes };
    /** The slowest routes of the last day, by their 95th percentile */
    '/admin/operations/slow-requests': { path: {}; query: {}; body: undefined; answer: SlowRequests };
    /** Requests answered with 5xx or 429, by hour, and by project and route */
    '/admin/operations/failed-requests': { path: {}; query: { from?: string; to?: string; project?: string }; body: undefined; answer: FailedRequests };
    /** A request to any project, by its id */
    '/admin/operations/requests/{request_id}': { path: { request_id: string }; query: {}; body: undefined; answer: FoundRequest };
    /** Production requests from all projects */
    '/admin/operations/production-requests': { path: {}; query: {}; body: undefined; answer: {
      data: OperatorsProductionRequest[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Applications that may use the identity grant, the newest first */
    '/admin/operations/trusted-applications': { path: {}; query: { limit?: number; cursor?: string }; body: undefined; answer: {
      data: TrustedApplication[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Your own record and those of people you look after */
    '/me/patients': { path: {}; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string }; body: undefined; answer: {
      data: MyPatient[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Applications that may use a record */
    '/me/patients/{patient_id}/grants': { path: { patient_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string }; body: undefined; answer: {
      data: MyGrant[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** An application’s reads of a record, the newest first */
    '/me/patients/{patient_id}/grants/{grant_id}/access-log': { path: { patient_id: string; grant_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string; from?: string; to?: string; status?: 'ok' | 'denied' | 'not_found' | 'error'; action?: string; resource_type?: string }; body: undefined; answer: {
      data: AccessLogEntry[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Who read a record, the newest first */
    '/me/patients/{patient_id}/access-log': { path: { patient_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string; from?: string; to?: string; status?: 'ok' | 'denied' | 'not_found' | 'error'; action?: string; resource_type?: string; application_id?: string }; body: undefined; answer: {
      data: AccessLogEntry[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** An answer that a reader of a record received, made again */
    '/me/patients/{patient_id}/receipts/{receipt_id}': { path: { patient_id: string; receipt_id: string }; query: { environment?: 'sandbox' | 'production' }; body: undefined; answer: Receipt };
    /** Applications that ask you for access */
    '/me/access-requests': { path: {}; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string; status?: 'pending' | 'approved' | 'denied' | 'expired' }; body: undefined; answer: {
      data: AccessRequest[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Applications whose requests you don’t see */
    '/me/muted-applications': { path: {}; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string }; body: undefined; answer: {
      data: MutedApplication[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Links to a record */
    '/me/patients/{patient_id}/shl': { path: { patient_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string }; body: undefined; answer: {
      data: SharedLink[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** A link to a record */
    '/me/patients/{patient_id}/shl/{link_id}': { path: { patient_id: string; link_id: string }; query: {}; body: undefined; answer: SharedLink };
    /** A link as a QR code */
    '/me/patients/{patient_id}/shl/{link_id}/qr': { path: { patient_id: string; link_id: string }; query: {}; body: undefined; answer: Blob };
    /** Changes to a record that applications propose */
    '/me/patients/{patient_id}/proposals': { path: { patient_id: string }; query: { limit?: number; cursor?: string; environment?: 'sandbox' | 'production'; lang?: string; status?: 'pending' | 'accepted' | 'rejected' | 'withdrawn' | 'superseded' | 'expired' }; body: undefined; answer: {
      data: Proposal[];
      /** Total number of items on all pages. */
      total: number;
      /** The `cursor` for the next page; null on the last page. */
      next_cursor: string | null;
    } };
    /** Where you are signed in */
    '/me/sessions': { path: {}; query: {}; body: undefined; answer: {
      data: Session[];
    } };
  };
  POST: {
    /** Create a patient */
    '/v1/patients': { path: {}; query: {}; body: {
      given?: string | null;
      family?: string | null;
      birth_date?: string | null;
      gender?: 'male' | 'female' | 'other' | 'unknown' | null;
      identifiers?: {
        system?: string | null;
        value: string;
      }[] | null;
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    }; answer: WrittenPatient };
    /** Record an observation */
    '/v1/patients/{patient_id}/observations': { path: { patient_id: string }; query: {}; body: {
      code: string;
      system?: string | null;
      display?: string | null;
      category: 'vital-signs' | 'laboratory' | 'symptom' | 'activity' | 'survey' | 'exam' | 'imaging' | 'social-history';
      /** ISO 8601 with an offset. */
      effective_at: string;
      value?: number | null;
      /** UCUM, or a common spelling such as `mmHg`, `bpm`, `°C`, `IU/L`, `mcg`; answers always have UCUM. */
      unit?: string | null;
      value_text?: string | null;
      value_code?: {
        code: string;
        system?: string | null;
        display?: string | null;
      } | null;
      value_boolean?: boolean | null;
      components?: {
        code: string;
        system?: string | null;
        display?: string | null;
        value: number;
        /** UCUM, or a common spelling such as `mmHg`, `bpm`, `°C`, `IU/L`, `mcg`; answers always have UCUM. */
        unit?: string | null;
      }[] | null;
      reference_range?: {
        low?: number | null;
        high?: number | null;
      } | null;
      note?: string | null;
      /** Ids of documents, or `DocumentReference/<id>`. */
      derived_from?: string | null | string[];
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    }; answer: WrittenObservation };
    /** Record a condition */
    '/v1/patients/{patient_id}/conditions': { path: { patient_id: string }; query: {}; body: {
      code: string;
      system?: string | null;
      display?: string | null;
      clinical_status?: 'active' | 'recurrence' | 'relapse' | 'inactive' | 'remission' | 'resolved' | null;
      onset?: string | null;
      abatement?: string | null;
      note?: string | null;
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    }; answer: WrittenCondition };
    /** Record a medication */
    '/v1/patients/{patient_id}/medications': { path: { patient_id: string }; query: {}; body: {
      code?: string | null;
      system?: string | null;
      display?: string | null;
      status?: 'active' | 'completed' | 'stopped' | 'on-hold' | 'intended' | 'unknown' | null;
      dosage?: string | null;
      start?: string | null;
      end?: string | null;
      note?: string | null;
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    }; answer: WrittenMedication };
    /** Create a document; upload its content next */
    '/v1/patients/{patient_id}/documents': { path: { patient_id: string }; query: {}; body: {
      title: string;
      kind?: 'lab_report' | 'discharge_summary' | 'prescription' | 'imaging_report' | 'referral' | 'other' | null;
      content_type: string;
      date?: string | null;
      description?: string | null;
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    }; answer: CreatedDocument };
    /** Finalize a document whose content was uploaded to its upload URL */
    '/v1/documents/{doc_id}/finalize': { path: { doc_id: string }; query: {}; body: {
      /** The size in bytes that the content should have. */
      size?: number | null;
      /** The SHA-256 in hex that the content should have. */
      sha256?: string | null;
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    } | undefined; answer: WrittenDocument };
    /** Import laboratory results */
    '/v1/patients/{patient_id}/labs/import': { path: { patient_id: string }; query: { date?: unknown | string; time_zone?: string }; body: LabMessageInput | LabItemsInput | BodyInit; answer: {
      /** New observations. For a key without `read`: all observations of the report. */
      created: number;
      /** Observations that already existed or are newer than the report. For a key without `read`: 0. */
      skipped: number;
      /** Codes that are not LOINC codes. */
      unmapped: string[];
      warnings: string[];
      /** The report’s observations in their current state. A key without `read` sees none. */
      observations: Observation[];
    } };
    /** Compare the values of two periods */
    '/v1/patients/{patient_id}/patterns/compare': { path: { patient_id: string }; query: {}; body: {
      code: string;
      a: {
        /** First day. A value belongs to the day that its date-time names, whatever its UTC offset. */
        from: string;
        /** Last day. A value dated by month or year belongs to each of its days. */
        to: string;
      };
      b: {
        /** First day. A value belongs to the day that its date-time names, whatever its UTC offset. */
        from: string;
        /** Last day. A value dated by month or year belongs to each of its days. */
        to: string;
      };
    }; answer: Comparison };
    /** Invite a person to a patient’s record */
    '/v1/patients/{patient_id}/invitations': { path: { patient_id: string }; query: {}; body: {
      /** `self`: the patient. `dependent`: a person who looks after the patient. */
      relationship?: 'self' | 'dependent';
      /** The address that the person must have, verified by the issuer they sign in at. */
      email?: string;
      expires_in_days?: number;
    } | undefined; answer: NewInvitation };
    /** Propose a change instead of writing it */
    '/v1/patients/{patient_id}/proposals': { path: { patient_id: string }; query: {}; body: {
      operation: 'create' | 'update';
      /** Default: the type of the resource. */
      resource_type?: string;
      /** The whole FHIR resource after the change; for an update, including its `id`. */
      resource: Record<string, unknown>;
      /** For an update: the version that you read and changed. Default: `resource.meta.versionId`. */
      current_version?: number;
      /** The reason. The person reads it beside the change. */
      rationale?: string;
      /** `ai` if a program made the content. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
    }; answer: Proposal };
    /** Withdraw a proposal */
    '/v1/patients/{patient_id}/proposals/{proposal_id}/withdraw': { path: { patient_id: string; proposal_id: string }; query: {}; body: undefined; answer: Proposal };
    /** Get the facts that a language model needs about a patient, within a budget of tokens */
    '/v1/context': { path: {}; query: {}; body: {
      /** The id of the patient. */
      patient: string;
      /** The task in words: `medication review`, `follow-up: diabetes`. */
      task?: string | null;
      /** The question to answer. */
      question?: string | null;
      /** Facts that the context must include if they are recorded, most important first: `labs:4548-4`, `vitals:trend:85354-9`, `timeline:180d`, `medications`. */
      needs?: string[] | null;
      /** Maximum number of tokens of the text. */
      budget_tokens?: number;
      format?: 'structured' | 'text';
      /** How far back to include findings, visits, procedures, vaccinations, documents and past problems. */
      window_days?: number | null;
      /** The context as it would have been made at this time: ISO 8601 with an offset. */
      as_of?: string | null;
    }; answer: Context };
    /** Create an endpoint; its secret is shown only now */
    '/v1/webhooks': { path: {}; query: {}; body: {
      /** `https://…`; in the sandbox of a development installation, also `http://localhost…`. Stored and shown in normalized form (WHATWG URL): `HTTPS://Hooks.Example.org:443` becomes `https://hooks.example.org/`. */
      url: string;
      /** Event types, or `["*"]` for all. */
      events: ('resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' | '*')[];
      description?: string | null;
      /** If false, the endpoint is paused from the start. */
      active?: boolean;
    }; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
      /** `whsec_` and 32 random bytes in base64, which are the signature key. Shown only now. */
      secret: string;
    } };
    /** Create a new secret; the old one stops working immediately */
    '/v1/webhooks/{endpoint_id}/rotate': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
      /** `whsec_` and 32 random bytes in base64, which are the signature key. Shown only now. */
      secret: string;
    } };
    /** Send a `ping` event */
    '/v1/webhooks/{endpoint_id}/ping': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      id: string;
      endpoint_id: string;
      event_id: string;
      event_type: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping';
      /** `failed`: between attempts; `exhausted`: given up. */
      status: 'pending' | 'delivered' | 'failed' | 'exhausted';
      attempts: number;
      /** ISO 8601, UTC. */
      next_attempt_at: string | null;
      last_status_code: number | null;
      /** Why the last attempt failed, with the first 4 KB of the answer. */
      last_error: string | null;
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      delivered_at: string | null;
      /** The body that is sent. */
      payload: Record<string, unknown>;
    } };
    /** Retry a delivery now */
    '/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver': { path: { endpoint_id: string; delivery_id: string }; query: {}; body: undefined; answer: {
      id: string;
      endpoint_id: string;
      event_id: string;
      event_type: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping';
      /** `failed`: between attempts; `exhausted`: given up. */
      status: 'pending' | 'delivered' | 'failed' | 'exhausted';
      attempts: number;
      /** ISO 8601, UTC. */
      next_attempt_at: string | null;
      last_status_code: number | null;
      /** Why the last attempt failed, with the first 4 KB of the answer. */
      last_error: string | null;
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      delivered_at: string | null;
      /** The body that is sent. */
      payload: Record<string, unknown>;
    } };
    /** Retry all exhausted deliveries now */
    '/v1/webhooks/{endpoint_id}/deliveries/redeliver-exhausted': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      /** How many. */
      requeued: number;
    } };
    /** Send past events from the log again, in order */
    '/v1/webhooks/{endpoint_id}/replay': { path: { endpoint_id: string }; query: {}; body: {
      /** Events from this time on, inclusive. */
      from: string;
      /** Events up to this time, inclusive; default: now. */
      to?: string;
      /** Default: the endpoint’s event types. */
      types?: ('resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' | '*')[];
    }; answer: {
      status: 'running' | 'done' | 'cancelled';
      /** ISO 8601, UTC. */
      from: string;
      /** ISO 8601, UTC. */
      to: string;
      types: string[];
      /** Deliveries so far. */
      queued: number;
      delivered: number;
      exhausted: number;
      /** ISO 8601, UTC. */
      started_at: string;
      /** ISO 8601, UTC. */
      ended_at: string | null;
    } };
    /** Create an organization */
    '/admin/organizations': { path: {}; query: {}; body: {
      /** For people; need not be unique. */
      name: string;
    }; answer: Organization };
    /** Confirm the domain of an organization by the e-mail address of one of its owners */
    '/admin/organizations/{org_id}/verify': { path: { org_id: string }; query: {}; body: undefined; answer: Organization };
    /** Add a member, or change a member’s role */
    '/admin/organizations/{org_id}/members': { path: { org_id: string }; query: {}; body: {
      /** `iss` of their ID token. */
      issuer: string;
      /** `sub` of their ID token. */
      subject: string;
      email?: string;
      role: 'owner' | 'admin' | 'developer' | 'auditor';
    }; answer: {
      issuer: string;
      subject: string;
      email: string | null;
      role: 'owner' | 'admin' | 'developer' | 'auditor';
      /** When they got this role. */
      since: string;
    } };
    /** Invite a person to an organization by their e-mail address */
    '/admin/organizations/{org_id}/invitations': { path: { org_id: string }; query: {}; body: {
      email: string;
      role: 'owner' | 'admin' | 'developer' | 'auditor';
    }; answer: MemberInvitation };
    /** Become a member of the organization that invites you */
    '/admin/invitations/{invitation_id}/accept': { path: { invitation_id: string }; query: {}; body: undefined; answer: {
      organization_id: string;
      organization_name: string;
      role: 'owner' | 'admin' | 'developer' | 'auditor';
    } };
    /** Create a project in an organization */
    '/admin/organizations/{org_id}/projects': { path: { org_id: string }; query: {}; body: {
      /** For people; need not be unique. */
      name: string;
    }; answer: Project };
    /** Ask the operator of the installation for production keys and applications */
    '/admin/projects/{project_id}/production-requests': { path: { project_id: string }; query: {}; body: {
      /** What the project needs production for; the operator reads it. */
      use: string;
    }; answer: ProductionRequest };
    /** Create an API key */
    '/admin/projects/{project_id}/keys': { path: { project_id: string }; query: {}; body: {
      /** For people; need not be unique. */
      name: string;
      environment: 'sandbox' | 'production';
      scopes?: ('read' | 'write')[];
      /** When the key expires, in the future; null: never. */
      expires_at?: string | null;
    }; answer: NewKey };
    /** Get an access token for the data of one environment, in your own name */
    '/admin/projects/{project_id}/tokens': { path: { project_id: string }; query: {}; body: {
      environment: 'sandbox' | 'production';
      scopes?: ('read' | 'write')[];
    }; answer: MemberToken };
    /** Register an OAuth application */
    '/admin/projects/{project_id}/applications': { path: { project_id: string }; query: {}; body: {
      /** For people; need not be unique. */
      name: string;
      /** Which records it can reach: sandbox or production records. It cannot be changed. */
      environment?: 'sandbox' | 'production';
      /** Whether it can keep a secret. */
      kind: 'public' | 'confidential';
      /** Absolute and exact: compared character by character. Empty for an application without authorization_code. */
      redirect_uris: string[];
      /** Where a person may be sent after signing out at `/oauth/logout`. Compared like `redirect_uris`. */
      post_logout_redirect_uris?: string[];
      scopes: string[];
      grant_types?: ('authorization_code' | 'refresh_token' | 'client_credentials' | 'urn:openid:params:grant-type:ciba' | 'urn:annal:params:oauth:grant-type:identity')[];
      privacy_url?: string;
      /** Public keys with which a confidential application signs (private_key_jwt). It then has no secret. They can be replaced later. */
      jwks?: {
        keys: {
          kty: string;
          [name: string]: unknown;
        }[];
        [name: string]: unknown;
      };
      /** Where such keys are fetched; not together with `jwks`. */
      jwks_uri?: string;
      /** Applications in this project and environment with the same sector get the same pairwise ids. It cannot be changed. Default: the application has its own sector. */
      sector?: string;
    }; answer: NewApplication };
    /** Make an application trusted, or no longer trusted: for operators only */
    '/admin/applications/{application_id}/trust': { path: { application_id: string }; query: {}; body: {
      trusted?: boolean;
    } | undefined; answer: Application };
    /** Replace the client secret of an application */
    '/admin/applications/{application_id}/secrets': { path: { application_id: string }; query: {}; body: {
      /** 0 to 168 (7 days). 0 ends the previous secret at once, for example if it leaked. */
      overlap_hours?: number;
    } | undefined; answer: {
      /** Shown only now; the service stores its SHA-256. */
      client_secret: string;
      /** ISO 8601, UTC. */
      previous_secret_expires_at: string | null;
    } };
    /** Empty a project’s sandbox and fill it with new synthetic patients */
    '/admin/projects/{project_id}/sandbox/reset': { path: { project_id: string }; query: {}; body: undefined; answer: {
      /** Number of synthetic patients that still exist. */
      synthetic_patients: number;
      /** Number of patients that the project created. */
      own_patients: number;
      /** Number of requests since midnight UTC that may have written; up to a second old. */
      writes_today: number;
      /** How often the sandbox was reset. */
      resets: number;
    } };
    /** A signed file with a record, a resource’s history, or the answer to a search */
    '/admin/projects/{project_id}/exports': { path: { project_id: string }; query: {}; body: {
      /** All events in a patient’s record. */
      kind: 'record';
      /** Id of the patient. */
      patient: string;
      /** An instant: export the state at that time. Default: now. */
      as_of?: string;
    } | {
      /** All versions of a resource. */
      kind: 'history';
      /** `Type/id`. */
      resource: string;
      /** An instant: export the state at that time. Default: now. */
      as_of?: string;
    } | {
      /** The answer to a search. */
      kind: 'search';
      /** A search below `/fhir/R4/`: `Observation?patient=…`, `Patient/<id>/Observation?…`. */
      query: string;
      environment?: 'sandbox' | 'production';
      /** An instant: export the state at that time. Default: now. */
      as_of?: string;
    }; answer: Blob };
    /** Verify everything, a project, or a record */
    '/admin/operations/verifications': { path: {}; query: {}; body: {
      /** `all`, a project, or a patient’s record in a project. */
      scope: 'all' | {
        project: string;
      } | {
        project: string;
        /** Id of the patient. */
        patient: string;
      };
    }; answer: Verification };
    /** Cancel a verification */
    '/admin/operations/verifications/{job_id}/cancel': { path: { job_id: string }; query: {}; body: undefined; answer: Verification };
    /** Make a checkpoint */
    '/admin/operations/checkpoints': { path: {}; query: {}; body: undefined; answer: CheckpointJob };
    /** Plan to take back what a source system, a key, an application or an AI wrote */
    '/admin/projects/{project_id}/takebacks': { path: { project_id: string }; query: {}; body: {
      select: {
        /** As `X-Service-Source-System` named it. */
        source_system?: string;
        key_id?: string;
        application_id?: string;
        author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai';
        /** As `X-Service-Author-Model` named it; only with `author_type` `ai`. */
        model?: string;
      };
      environment: 'sandbox' | 'production';
      /** Only versions written at this time or later. */
      since?: string;
      /** Only versions written before this time; default: now. */
      until?: string;
      /** The reason, which patients can read. */
      reason?: string;
    }; answer: Takeback };
    /** Take back what was planned */
    '/admin/projects/{project_id}/takebacks/{takeback_id}/start': { path: { project_id: string; takeback_id: string }; query: {}; body: undefined; answer: Takeback };
    /** Undo a take-back */
    '/admin/projects/{project_id}/takebacks/{takeback_id}/undo': { path: { project_id: string; takeback_id: string }; query: {}; body: undefined; answer: Takeback };
    /** Create a webhook endpoint; its secret is shown only now */
    '/admin/projects/{project_id}/webhooks': { path: { project_id: string }; query: {}; body: {
      /** `https://…`; in the sandbox of a development installation, also `http://localhost…`. Stored and shown in normalized form (WHATWG URL): `HTTPS://Hooks.Example.org:443` becomes `https://hooks.example.org/`. */
      url: string;
      /** Event types, or `["*"]` for all. */
      events: ('resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' | '*')[];
      description?: string | null;
      /** If false, the endpoint is paused from the start. */
      active?: boolean;
      environment: 'sandbox' | 'production';
    }; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
      /** `whsec_` and 32 random bytes in base64, which are the signature key. Shown only now. */
      secret: string;
    } };
    /** Create a new secret; the old one stops working immediately */
    '/admin/webhooks/{endpoint_id}/rotate': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
      /** `whsec_` and 32 random bytes in base64, which are the signature key. Shown only now. */
      secret: string;
    } };
    /** Send a `ping` event */
    '/admin/webhooks/{endpoint_id}/ping': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      id: string;
      endpoint_id: string;
      event_id: string;
      event_type: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping';
      /** `failed`: between attempts; `exhausted`: given up. */
      status: 'pending' | 'delivered' | 'failed' | 'exhausted';
      attempts: number;
      /** ISO 8601, UTC. */
      next_attempt_at: string | null;
      last_status_code: number | null;
      /** Why the last attempt failed, with the first 4 KB of the answer. */
      last_error: string | null;
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      delivered_at: string | null;
      /** The body that is sent. */
      payload: Record<string, unknown>;
    } };
    /** Retry a delivery now */
    '/admin/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver': { path: { endpoint_id: string; delivery_id: string }; query: {}; body: undefined; answer: {
      id: string;
      endpoint_id: string;
      event_id: string;
      event_type: 'resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping';
      /** `failed`: between attempts; `exhausted`: given up. */
      status: 'pending' | 'delivered' | 'failed' | 'exhausted';
      attempts: number;
      /** ISO 8601, UTC. */
      next_attempt_at: string | null;
      last_status_code: number | null;
      /** Why the last attempt failed, with the first 4 KB of the answer. */
      last_error: string | null;
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      delivered_at: string | null;
      /** The body that is sent. */
      payload: Record<string, unknown>;
    } };
    /** Create an organization with a project and a sandbox key */
    '/admin/sandbox/quickstart': { path: {}; query: {}; body: {
      /** For people; need not be unique. */
      name?: string;
    } | undefined; answer: {
      organization: Organization;
      project: Project;
      /** Shown only now; the service stores its SHA-256. */
      key: string;
    } };
    /** Retry a parked event within ten seconds */
    '/admin/operations/parked/{parked_id}/retry': { path: { parked_id: string }; query: {}; body: undefined; answer: undefined };
    /** Rebuild read models from the log */
    '/admin/operations/rebuilds': { path: {}; query: {}; body: {
      read_models: string[];
      /** The same names once more. */
      confirm: string[];
      /** `low` has little effect on requests; `full` is as fast as possible. */
      load?: 'low' | 'full';
      /** Use the rebuilt tables even if their rows differ from the serving ones. */
      force?: boolean;
    }; answer: Rebuild };
    /** Cancel a rebuild */
    '/admin/operations/rebuilds/{job_id}/cancel': { path: { job_id: string }; query: {}; body: undefined; answer: Rebuild };
    /** Allow or refuse a request for production */
    '/admin/operations/production-requests/{request_id}': { path: { request_id: string }; query: {}; body: {
      answer: 'allow' | 'refuse';
      /** The reason for a refusal, which the project’s members can read. */
      reason?: string;
    }; answer: OperatorsProductionRequest };
    /** End a project’s permission to create production keys and applications */
    '/admin/operations/production-withdrawals': { path: {}; query: {}; body: {
      /** `proj_…` */
      project_id: string;
    }; answer: {
      project_id: string;
      production: boolean;
    } };
    /** End an application’s access to a record */
    '/me/patients/{patient_id}/grants/{grant_id}/revoke': { path: { patient_id: string; grant_id: string }; query: {}; body: {
      reason?: string;
    } | undefined; answer: MyGrant };
    /** Link a record to you with an invitation’s code */
    '/me/invitations/redeem': { path: {}; query: {}; body: {
      /** From the invitation. */
      code: string;
      /** The patient’s birth date, `YYYY-MM-DD`. */
      birth_date: string;
    }; answer: MyPatient };
    /** Let the application use a record */
    '/me/access-requests/{request_id}/approve': { path: { request_id: string }; query: { lang?: string }; body: {
      /** One of your records. */
      patient_id: string;
      /** One of 30, 90, 180, 365. */
      duration_days: number;
      /** A part of the requested scopes; default: all of them. Scopes without a resource type are always kept, except `offline_access`. */
      scopes?: string[];
    }; answer: AccessRequest };
    /** Refuse an application */
    '/me/access-requests/{request_id}/deny': { path: { request_id: string }; query: { lang?: string }; body: {
      /** Later requests from the application are not shown to you. */
      mute?: boolean;
    } | undefined; answer: AccessRequest };
    /** Share a part of a record with a link */
    '/me/patients/{patient_id}/shl': { path: { patient_id: string }; query: {}; body: {
      /** `summary` (International Patient Summary), `everything`, or `document/<id>`. */
      content: string;
      /** Shown to everyone who has the link, before they open it. */
      label?: string;
      /** Send it to the recipient by a different channel than the link. After five wrong passcodes the link is closed for good. */
      passcode?: string;
      /** At most 3650 days from now. Default: 30 days, or 365 days with `long_term`. */
      expires_at?: string;
      /** True: each opening shows the record at that time. False: the link always shows the record as it is now. */
      long_term?: boolean;
    }; answer: SharedLink };
    /** End a link to a record */
    '/me/patients/{patient_id}/shl/{link_id}/revoke': { path: { patient_id: string; link_id: string }; query: {}; body: undefined; answer: SharedLink };
    /** Accept a proposed change */
    '/me/patients/{patient_id}/proposals/{proposal_id}/accept': { path: { patient_id: string; proposal_id: string }; query: {}; body: undefined; answer: Proposal };
    /** Reject a proposed change */
    '/me/patients/{patient_id}/proposals/{proposal_id}/reject': { path: { patient_id: string; proposal_id: string }; query: {}; body: {
      reason?: string;
    } | undefined; answer: Proposal };
  };
  PUT: {
    /** Replace a patient’s demographics */
    '/v1/patients/{patient_id}': { path: { patient_id: string }; query: {}; body: {
      given?: string | null;
      family?: string | null;
      birth_date?: string | null;
      gender?: 'male' | 'female' | 'other' | 'unknown' | null;
      identifiers?: {
        system?: string | null;
        value: string;
      }[] | null;
      /** Takes precedence over the header X-Service-Author-Type. */
      author_type?: 'patient' | 'practitioner' | 'device' | 'import' | 'ai' | null;
    }; answer: WrittenPatient };
    /** Upload the content of a document through the service, and finalize it */
    '/v1/documents/{doc_id}/content': { path: { doc_id: string }; query: {}; body: BodyInit; answer: WrittenDocument };
    /** Upload the content of a document to the URL in the answer to its creation */
    '/v1/documents/{doc_id}/upload': { path: { doc_id: string }; query: { expires: string; signature: string }; body: BodyInit; answer: {
      size: number;
      /** Hex. */
      sha256: string;
    } };
    /** Set the issuer that the people of an organization sign in with */
    '/admin/organizations/{org_id}/sso': { path: { org_id: string }; query: {}; body: {
      issuer: string;
      /** `aud` of its ID tokens. */
      client_id: string;
      /** E-mail domains of the organization’s people; each belongs to one organization. The organization’s current domains and the caller’s own domain are allowed. */
      domains: string[];
    }; answer: {
      issuer: string;
      client_id: string;
      domains: string[];
    } };
    /** Replace the branding that the consent page shows for an application */
    '/admin/applications/{application_id}/branding': { path: { application_id: string }; query: {}; body: {
      logo_uri?: string;
      /** Its home page. */
      client_uri?: string;
      /** Its terms of service. */
      tos_uri?: string;
      color?: string;
      /** A PNG, JPEG or WebP file of up to 64 kB, as base64. The consent page shows no other image. */
      logo?: string;
    } | undefined; answer: Application };
    /** Don’t show later requests of an application */
    '/me/muted-applications/{application_id}': { path: { application_id: string }; query: {}; body: undefined; answer: undefined };
  };
  PATCH: {
    /** Change, pause or resume an endpoint */
    '/v1/webhooks/{endpoint_id}': { path: { endpoint_id: string }; query: {}; body: {
      /** `https://…`; in the sandbox of a development installation, also `http://localhost…`. Stored and shown in normalized form (WHATWG URL): `HTTPS://Hooks.Example.org:443` becomes `https://hooks.example.org/`. */
      url?: string;
      /** Event types, or `["*"]` for all. */
      events?: ('resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' | '*')[];
      description?: string | null;
      /** False pauses the endpoint: its deliveries wait. */
      active?: boolean;
    } | undefined; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
    } };
    /** Change the redirect URIs, scopes or keys of an application */
    '/admin/applications/{application_id}': { path: { application_id: string }; query: {}; body: {
      /** Absolute and exact: compared character by character. Empty for an application without authorization_code. */
      redirect_uris?: string[];
      /** Where a person may be sent after signing out at `/oauth/logout`. Compared like `redirect_uris`. */
      post_logout_redirect_uris?: string[];
      scopes?: string[];
      /** null removes it. */
      privacy_url?: string | null;
      /** Public keys that replace the earlier ones, `jwks_uri`, or the client secret. */
      jwks?: {
        keys: {
          kty: string;
          [name: string]: unknown;
        }[];
        [name: string]: unknown;
      };
      /** Like `jwks`, for keys that the service fetches; not together with `jwks`. */
      jwks_uri?: string;
    } | undefined; answer: Application };
    /** Change, pause or resume a webhook endpoint */
    '/admin/webhooks/{endpoint_id}': { path: { endpoint_id: string }; query: {}; body: {
      /** `https://…`; in the sandbox of a development installation, also `http://localhost…`. Stored and shown in normalized form (WHATWG URL): `HTTPS://Hooks.Example.org:443` becomes `https://hooks.example.org/`. */
      url?: string;
      /** Event types, or `["*"]` for all. */
      events?: ('resource.created' | 'resource.updated' | 'resource.deleted' | 'consent.granted' | 'consent.revoked' | 'document.finalized' | 'proposal.accepted' | 'proposal.rejected' | 'ping' | '*')[];
      description?: string | null;
      /** False pauses the endpoint: its deliveries wait. */
      active?: boolean;
    } | undefined; answer: {
      id: string;
      url: string;
      events: string[];
      description: string | null;
      active: boolean;
      environment: 'sandbox' | 'production';
      /** ISO 8601, UTC. */
      created_at: string;
      /** ISO 8601, UTC. */
      updated_at: string;
      /** ISO 8601, UTC. */
      last_success_at: string | null;
      /** ISO 8601, UTC. */
      last_failure_at: string | null;
      /** Failed attempts since the last successful one. */
      failure_streak: number;
    } };
  };
  DELETE: {
    /** Delete an observation; its history stays */
    '/v1/observations/{item_id}': { path: { item_id: string }; query: {}; body: undefined; answer: undefined };
    /** Delete a condition; its history stays */
    '/v1/conditions/{item_id}': { path: { item_id: string }; query: {}; body: undefined; answer: undefined };
    /** Delete a medication; its history stays */
    '/v1/medications/{item_id}': { path: { item_id: string }; query: {}; body: undefined; answer: undefined };
    /** Withdraw an invitation */
    '/v1/patients/{patient_id}/invitations/{invitation_id}': { path: { patient_id: string; invitation_id: string }; query: {}; body: undefined; answer: undefined };
    /** End a link, and with it all access that the person gave */
    '/v1/patients/{patient_id}/links/{link_id}': { path: { patient_id: string; link_id: string }; query: {}; body: undefined; answer: undefined };
    /** Delete an endpoint; undelivered events are dropped */
    '/v1/webhooks/{endpoint_id}': { path: { endpoint_id: string }; query: {}; body: undefined; answer: undefined };
    /** Cancel the running replay; events that were not sent yet are dropped */
    '/v1/webhooks/{endpoint_id}/replay': { path: { endpoint_id: string }; query: {}; body: undefined; answer: {
      status: 'running' | 'done' | 'cancelled';
      /** ISO 8601, UTC. */
      from: string;
      /** ISO 8601, UTC. */
      to: string;
      types: string[];
      /** Deliveries so far. */
      queued: number;
      delivered: number;
      exhausted: number;
      /** ISO 8601, UTC. */
      started_at: string;
      /** ISO 8601, UTC. */
      ended_at: string | null;
    } };
    /** Remove a member */
    '/admin/organizations/{org_id}/members': { path: { org_id: string }; query: { issuer: string; subject: string }; body: undefined; answer: undefined };
    /** Withdraw an invitation */
    '/admin/organizations/{org_id}/invitations/{invitation_id}': { path: { org_id: string; invitation_id: string }; query: {}; body: undefined; answer: undefined };
    /** Close a project; its keys stop working at once */
    '/admin/projects/{project_id}': { path: { project_id: string }; query: { confirm?: string }; body: undefined; answer: undefined };
    /** Revoke an API key; it stops working at once, on every instance */
    '/admin/keys/{key_id}': { path: { key_id: string }; query: {}; body: undefined; answer: undefined };
    /** Delete an application; it stops working at once */
    '/admin/applications/{application_id}': { path: { application_id: string }; query: {}; body: undefined; answer: undefined };
    /** Delete a webhook endpoint; undelivered events are dropped */
    '/admin/webhooks/{endpoint_id}': { path: { endpoint_id: string }; query: {}; body: undefined; answer: undefined };
    /** Remove a record that you started yourself, with everything in it */
    '/me/patients/{patient_id}': { path: { patient_id: string }; query: {}; body: undefined; answer: undefined };
    /** Give up your link to a record */
    '/me/patients/{patient_id}/link': { path: { patient_id: string }; query: {}; body: undefined; answer: undefined };
    /** Show later requests of an application again */
    '/me/muted-applications/{application_id}': { path: { application_id: string }; query: {}; body: undefined; answer: undefined };
    /** Sign out everywhere else */
    '/me/sessions': { path: {}; query: {}; body: undefined; answer: undefined };
    /** End a session */
    '/me/sessions/{session_id}': { path: { session_id: string }; query: {}; body: undefined; answer: undefined };
  };
}
