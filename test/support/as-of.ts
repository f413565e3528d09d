/** Random histories of records, with answers that are recorded at certain times and later requested as of those times. */
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import type { InProcess } from './in-process.ts';

/** A query whose answer is recorded. */
export interface Question {
  /** The path in the FHIR interface or REST v1. */
  readonly path: string;
  /** Of a POST. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The credential. */
  readonly key: string;
}

/** A recorded answer, and its time. */
export interface Recorded {
  readonly question: Question;
  readonly at: string;
  readonly answer: string;
}

/** Random numbers from a seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns an integer from 0 up to, but not including, `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % end;
  }

  one<T>(all: readonly T[]): T {
    const found = all[this.below(all.length)];
    if (found === undefined) throw new RangeError('nothing to choose from');
    return found;
  }
}

/** Maximum number of pages of an answer to follow. */
const MOST_PAGES = 4;

/**
 * Sends a query and the queries for its next pages, and returns everything that must stay the same: status, version headers,
 * bodies.
 */
export async function ask(
  service: InProcess,
  { path, body, key }: Question,
  asOf?: string,
  mostPages = MOST_PAGES,
): Promise<string> {
  const isFhir = !path.startsWith('/v1');
  const url = new URL((isFhir ? service.base : service.url) + path);
  if (asOf !== undefined && body === undefined) url.searchParams.set(isFhir ? '_asOf' : 'as_of', asOf);
  const pages: string[] = [];
  for (let next: string | undefined = url.href; next !== undefined && pages.length < mostPages; ) {
    const sent: Response = await fetch(next, {
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(asOf === undefined ? body : { ...body, as_of: asOf }) }),
    });
    const text = await sent.text();
    const headers = ['content-type', 'etag', 'last-modified'].map((name) => sent.headers.get(name));
    pages.push([sent.status, ...headers, shown(text)].join('\n'));
    next = nextPage(url, text);
  }
  return pages.join('\n\n');
}

/** Returns an answer without links, cursors, and the time at which a summary was created. */
function shown(text: string): string {
  const plain = text
    .replace(/"link":\[\{"relation"[^\]]*\],?/, '')
    .replace(/"next_cursor":"[^"]*"/, '"next_cursor":"…"')
    .replace(/"request_id":"[^"]*"/, '');
  if (!plain.startsWith('{"resourceType":"Bundle"') || !plain.includes('"type":"document"')) return plain;
  return plain
    .replace(/^\{"resourceType":"Bundle","id":"([^"]*)"/, '{"resourceType":"Bundle"')
    .replace(/"timestamp":"[^"]*"/, '')
    .replaceAll(ownId(text), '…')
    .replaceAll(new RegExp(`"date":"${made(text)}"`, 'g'), '')
    .replace(/Made<\/[^>]*>\s*<[^>]*>[^<]*/g, 'Made');
}

function ownId(text: string): string {
  return /^\{"resourceType":"Bundle","id":"([^"]*)"/.exec(text)?.[1] ?? '…';
}

function made(text: string): string {
  return /"timestamp":"([^"]*)"/.exec(text)?.[1] ?? '…';
}

function nextPage(url: URL, text: string): string | undefined {
  const link = /\{"relation":"next","url":"([^"]*)"/.exec(text)?.[1];
  if (link !== undefined) return link;
  const cursor = /"next_cursor":"([^"]*)"/.exec(text)?.[1];
  if (cursor === undefined) return undefined;
  const next = new URL(url);
  next.searchParams.set('cursor', cursor);
  return next.href;
}

/** Returns the current time; nothing may be written at this moment. */
export function moment(): string {
  return toInstant(nowMicros());
}

interface Living {
  readonly type: string;
  readonly id: string;
  body: Record<string, unknown>;
  isDeleted: boolean;
}

const CODES = ['718-7', '4548-4', '8867-4'];
const TOKENS = ['laboratory', 'vital-signs'];

/** A record, its directory, and everything that has been written to them. */
export class Life {
  readonly resources: Living[] = [];
  readonly directory: Living[] = [];
  #patient = '';

  constructor(
    private readonly service: InProcess,
    private readonly key: string,
    private readonly chance: Chance,
  ) {}

  get patient(): string {
    return this.#patient;
  }

  /** Creates the Patient and some directory entries. */
  async begin(): Promise<void> {
    for (const name of ['Ada', 'Bo'])
      this.directory.push(
        await this.#create({ resourceType: 'Practitioner', name: [{ family: name }], active: true }),
      );
    for (const text of ['Metformin', 'Warfarin'])
      this.directory.push(await this.#create({ resourceType: 'Medication', code: { text } }));
    const made = await this.#create({
      resourceType: 'Patient',
      name: [{ family: 'Sand', given: ['Mira'] }],
      birthDate: '1961-05-14',
    });
    this.resources.push(made);
    this.#patient = made.id;
  }

  /** Writes something. */
  async step(): Promise<void> {
    const { chance } = this;
    const act = chance.below(10);
    if (act < 5) {
      this.resources.push(await this.#create(this.#resource(chance.below(8))));
    } else if (act < 8) {
      const living = chance.one(this.resources.filter(({ isDeleted }) => !isDeleted));
      await this.#update(living);
    } else if (act < 9) {
      const entry = chance.one(this.directory);
      await this.#update(entry);
    } else {
      const living = this.resources.filter(({ type, isDeleted }) => !isDeleted && type !== 'Patient');
      if (living.length > 2) await this.#remove(chance.one(living));
    }
  }

  /** Deletes the Patient, or restores it. */
  async removePatient(): Promise<void> {
    const [patient] = this.resources;
    if (patient !== undefined) await this.#remove(patient);
  }

  async restorePatient(): Promise<void> {
    const [patient] = this.resources;
    if (patient !== undefined) await this.#update(patient);
  }

  #resource(kind: number): Record<string, unknown> {
    const { chance } = this;
    const subject = { reference: `Patient/${this.#patient}` };
    const [performer, other] = this.directory.filter(({ type }) => type === 'Practitioner');
    const practitioner = { reference: `Practitioner/${chance.below(2) === 0 ? performer?.id : other?.id}` };
    const medications = this.directory.filter(({ type }) => type === 'Medication');
    const day = `2026-0${1 + chance.below(9)}-1${chance.below(10)}`;
    const code = chance.one(CODES);
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return {
          resourceType: 'Observation',
          status: 'final',
          category: [
            {
              coding: [
                {
                  system: 'http://terminology.hl7.org/CodeSystem/observation-category',
                  code: chance.one(TOKENS),
                },
              ],
            },
          ],
          code: { coding: [{ system: 'http://loinc.org', code }] },
          subject,
          performer: [practitioner],
          effectiveDateTime: `${day}T08:00:00+01:00`,
          valueQuantity: {
            value: 5 + chance.below(100) / 10,
            unit: '%',
            system: 'http://unitsofmeasure.org',
            code: '%',
          },
        };
      case 3:
        return {
          resourceType: 'Condition',
          clinicalStatus: {
            coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
          },
          code: { text: chance.one(['Gout', 'Asthma', 'Migraine']) },
          subject,
          onsetDateTime: day,
        };
      case 4:
        return {
          resourceType: 'MedicationStatement',
          status: 'active',
          medicationReference: { reference: `Medication/${chance.one(medications).id}` },
          subject,
          effectivePeriod: { start: day },
        };
      case 5:
        return {
          resourceType: 'MedicationRequest',
          status: 'active',
          intent: 'order',
          medicationReference: { reference: `Medication/${chance.one(medications).id}` },
          subject,
          requester: practitioner,
          authoredOn: day,
        };
      case 6:
        return {
          resourceType: 'AllergyIntolerance',
          clinicalStatus: {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' },
            ],
          },
          code: { text: chance.one(['Penicillin', 'Nuts']) },
          patient: subject,
        };
      default:
        return {
          resourceType: 'DocumentReference',
          status: 'current',
          type: { coding: [{ system: 'http://loinc.org', code: '11506-3' }] },
          subject,
          date: `${day}T08:00:00Z`,
          content: [{ attachment: { contentType: 'text/plain', url: 'https://example.org/note' } }],
        };
    }
  }

  /** Returns a changed body. The category stays the same, because it determines what a grant covers. */
  #changed({ type, body, id }: Living): Record<string, unknown> {
    const { chance } = this;
    const n = chance.below(1_000);
    const next: Record<string, unknown> = { ...body, id };
    switch (type) {
      case 'Patient':
        next.name = [{ family: `Sand${n}`, given: ['Mira'] }];
        break;
      case 'Practitioner':
        next.name = [{ family: `Ada${n}` }];
        break;
      case 'Medication':
        next.code = { text: `Metformin ${n}` };
        break;
      case 'Observation':
        if (chance.below(4) === 0) next.status = chance.one(['entered-in-error', 'amended']);
        next.code = { coding: [{ system: 'http://loinc.org', code: chance.one(CODES) }] };
        next.effectiveDateTime = `2026-0${1 + chance.below(9)}-0${1 + chance.below(9)}T09:00:00Z`;
        next.valueQuantity = { ...(body.valueQuantity as object), value: n / 10 };
        break;
      case 'Condition':
        next.clinicalStatus = {
          coding: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/condition-clinical',
              code: chance.one(['active', 'resolved']),
            },
          ],
        };
        next.code = { text: `Gout ${n}` };
        break;
      case 'MedicationStatement':
      case 'MedicationRequest':
        next.status = chance.one(['active', 'stopped']);
        break;
      case 'AllergyIntolerance':
        next.code = { text: `Nuts ${n}` };
        break;
      default:
        next.description = `Note ${n}`;
    }
    return next;
  }

  async #create(body: Record<string, unknown>): Promise<Living> {
    const headers = this.#author();
    const { id } = (await this.#send('POST', `/${String(body.resourceType)}`, body, headers)).json as {
      id: string;
    };
    return { type: String(body.resourceType), id, body, isDeleted: false };
  }

  async #update(living: Living): Promise<void> {
    living.body = this.#changed(living);
    living.isDeleted = false;
    await this.#send('PUT', `/${living.type}/${living.id}`, living.body, this.#author());
  }

  async #remove(living: Living): Promise<void> {
    living.isDeleted = true;
    await this.#send('DELETE', `/${living.type}/${living.id}`);
  }

  #author(): Record<string, string> {
    return this.chance.below(8) === 0 ? { 'X-Service-Author-Type': 'ai' } : {};
  }

  async #send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await this.service.fhir(path, {
      method,
      headers,
      key: this.key,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer}`);
    return answer;
  }
}
