/**
 * Pairwise ids (docs/spec/decisions.md, section 1): the same within a sector, and different from the ids of any other sector.
 */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { openPairwise } from '#src/oauth/pairwise.ts';
import type { Sector } from '#src/shared/access/sector.ts';
import { isUuid, newUuid } from '#src/shared/ids.ts';

const KEY = Buffer.alloc(32, 7);
const SECTOR: Sector = { project: 'proj_1', environment: 'sandbox', sector: 'app_1' };
const RECORD = '0198c0de-0000-7000-8000-000000000001';

describe('pairwise ids', () => {
  const { patient, subject } = openPairwise(KEY);

  it('of patients are UUIDs of version 8, unlike the ids of resources', () => {
    const id = patient(SECTOR, RECORD);
    expect(isUuid(id)).to.equal(true);
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('are HMAC-SHA256 of the sector and the record, or the person, under the key of the installation', () => {
    const input = JSON.stringify(['subject', 'proj_1', 'sandbox', 'app_1', 'https://issuer.example', 'ada']);
    const expected = createHmac('sha256', KEY).update(input).digest('base64url');
    expect(subject(SECTOR, 'https://issuer.example', 'ada')).to.equal(expected);
    expect(subject(SECTOR, 'https://issuer.example', 'ada')).to.match(/^[\w-]{43}$/);
  });

  it('are the same each time, and others for another key, project, environment, sector, record or person', () => {
    const others: Sector[] = [
      { ...SECTOR, project: 'proj_2' },
      { ...SECTOR, environment: 'production' },
      { ...SECTOR, sector: 'app_2' },
      // A name that is the id of another project's application, or parts that have been moved across a boundary.
      { ...SECTOR, project: 'proj_1sandbox', sector: 'app_1' },
      { ...SECTOR, project: 'proj_1","sandbox', sector: 'app_1' },
    ];
    const other = openPairwise(Buffer.alloc(32, 8));
    const ids = [
      patient(SECTOR, RECORD),
      ...others.map((sector) => patient(sector, RECORD)),
      patient(SECTOR, newUuid()),
      other.patient(SECTOR, RECORD),
    ];
    expect(new Set(ids)).to.have.property('size', ids.length);
    expect(patient({ ...SECTOR }, RECORD)).to.equal(ids[0]);
    const subjects = [
      subject(SECTOR, 'https://a.example', 'b'),
      ...others.map((sector) => subject(sector, 'https://a.example', 'b')),
      subject(SECTOR, 'https://a.example', 'c'),
      subject(SECTOR, 'https://b.example', 'b'),
      subject(SECTOR, 'https://a.example","b', ''),
      other.subject(SECTOR, 'https://a.example', 'b'),
    ];
    expect(new Set(subjects)).to.have.property('size', subjects.length);
  });
});
