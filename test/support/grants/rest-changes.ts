/** Random writes under a grant through REST v1: items, demographics, documents and their bytes, and laboratory results. */
import { type Ground, targetOf } from './changes.ts';
import { escapedJson, fuzzed } from './fuzz.ts';
import type { Change, Verdict } from './ledger.ts';
import type { Picks } from './requests.ts';
import { CATEGORIES, type WorldType } from './world.ts';
import type { Request } from './write-check.ts';

/** A write, and what must be read back afterwards. */
export interface RestSent {
  readonly change: Change;
  readonly request: Request;
  /** A text that was sent, in its JSON form. */
  readonly text: string;
  /** The path below `/v1`, without an id. */
  readonly items: string;
  /** Replaces the ledger's verdict. */
  readonly verdict?: Verdict;
}

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const ITEMS = {
  Observation: 'observations',
  Condition: 'conditions',
  MedicationStatement: 'medications',
  DocumentReference: 'documents',
} as const satisfies Partial<Record<WorldType, string>>;
type ItemType = keyof typeof ITEMS;
const TYPES = Object.keys(ITEMS) as readonly ItemType[];

/**
 * Returns a write.
 * @param uploads ids of documents that the application has created and not yet uploaded
 */
export function restChangeOf(ground: Ground, picks: Picks, uploads: readonly string[]): RestSent {
  const { world, ledger, ids, another, isReal } = ground;
  // A name in REST v1 must not end with a space.
  const text = `${another()} ${fuzzed(ids, picks, isReal)}`.trimEnd();
  const [identifier = ''] = text.split(' ');
  const escapes = picks.below(256);
  const common = { identifier, isInRecord: true, isStale: false };
  const json = (method: string, url: string, body: object): Request => ({
    ...{ method, url: `/v1${url}`, body: escapedJson(body, escapes) },
    headers: { 'Content-Type': 'application/json' },
  });
  const patients = [
    ids.patient,
    ids.patient,
    ids.patient,
    ids.patient,
    world.other,
    isReal ? ids.record : UNKNOWN,
  ];
  const patient = picks.of(patients);
  const isInRecord = patient === ids.patient;
  const way = picks.below(8);
  if (way === 0) {
    const change: Change = {
      ...common,
      interaction: 'update',
      type: 'Patient',
      // The real id is unknown to the application.
      id: isInRecord ? ids.record : patient === ids.record ? UNKNOWN : patient,
    };
    return {
      change,
      text,
      items: 'patients',
      request: json('PUT', `/patients/${patient}`, { family: 'Sand', given: text }),
    };
  }
  if (way === 1) {
    const id = targetOf(ground, picks, new Set([ids.record])) ?? UNKNOWN;
    const type = TYPES.find((each) => each === ledger.held.get(id)?.type) ?? picks.of(TYPES);
    const items = type === 'DocumentReference' ? 'conditions' : ITEMS[type];
    const change: Change = {
      ...common,
      interaction: 'delete',
      type: type === 'DocumentReference' ? 'Condition' : type,
      id,
    };
    return { change, text, items, request: { method: 'DELETE', url: `/v1/${items}/${id}` } };
  }
  const [upload] = uploads;
  if (way < 4 && upload !== undefined) {
    const change: Change = { ...common, interaction: 'update', type: 'DocumentReference', id: upload };
    const url = `/v1/documents/${upload}/content`;
    const after = ledger.held.get(upload);
    return {
      ...{ change, text, items: 'content' },
      request: { method: 'PUT', url, headers: { 'Content-Type': 'text/plain' }, body: text },
      ...(after === undefined ? {} : { verdict: { is: 'written', id: upload, after } as const }),
    };
  }
  const at = `2026-04-0${1 + picks.below(9)}T08:00:00Z`;
  // A laboratory result with the same time and value would count as the same result.
  const value = Number(identifier.replace(/\D/g, ''));
  const observed = { code: '718-7', effective_at: at, value, unit: 'g/dL', note: text };
  if (way === 4) {
    const change: Change = {
      ...common,
      interaction: 'create',
      type: 'Observation',
      categories: ['laboratory'],
      isInRecord,
    };
    const request = json('POST', `/patients/${patient}/labs/import`, { items: [observed] });
    return { change, text, items: 'labs', request };
  }
  const type = picks.of(TYPES);
  const category = picks.of(CATEGORIES);
  const bodies: Readonly<Record<ItemType, object>> = {
    Observation: { ...observed, category },
    Condition: { code: 'E11.9', onset: '2020-01-01', note: text },
    MedicationStatement: { code: 'A10BA02', start: '2026-01-01', note: text },
    DocumentReference: { title: text, content_type: 'text/plain' },
  };
  const change: Change = {
    ...{ ...common, interaction: 'create', type, isInRecord },
    categories: type === 'Observation' ? [category] : [],
  };
  return {
    change,
    text,
    items: ITEMS[type],
    request: json('POST', `/patients/${patient}/${ITEMS[type]}`, bodies[type]),
  };
}
