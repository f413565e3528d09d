/** Creates data of a project that other projects must not see: ids of every kind, and texts that reveal a leak. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, printJson } from '#src/shared/json/json.ts';
import type { InProcess } from '#test/support/in-process.ts';
import {
  MARKER_SYSTEM,
  RECORD_TYPES,
  sample,
  sampleProvenance,
  type WRITABLE_TYPES,
} from '#test/support/samples.ts';

/** A text that is in each of the project's resources, and in nothing that others send. */
export const SECRET = 'Zq7-secret';

/** A resource's id, and other names for it. */
export interface Named {
  readonly type: string;
  readonly id: string;
  /** The value of the resource's identifier in `MARKER_SYSTEM`. If it has no such identifier, a value that no resource has. */
  readonly marker: string;
}

/** A project's content. */
export interface Theirs {
  readonly named: readonly Named[];
  /** Ids that must not appear in any response to another project, unless the request contained them. */
  readonly ids: ReadonlySet<string>;
  /** The link to the second page of the project's listing of Patients. */
  readonly next: string;
}

/** Returns names in the same form as the project's names, but for a resource that never existed. */
export function neverLike({ type }: Named): Named {
  return { type, id: newUuid(), marker: `n${newUuid()}` };
}

/**
 * Uses a key to write resources of every type and kind: live, updated, deleted, automatic, carried, and a client's own
 * Provenance.
 */
export async function writeTheirs(service: InProcess, key: string): Promise<Theirs> {
  const named: Named[] = [];
  const send = async (path: string, body: string, method = 'POST') => {
    const answer = await service.fhir(path, { method, body, key });
    expect(answer.status, answer.text).to.be.lessThan(300);
    return answer;
  };
  const create = async (type: (typeof WRITABLE_TYPES)[number], refs: Parameters<typeof sample>[1]) => {
    const marker = `t${newUuid()}`;
    const { json } = await send(`/${type}`, printJson(sample(type, refs, { marker, text: SECRET })));
    named.push({ type, id: String(json.id), marker });
    return `${type}/${String(json.id)}`;
  };
  const practitioner = await create('Practitioner', {});
  const organization = await create('Organization', {});
  const location = await create('Location', { organization });
  const patient = await create('Patient', { practitioner, organization });
  await create('Patient', {});
  const refs = { patient, practitioner, organization, location };
  const encounter = await create('Encounter', refs);
  for (const type of [...RECORD_TYPES, 'PractitionerRole', 'Medication'] as const)
    if (type !== 'Encounter') await create(type, { ...refs, encounter });
  const gone = await create('Observation', refs);
  expect((await service.fhir(`/${gone}`, { method: 'DELETE', key })).status).to.equal(204);
  const own = await send('/Provenance', printJson(sampleProvenance([patient], practitioner)));
  named.push({ type: 'Provenance', id: String(own.json.id), marker: `t${newUuid()}` });
  const made = await service.fhir(`/Provenance?target=${gone}&_count=1`, { key });
  named.push({ type: 'Provenance', id: firstId(made.json.entry), marker: `t${newUuid()}` });
  const page = await service.fhir('/Patient?_count=1', { key });
  const next = /"relation":"next","url":"([^"]+)"/.exec(page.text)?.[1];
  if (next === undefined) throw new Error('there should be a second page');
  const everything = await service.fhir('/_history?_count=200', { key });
  const ids = [...everything.text.matchAll(/"id":"([0-9a-f-]{36})"/g)].map(([, id = '']) => id);
  return { named, ids: new Set([...ids, ...named.map(({ id }) => id)]), next };
}

function firstId(entries: unknown): string {
  const [first] = Array.isArray(entries) ? entries : [];
  const resource = isObject(first) && isObject(first.resource) ? first.resource : {};
  return String(resource.id);
}

/** Returns a marker as `system|value`. */
export const token = (marker: string): string => encodeURIComponent(`${MARKER_SYSTEM}|${marker}`);
