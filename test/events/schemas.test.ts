/**
 * The schema of every version of every event type, and the streams that each type is written to, are frozen (`schemas/`). If
 * either changed without a new version, instances on the same version would misread events. A member's documentation may
 * change.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { z } from 'zod';
import { CATALOG, type EventType } from '#src/events/catalog.ts';

const FOLDER = new URL('./schemas/', import.meta.url);
/** Maps a file to its SHA-256 in hex. A new version adds a line; existing lines never change. */
const FROZEN = 'sha256.json';

const types = Object.keys(CATALOG) as EventType[];
const fileOf = (type: EventType, version: number): string => `${type}.v${version}.json`;
const text = (file: string): string => readFileSync(new URL(file, FOLDER), 'utf8');

/** Returns the current form of a type, without descriptions. */
function formOf(type: EventType): object {
  const { streams, data } = CATALOG[type];
  const schema = z.toJSONSchema(data, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.description;
    },
  });
  return { streams, schema };
}

/** Adds files for versions that don't have one; never changes an existing file. */
function addMissing(): void {
  const digests = existsSync(new URL(FROZEN, FOLDER)) ? JSON.parse(text(FROZEN)) : {};
  for (const type of types) {
    const file = fileOf(type, CATALOG[type].version);
    if (existsSync(new URL(file, FOLDER))) continue;
    const form = `${JSON.stringify(formOf(type), undefined, 2)}\n`;
    writeFileSync(new URL(file, FOLDER), form);
    digests[file] = createHash('sha256').update(form).digest('hex');
  }
  writeFileSync(new URL(FROZEN, FOLDER), `${JSON.stringify(digests, undefined, 2)}\n`);
}

describe('schemas of every version of events', () => {
  before(() => {
    if (process.env.ANNAL_WRITE_SCHEMAS !== undefined) addMissing();
  });
  const files = () => readdirSync(FOLDER).filter((file) => file !== FROZEN);

  it('have a file each', () => {
    const wanted = types.flatMap((type) =>
      Array.from({ length: CATALOG[type].version }, (_, before) => fileOf(type, before + 1)),
    );
    expect(files().sort()).to.deep.equal(wanted.sort());
  });

  it('never change once written', () => {
    const digests = files().map((file) => [file, createHash('sha256').update(text(file)).digest('hex')]);
    expect(Object.fromEntries(digests)).to.deep.equal(JSON.parse(text(FROZEN)));
  });

  for (const type of types)
    it(`are the catalogue's, unless its version is raised: ${type}`, () => {
      const file = fileOf(type, CATALOG[type].version);
      const why = `${type} changed without a new version; see "Changing an event" in CONTRIBUTING.md`;
      expect(formOf(type), why).to.deep.equal(JSON.parse(text(file)));
    });

  it('show an optional member, another value, a tighter bound and another stream', () => {
    const { data, streams } = CATALOG.ApiKeyRevoked;
    const before = JSON.stringify(formOf('ApiKeyRevoked'));
    const changes = [
      { data: data.extend({ reason: z.string().optional() }) },
      { data: data.extend({ key_id: z.string().max(20) }) },
      { data: data.extend({ key_id: z.enum(['a', 'b']) }) },
      { streams: 'application-' },
    ];
    const forms = changes.map((change) => {
      Object.assign(CATALOG.ApiKeyRevoked, change);
      const form = JSON.stringify(formOf('ApiKeyRevoked'));
      Object.assign(CATALOG.ApiKeyRevoked, { data, streams });
      return form;
    });
    expect(new Set([before, ...forms])).to.have.property('size', changes.length + 1);
    Object.assign(CATALOG.ApiKeyRevoked, { data: data.describe('an explanation') });
    const described = JSON.stringify(formOf('ApiKeyRevoked'));
    Object.assign(CATALOG.ApiKeyRevoked, { data, streams });
    expect(described).to.equal(before);
  });
});
