/**
 * Reports under a grant: the ids in them are exchanged after they are read, because before that, escapes of HL7 and
 * quotes of tables could hide an id (docs/spec/decisions.md, section 1).
 */
import type { Draft, Labs } from '#src/labs/labs.ts';
import { isObject, type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import type { Edge } from '../../edge/edge.ts';
import { resourceIn } from '../record.ts';

/** The place where a report is read: inside the edge, or before the exchange of ids. */
export interface Reading {
  /** The Patient's id. */
  readonly patient: string;
  /** Returns the Patient to compare the report with. */
  readonly stored: (body: string) => JsonObject;
  /** Returns a report with real ids. @throws Refusal of reading it, with exchanged texts */
  readonly inward: (read: () => Promise<Labs>) => Promise<Labs>;
}

/** Returns how a report is read that has the ids that the application knows. */
export function outside(edge: Edge): Reading {
  return {
    patient: edge.grant.patient,
    stored: (body) => resourceIn(edge.outward(body)),
    inward: async (read) => withRealIds(await edge.refusingLater(read), edge),
  };
}

/** Returns how a report is read whose ids are real. */
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
  // A copy: drafts share parts, and an id must be exchanged once.
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
