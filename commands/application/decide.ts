/** Decisions about OAuth applications. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { type ProductionRule, requireAccess } from '../project/production.ts';
import type { ProjectState } from '../project/state.ts';
import type { ApplicationSettings, ApplicationState, Branding } from './state.ts';

export type Registered = Extract<PlainEvent, { type: 'ApplicationRegistered' }>['data'];

/**
 * Registers an application in a project.
 * @param owner the current project; no other decision on it may be made in the meantime
 * @param rule which projects get production access
 * @throws Refusal not_found for a missing or closed project; forbidden for production access that an operator must allow first
 */
export function register(
  data: Registered,
  owner: Readonly<ProjectState>,
  rule: ProductionRule = { access: 'open' },
) {
  return ({ status }: ApplicationState): PlainEvent[] => {
    const { project_id, environment } = data;
    requireAccess(owner, project_id, { ...rule, what: 'applications', environment });
    if (status !== 'none') throw new TypeError(`${data.application_id} already exists`);
    return [{ type: 'ApplicationRegistered', data }];
  };
}

/** New values for settings: undefined leaves a setting unchanged; null removes `privacy_url`. */
export type Change = {
  readonly [Name in Exclude<keyof ApplicationSettings, 'privacy_url'>]?:
    | ApplicationSettings[Name]
    | undefined;
} & { readonly privacy_url?: string | null | undefined };

/**
 * Changes an application's settings. Keys replace both earlier keys and the secret. Values that are the same as before change
 * nothing.
 */
export function change(id: string, asked: Change) {
  return (state: ApplicationState): PlainEvent[] => {
    requireThere(state, id);
    const { settings } = state;
    const replacesKeys = asked.jwks !== undefined || asked.jwks_uri !== undefined;
    const { jwks, jwks_uri } = replacesKeys ? asked : settings;
    const privacy = asked.privacy_url === undefined ? settings.privacy_url : (asked.privacy_url ?? undefined);
    const data: ApplicationSettings = {
      redirect_uris: asked.redirect_uris ?? settings.redirect_uris,
      post_logout_redirect_uris: asked.post_logout_redirect_uris ?? settings.post_logout_redirect_uris,
      scopes: asked.scopes ?? settings.scopes,
      ...(privacy === undefined ? {} : { privacy_url: privacy }),
      ...(jwks === undefined ? {} : { jwks }),
      ...(jwks_uri === undefined ? {} : { jwks_uri }),
    };
    return isDeepStrictEqual(data, withoutAbsent(settings)) ? [] : [{ type: 'ApplicationChanged', data }];
  };
}

/** Replaces an application's branding. */
export function brand(id: string, { logo_uri, client_uri, tos_uri, color, logo }: Branding) {
  return (state: ApplicationState): PlainEvent[] => {
    requireThere(state, id);
    const { branding } = state;
    const same =
      branding.logo_uri === logo_uri &&
      branding.client_uri === client_uri &&
      branding.tos_uri === tos_uri &&
      branding.color === color &&
      branding.logo?.sha256 === logo?.sha256;
    return same ? [] : [{ type: 'ApplicationBranded', data: { logo_uri, client_uri, tos_uri, color, logo } }];
  };
}

/**
 * Replaces the client secret. The previous secret keeps working for the overlap; all earlier secrets stop working.
 * @param sha256 SHA-256 of the new secret, in hex
 * @param overlap in microseconds; 0 ends the previous secret at once
 * @throws Refusal conflict for an application without a secret
 */
export function rotateSecret(id: string, sha256: string, { overlap, now }: { overlap: Micros; now: Micros }) {
  return (state: ApplicationState): PlainEvent[] => {
    requireThere(state, id);
    const { secrets } = state;
    if (secrets === undefined) {
      throw new Refusal('conflict', {
        code: 'business-rule',
        diagnostics: 'this application has no secret: it is public, or it signs with keys',
      });
    }
    if (secrets.sha256 === sha256) return [];
    const previous = { sha256: secrets.sha256, until: toInstant(now + overlap) };
    const data = { secret_sha256: sha256, ...(overlap > 0 ? { previous } : {}) };
    return [{ type: 'ApplicationSecretRotated', data }];
  };
}

/** Marks an application as trusted or no longer trusted, for an operator. */
export function trust(id: string, trusted: boolean) {
  return (state: ApplicationState): PlainEvent[] => {
    requireThere(state, id);
    return state.trusted === trusted ? [] : [{ type: 'ApplicationTrusted', data: { trusted } }];
  };
}

/** Deletes it. */
export function remove(id: string) {
  return (state: ApplicationState): PlainEvent[] => {
    requireThere(state, id);
    return [{ type: 'ApplicationDeleted', data: { application_id: id } }];
  };
}

function requireThere({ status }: ApplicationState, id: string): void {
  if (status !== 'registered') throw notFound('application', id);
}

/** Returns the settings without undefined members. */
function withoutAbsent(settings: ApplicationSettings): object {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
