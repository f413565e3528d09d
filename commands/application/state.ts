/** The parts of an OAuth application's state that decisions need. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { EventOf } from '#src/events/streams.ts';
import type { Fold } from '../kernel/kernel.ts';

/** The contents of the consent page other than an application's name; member names as in RFC 7591, section 2. */
export interface Branding {
  readonly logo_uri?: string | undefined;
  readonly client_uri?: string | undefined;
  readonly tos_uri?: string | undefined;
  /** `#rrggbb` */
  readonly color?: string | undefined;
  /** The uploaded logo; its bytes are stored outside the log. */
  readonly logo?: Logo | undefined;
}

/** An uploaded logo. */
export interface Logo {
  /** hex */
  readonly sha256: string;
  readonly content_type: 'image/png' | 'image/jpeg' | 'image/webp';
  /** In bytes. */
  readonly size: number;
}

/** Hashes of client secrets, in hex; `until` is an instant. */
export interface Secrets {
  readonly sha256: string;
  readonly previous?: { readonly sha256: string; readonly until: string } | undefined;
}

/** The settings that can be changed after the registration. */
export type ApplicationSettings = Extract<PlainEvent, { type: 'ApplicationChanged' }>['data'];

export interface ApplicationState {
  status: 'none' | 'registered' | 'deleted';
  clientId: string | undefined;
  /** The data of the latest registration: a guest is registered again when its document has changed. */
  registered: Extract<PlainEvent, { type: 'ApplicationRegistered' }>['data'] | undefined;
  settings: ApplicationSettings;
  branding: Branding;
  /** Undefined for public applications, and for applications that sign with keys. */
  secrets: Secrets | undefined;
  trusted: boolean;
}

/** The fold of `application-` streams. */
export const APPLICATION: Fold<ApplicationState, EventOf<'application'>> = {
  name: 'application',
  kinds: ['application'],
  initial: () => ({
    status: 'none',
    clientId: undefined,
    registered: undefined,
    settings: { redirect_uris: [], post_logout_redirect_uris: [], scopes: [] },
    branding: {},
    secrets: undefined,
    trusted: false,
  }),
  evolve,
  estimateSize: () => 4_000,
};

function evolve(state: ApplicationState, event: EventOf<'application'>): void {
  switch (event.type) {
    case 'ApplicationRegistered':
      state.status = 'registered';
      state.clientId = event.data.client_id;
      state.registered = event.data;
      state.settings = registeredSettings(event.data);
      state.secrets =
        event.data.secret_sha256 === undefined ? undefined : { sha256: event.data.secret_sha256 };
      break;
    case 'ApplicationChanged':
      state.settings = event.data;
      if (hasKeys(event.data)) state.secrets = undefined;
      break;
    case 'ApplicationSecretRotated':
      state.secrets = { sha256: event.data.secret_sha256, previous: event.data.previous };
      break;
    case 'ApplicationBranded':
      state.branding = event.data;
      break;
    case 'ApplicationTrusted':
      state.trusted = event.data.trusted;
      break;
    case 'ApplicationDeleted':
      state.status = 'deleted';
      break;
    default:
      event satisfies never;
  }
}

/** Returns the settings of a registration. */
function registeredSettings(data: NonNullable<ApplicationState['registered']>): ApplicationSettings {
  const { redirect_uris, post_logout_redirect_uris = [], scopes, privacy_url, jwks, jwks_uri } = data;
  return { redirect_uris, post_logout_redirect_uris, scopes, privacy_url, jwks, jwks_uri };
}

/** Returns true if an application signs with keys, and therefore has no secret. */
export function hasKeys({ jwks, jwks_uri }: Pick<ApplicationSettings, 'jwks' | 'jwks_uri'>): boolean {
  return jwks !== undefined || jwks_uri !== undefined;
}
