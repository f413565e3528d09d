/**
 * Invitations: a project invites a person to be linked to a record, using a code that the project delivers itself
 * (docs/spec/decisions.md, section 9). A person who knows the code and the Patient's birth date is linked, once only.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import { recordStream } from '#src/events/streams.ts';
import { shownName } from '#src/fhir/human-name.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { Identity, PersonId } from '#src/shared/access/identity.ts';
import type { Invitation, NewInvitation } from '#src/shared/access/invitation.ts';
import { cut } from '#src/shared/cut.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { CriteriaLocks, Done, RequestContext } from '../command.ts';
import type { Streams } from '../kernel/streams.ts';
import { currentVersion } from '../resource/current.ts';
import type { Resources } from '../resource/state.ts';
import { drawSecret } from '../secret.ts';
import type { Consents, Relationship } from './consents.ts';
import { linkAs } from './links.ts';

/** The table of invitations (`src/operations/invitations.ts`). */
export interface InvitationStore {
  create(asked: NewInvitation): Promise<Invitation | undefined>;
  find(record: string, id: string): Promise<Invitation | undefined>;
  ofCode(sha256: Buffer): Promise<Invitation | undefined>;
  withdraw(id: string): Promise<void>;
  countWrong(id: string): Promise<void>;
  redeemed(id: string): Promise<void>;
  mayTry(person: Buffer): Promise<boolean>;
}

/** Dependencies of invitations. */
export interface InvitationDeps {
  readonly resources: Streams<Resources>;
  readonly locks: CriteriaLocks;
  readonly invitations: InvitationStore;
  /** Returns a project's name; undefined if the project doesn't exist or is closed. */
  readonly projectName: (id: string) => Promise<string | undefined>;
}

/** A project's request for an invitation. */
export interface InvitationAsked {
  readonly relationship: Relationship;
  /** The verified e-mail address that the person must have, if any. */
  readonly email?: string | undefined;
  /** 1 to 30. */
  readonly days: number;
}

/** Invitations as the owner's project sees them. */
export interface ProjectInvitations {
  /**
   * Invites a person to a record that the project owns. The code is shown only in this response.
   * @throws Refusal not_found for a missing Patient; invalid for a Patient without a full birth date
   */
  readonly invite: (
    by: RequestContext,
    owner: Tenant,
    record: string,
    asked: InvitationAsked,
  ) => Promise<{ readonly invitation: Invitation; readonly code: string }>;
  /**
   * Withdraws an invitation; does nothing if it has already ended.
   * @throws Refusal not_found; conflict if it was already redeemed
   */
  readonly withdraw: (record: string, id: string) => Promise<void>;
}

/** Opens the commands. */
export function openInvitations(
  deps: InvitationDeps,
): Pick<Consents, 'redeemInvitation' | 'previewInvitation'> & ProjectInvitations {
  const { invitations, locks } = deps;
  return {
    invite: (by, owner, record, asked) => invite(deps, by, owner, record, asked),
    withdraw: (record, id) =>
      locks.hold([lockName(id)], async () => {
        const found = await invitations.find(record, id);
        if (found === undefined) throw notFound('invitation', cut(id, 64));
        if (found.status === 'redeemed')
          throw new Refusal('conflict', {
            code: 'conflict',
            diagnostics: 'the invitation was redeemed; end the link instead (DELETE …/links/{link_id})',
          });
        await invitations.withdraw(id);
      }),
    redeemInvitation: (by, person, code, birthDate) => redeem(deps, by, person, { code, birthDate }),
    async previewInvitation(person, code) {
      const found = await invitations.ofCode(sha256(code));
      if (found?.status !== 'pending' || !isFor(found, person)) return undefined;
      const [patient, project] = [
        await readPatient(deps, found.record),
        await deps.projectName(found.project),
      ];
      return patient === undefined || project === undefined
        ? undefined
        : { given: givenName(patient), project };
    },
  };
}

async function invite(
  deps: InvitationDeps,
  by: RequestContext,
  { project, environment }: Tenant,
  record: string,
  { relationship, email, days }: InvitationAsked,
): Promise<{ readonly invitation: Invitation; readonly code: string }> {
  const patient = await readPatient(deps, record);
  if (patient === undefined) throw notFound('Patient', record);
  if (fullBirthDate(patient) === undefined)
    throw new Refusal('invalid', {
      code: 'business-rule',
      diagnostics:
        'the Patient has no full birth date (YYYY-MM-DD), which the person must enter; add it and retry',
    });
  const code = (await drawSecret(by)).subarray(0, 16).toString('base64url');
  const invitation = await deps.invitations.create({
    id: by.ids.prefixed('inv_'),
    sha256: sha256(code),
    project,
    environment,
    record,
    relationship,
    email: email?.toLowerCase() ?? null,
    days,
  });
  if (invitation === undefined) throw notFound('Patient', record);
  return { invitation, code };
}

async function redeem(
  deps: InvitationDeps,
  by: RequestContext,
  person: Identity,
  { code, birthDate }: { readonly code: string; readonly birthDate: string },
): Promise<Done<{ readonly linkId: string; readonly patient: string }>> {
  const { invitations, locks } = deps;
  if (!(await invitations.mayTry(personHash(person)))) throw tooMany();
  const key = sha256(code);
  const first = await invitations.ofCode(key);
  if (first === undefined) throw unknown();
  // One attempt at a time across all instances, so that every attempt is counted and only one person is linked.
  return locks.hold([lockName(first.id)], async () => {
    const found = await invitations.ofCode(key);
    if (found === undefined || !isOpen(found, person, by)) throw unknown();
    const patient = await readPatient(deps, found.record);
    if (patient === undefined) throw unknown();
    if (!isSameText(birthDate, fullBirthDate(patient) ?? '')) {
      await invitations.countWrong(found.id);
      throw wrongBirthDate();
    }
    const { result, wrote } = await linkAs(deps.resources, by, found.record, {
      linkId: makeLinkId(found.id),
      person,
      relationship: found.relationship,
      via: 'invitation',
    }).catch(async (error: unknown) => {
      if (!(error instanceof Refusal) || error.kind !== 'not_found') throw error;
      // An earlier attempt linked another person and crashed before it recorded that in this table.
      await invitations.redeemed(found.id);
      throw unknown();
    });
    await invitations.redeemed(found.id);
    return { result: { linkId: result.linkId, patient: found.record }, wrote };
  });
}

/** Returns true if a person may redeem an invitation. A retry of the request that redeemed it gets the same result. */
function isOpen(invitation: Invitation, person: Identity, { retry }: RequestContext): boolean {
  const { status } = invitation;
  const isRetried = status === 'redeemed' && (retry?.earlier.size ?? 0) > 0;
  return (status === 'pending' || isRetried) && isFor(invitation, person);
}

/** Returns true if an invitation names no address, or names the person's verified address. */
function isFor({ email }: Pick<Invitation, 'email'>, person: Identity): boolean {
  return email === null || (person.emailVerified && person.email?.toLowerCase() === email);
}

/** The link's id is derived from the invitation, so that an invitation can create only one link. */
function makeLinkId(invitationId: string): string {
  return `link_${hash('sha256', `link of ${invitationId}`, 'buffer').subarray(0, 16).toString('base64url')}`;
}

const lockName = (id: string): string => `invitation ${id}`;

function sha256(code: string): Buffer {
  return hash('sha256', code, 'buffer');
}

function personHash({ issuer, subject }: PersonId): Buffer {
  return hash('sha256', JSON.stringify([issuer, subject]), 'buffer');
}

/** Compares text in constant time. */
function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** Returns the record's live Patient; undefined if the Patient is deleted or purged. */
async function readPatient({ resources }: InvitationDeps, record: string): Promise<JsonObject | undefined> {
  try {
    const { body } = await currentVersion(resources, recordStream(record), 'Patient', record);
    const patient: unknown = body === undefined ? undefined : JSON.parse(body);
    return isObject(patient) ? patient : undefined;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'not_found') return undefined;
    throw error;
  }
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function fullBirthDate({ birthDate }: JsonObject): string | undefined {
  return typeof birthDate === 'string' && DAY.test(birthDate) ? birthDate : undefined;
}

/** Returns only the given name: nobody sees more before entering the birth date. */
function givenName({ name }: JsonObject): string {
  const [first] = Array.isArray(name) ? name.filter(isObject) : [];
  return shownName(first === undefined ? undefined : [{ given: first.given ?? [] }]) ?? '';
}

/** Returns the same refusal for every code that can't be redeemed. */
function unknown(): Refusal {
  return new Refusal('not_found', {
    code: 'not-found',
    diagnostics: 'the invitation is unknown, used, withdrawn or expired; ask for a new one',
    expression: 'code',
  });
}

function wrongBirthDate(): Refusal {
  return new Refusal('invalid', {
    code: 'value',
    diagnostics:
      "the birth date doesn't match the patient's; after five wrong attempts the invitation is closed",
    expression: 'birth_date',
  });
}

function tooMany(): Refusal {
  return new Refusal(
    'throttled',
    { code: 'throttled', diagnostics: 'at most ten invitations can be redeemed in an hour; retry later' },
    { 'Retry-After': '3600' },
  );
}
