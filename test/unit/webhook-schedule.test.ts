/** When failed deliveries are retried, how a signature is made, and what a subscriber is told about another project's write. */
import { expect } from 'chai';
import { loadConfig } from '#src/config.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING } from '#src/events/store.ts';
import { nextGap, parseRetryAfter } from '#src/reactions/webhooks/schedule.ts';
import { eventId, listAudience, viewFor } from '#src/reactions/webhooks/view.ts';

describe('the schedule of webhook deliveries', () => {
  const gaps = loadConfig({}).webhooks.retrySeconds;

  it('has ten attempts within 24 hours, each gap varied by a tenth at most', () => {
    for (const random of [0, 0.5, 0.999]) {
      let age = 0;
      let attempts = 1;
      for (;;) {
        const gap = nextGap(gaps, { attempts, age }, random);
        if (gap === undefined) break;
        const planned = gaps[attempts - 1] ?? 0;
        expect(gap).to.be.within(planned * 0.9, planned * 1.1);
        age += gap;
        attempts += 1;
      }
      expect(attempts).to.equal(10);
      expect(age).to.be.lessThan(24 * 3_600);
    }
  });

  it('honours Retry-After up to twice the gap, and ends 24 hours after the first attempt', () => {
    expect(nextGap([10, 10], { attempts: 1, age: 0, retryAfter: 15 }, 0.5)).to.equal(15);
    expect(nextGap([10, 10], { attempts: 1, age: 0, retryAfter: 500 }, 0.5)).to.equal(20);
    expect(nextGap([10, 10], { attempts: 1, age: 0, retryAfter: 1 }, 0.5)).to.equal(10);
    expect(nextGap([3_600, 3_600], { attempts: 1, age: 86_000 }, 0.5)).to.equal(400);
    expect(nextGap([3_600, 3_600], { attempts: 1, age: 86_400 }, 0.5)).to.equal(undefined);
    expect(nextGap([1], { attempts: 2, age: 0 }, 0.5)).to.equal(undefined);
  });

  it('reads Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(parseRetryAfter('120', now)).to.equal(120);
    expect(parseRetryAfter('12345678901', now)).to.equal(12_345_678_901);
    expect(parseRetryAfter('-5', now)).to.equal(undefined);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now)).to.equal(60);
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:01:00 GMT', now)).to.equal(0);
    expect(parseRetryAfter('soon', now)).to.equal(undefined);
    expect(parseRetryAfter(undefined, now)).to.equal(undefined);
  });
});

describe('the view of an event', () => {
  const owner = { project: 'proj_a', environment: 'sandbox' } as const;
  const stored: StoredEvent = {
    id: '019a0000-0000-7000-8000-000000000001',
    stream: 'record-019a0000-0000-7000-8000-00000000000a',
    revision: 3,
    position: BEGINNING,
    metadata: {
      schema_version: 1,
      recorded_at: '2026-11-21T09:30:00.123456Z',
      request_id: 'req_x',
      command_id: 'x',
      append: [0, 1],
      owner,
      credential: { kind: 'api_key', project: 'proj_b', environment: 'sandbox' },
      author: { type: 'practitioner', reference: 'Practitioner/7', display: 'Dr. Who' },
      on_behalf_of: { reference: 'Organization/8', display: 'Clinic' },
      source_system: 'ehr',
    },
    event: {
      type: 'ResourceUpdated',
      resourceType: 'Observation',
      resourceId: '019a0000-0000-7000-8000-00000000000b',
      version: 2,
      body: '{"secret":1}',
    },
  };
  const subscriber = { ...owner, patient: 'pairwise' };

  it('says of another project’s write that it is external, and by whom; the patient is the one that is known', () => {
    const view = viewFor(stored, subscriber);
    expect(view?.id).to.equal(eventId(stored.id, 'resource.updated'));
    expect(JSON.parse(view?.payload ?? '')).to.deep.equal({
      id: view?.id,
      type: 'resource.updated',
      created_at: '2026-11-21T09:30:00.123Z',
      environment: 'sandbox',
      project: 'proj_a',
      data: {
        resource_type: 'Observation',
        id: '019a0000-0000-7000-8000-00000000000b',
        patient: 'pairwise',
        version: 2,
        last_updated: '2026-11-21T09:30:00.123456Z',
        external: true,
        source: {
          author_type: 'practitioner',
          organization: 'Clinic',
          practitioner: 'Dr. Who',
          source_system: 'ehr',
        },
      },
    });
  });

  it('says of a document that its bytes are there, and nothing of what they are', () => {
    const data = {
      id: '019a0000-0000-7000-8000-00000000000c',
      patient: '019a0000-0000-7000-8000-00000000000a',
      version: 2,
      content_type: 'application/pdf',
      size: 5,
      sha256: 'ab',
      blob: 'b1',
    };
    const finalized: StoredEvent = { ...stored, event: { type: 'DocumentFinalized', data } };
    expect(listAudience(finalized)).to.deep.equal([owner]);
    const view = viewFor(finalized, subscriber);
    expect(view).to.deep.include({ type: 'document.finalized', record: data.patient });
    expect(view?.id).to.equal(eventId(stored.id, 'document.finalized'));
    expect(JSON.parse(view?.payload ?? '')).to.have.deep.property('data', {
      id: data.id,
      patient: 'pairwise',
      content_type: 'application/pdf',
      size: 5,
      sha256: 'ab',
    });
  });

  it('is told of a grant to the application’s project alone, without the person, regardless of who ended it', () => {
    const data = {
      grant_id: 'grant_1',
      application_id: 'app_1',
      project_id: 'proj_app',
      environment: 'sandbox' as const,
      patient: '019a0000-0000-8000-8000-00000000000d',
      scopes: ['patient/Observation.rs'],
      purpose: null,
      expires_at: '2027-02-19T09:30:00.123456Z',
    };
    const { project_id: project, environment, ...told } = data;
    const person = { issuer: 'https://idp.example', subject: 'mira' };
    const metadata = { ...stored.metadata, credential: { kind: 'system' as const } };
    const granted: StoredEvent = {
      ...stored,
      event: {
        type: 'ConsentGranted',
        data: {
          ...data,
          person,
          sector: 'app_1',
          subject: 'pairwise-mira',
          granted_by: 'patient',
          lang: 'en',
          sentences: ['Read your laboratory results'],
        },
      },
    };
    const revoked: StoredEvent = {
      ...stored,
      metadata,
      event: { type: 'ConsentRevoked', data: { ...data, reason: 'platform', note: 'I no longer want this' } },
    };
    for (const [event, type, rest] of [
      [granted, 'consent.granted', {}],
      [revoked, 'consent.revoked', { revoked_at: metadata.recorded_at, reason: 'platform' }],
    ] as const) {
      expect(listAudience(event)).to.deep.equal([{ project, environment }]);
      const view = viewFor(event, { project, environment });
      expect(view).to.deep.include({ type, record: '019a0000-0000-7000-8000-00000000000a' });
      expect(JSON.parse(view?.payload ?? '')).to.deep.include({ type, project, data: { ...told, ...rest } });
    }
    const expired: StoredEvent = {
      ...stored,
      event: {
        type: 'ConsentExpired',
        data: { grant_id: 'grant_1', application_id: 'app_1', project_id: project, environment },
      },
    };
    expect(listAudience(expired)).to.deep.equal([]);
  });

  it('is told of a proposal to the application’s project alone, without the person, and the Patient by the pairwise id', () => {
    const data = {
      proposal_id: 'prop_1',
      grant_id: 'grant_1',
      place: 3,
      application_id: 'app_1',
      project_id: 'proj_app',
      environment: 'sandbox' as const,
      patient: '019a0000-0000-8000-8000-00000000000d',
      resource_type: 'Condition',
    };
    const { patient, application_id, proposal_id, resource_type } = data;
    const told = { proposal_id, patient, application_id, resource_type };
    const record = '019a0000-0000-7000-8000-00000000000a';
    const tenant = { project: 'proj_app', environment: 'sandbox' as const };
    for (const [event, type, rest] of [
      [
        { type: 'ProposalAccepted', data: { ...data, resource_id: 'c1', version: 2 } },
        'proposal.accepted',
        { id: 'c1', version: 2 },
      ],
      [{ type: 'ProposalRejected', data: { ...data, note: 'mine' } }, 'proposal.rejected', {}],
      [
        {
          type: 'ProposalAccepted',
          data: { ...data, resource_type: 'Patient', resource_id: record, version: 2 },
        },
        'proposal.accepted',
        { resource_type: 'Patient', id: patient, version: 2 },
      ],
    ] as const) {
      const happened: StoredEvent = { ...stored, event };
      expect(listAudience(happened)).to.deep.equal([tenant]);
      const view = viewFor(happened, tenant);
      expect(view?.type).to.equal(type);
      expect(JSON.parse(view?.payload ?? '')).to.have.deep.property('data', { ...told, ...rest });
    }
    const { proposal_id: id, grant_id, place } = data;
    const withdrawn = { type: 'ProposalWithdrawn', data: { proposal_id: id, grant_id, place } } as const;
    expect(listAudience({ ...stored, event: withdrawn })).to.deep.equal([]);
  });

  it('is told to whose record it is; what the service itself wrote is told to nobody', () => {
    expect(listAudience(stored)).to.deep.equal([owner]);
    const bySystem = (credential: { readonly project?: string }) => ({
      ...stored,
      metadata: { ...stored.metadata, credential: { kind: 'system' as const, ...credential } },
    });
    // Filling a sandbox is done for a project; purging a personal record isn't.
    expect(listAudience(bySystem({ project: 'proj_a' }))).to.deep.equal([]);
    expect(listAudience(bySystem({}))).to.deep.equal([owner]);
  });
});
