/**
 * Handles reports under a grant. Their ids are exchanged after they have been read, because before that, HL7 escapes and table
 * quotes could hide an id (docs/spec/decisions.md, section 1).
 */
import type { Draft, Labs } from '#src/labs/labs.ts';
import { isObject, type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import type { Edge } from '../../edge/edge.ts';
import { resourceIn } from '../record.ts';

/** How a report is read: with real ids, or before ids are exchanged. */
export interface Reading {
  /** The Patient's id. */
  readonly patient: string;
  /** Returns the Patient to compare the report with. */
  readonly stored: (body: string) => JsonObject;
  /**
   * Returns a report with real ids.
   * @throws Refusal from reading the report, with the ids in its text exchanged
   */
  readonly inward: (read: () => Promise<Labs>) => Promise<Labs>;
}

/** Returns how to read a report that has the ids that the application knows. */
export function outside(edge: Edge): Reading {
  return {
    patient: edge.grant.patient,
    stored: (body) => resourceIn(edge.outward(body)),
    inward: async (read) => withRealIds(await edge.refusingLater(read), edge),
  };
}

/** Returns how to read a report that has real ids. */
export function inside(patient: string): Reading {
  return { patient, stored: resourceIn, inward: (read) => read() };
}

function withRealIds({ drafts, unmapped, warnings, compared, source }: Labs, edge: Edge): Labs {
  const texts = (all: readonly string[]): string[] => all.map(edge.inward);
  return {
    drafts: drafts.map((draft) => draftWithRealIds(draft, edge)),
    unmapped: texts(unmapped),
    warnings: texts(warnings),
    compared: texts(compared),
    ...(source === undefined ? {} : { source: edge.inward(source) }),
  };
}

function draftWithRealIds({ key, keptNote, before, resource, ...draft }: Draft, edge: Edge): Draft {
  // The draft is copied, because drafts share parts and an id must be exchanged only once.
  const own = edge.json(parseStored(printJson(resource)));
  if (!isObject(own)) throw new TypeError('a draft is an object');
  return {
    ...draft,
    key: edge.inward(key),
    resource: own,
    ...(keptNote === undefined ? {} : { keptNote: edge.inward(keptNote) }),
    ...(before === undefined ? {} : { before: before.map((each) => draftWithRealIds(each, edge)) }),
  };
}
