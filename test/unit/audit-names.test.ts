import { expect } from 'chai';
import { credentialLabel, nameCredentials, unnamed } from '#src/audit/names.ts';
import type { DomainEvent } from '#src/events/catalog.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { made } from '#test/projections/made.ts';
import { recorded } from '#test/support/audit-files.ts';

const person = { issuer: 'https://id.example', subject: 's-1', email: 'mira@example.org' };
const key = {
  name: 'nightly import',
  environment: 'sandbox',
  scopes: ['read'],
  sha256: 'x',
  last4: 'a1b2',
  expires_at: null,
} as const;

describe('names of credentials, from the log', () => {
  const streams: Readonly<Record<string, readonly DomainEvent[]>> = {
    'project-proj_1': [
      { type: 'ProjectCreated', data: { project_id: 'proj_1', organization_id: 'org_1', name: 'One' } },
      { type: 'ApiKeyCreated', data: { ...key, scopes: [...key.scopes], key_id: 'key_1' } },
      { type: 'ApiKeyRevoked', data: { key_id: 'key_1' } },
    ],
    'application-app_1': [
      {
        type: 'ApplicationRegistered',
        data: {
          application_id: 'app_1',
          project_id: 'proj_1',
          name: 'Hearty',
          kind: 'confidential',
          client_id: 'client_1',
          environment: 'sandbox',
          redirect_uris: [],
          scopes: [],
          grant_types: ['client_credentials'],
        },
      },
    ],
    'organization-org_1': [
      { type: 'OrganizationCreated', data: { organization_id: 'org_1', name: 'Org', founder: person } },
    ],
  };
  const read = (stream: string): AsyncIterable<RecordedEvent> =>
    recorded(
      stream,
      (streams[stream] ?? []).map((event) => made(event)),
    );
  const labels = async (
    credentials: readonly Parameters<typeof unnamed>[0][],
    from: typeof read = read,
  ): Promise<string[]> => {
    const items = credentials.map((credential) => ({ credential: unnamed(credential) }));
    return (await nameCredentials(from, items)).map(({ credential }) => credentialLabel(credential));
  };
  const byKey = { kind: 'api_key', key_id: 'key_1', project: 'proj_1', environment: 'sandbox' } as const;
  const byPerson = { kind: 'id_token', issuer: person.issuer, subject: 's-1', project: 'proj_1' } as const;

  it('are the key’s name and last four characters, also when it is revoked, a person’s address, the service', async () => {
    expect(await labels([byKey, byPerson, { kind: 'system' }])).to.deep.equal([
      'nightly import (…a1b2)',
      'mira@example.org',
      'the service',
    ]);
  });

  it('are the application’s name for its tokens', async () => {
    const byClient = { kind: 'client', application: 'app_1', project: 'proj_1' } as const;
    const byGrant = { kind: 'grant', application: 'app_2', grant_id: 'grant_1' } as const;
    expect(await labels([byClient, byGrant])).to.deep.equal(['Hearty', 'app_2']);
  });

  it('are ids where the log does not say, or cannot be read', async () => {
    const unknown = { ...byKey, key_id: 'key_2' };
    const other = { ...byPerson, subject: 's-2' };
    expect(await labels([unknown, other])).to.deep.equal(['key_2', 's-2']);
    const broken = async function* (stream: string): AsyncGenerator<RecordedEvent> {
      for await (const event of read(stream)) yield { ...event, data: '{' };
    };
    expect(await labels([byKey], broken)).to.deep.equal(['key_1']);
  });
});
