/** Imports laboratory results: decides how to handle results from earlier reports, and writes everything in one transaction. */
import type { CommandContext } from '#commands/command.ts';
import type { WriteEntry } from '#src/fhir/bundle.ts';
import { readCategories } from '#src/fhir/search/categories.ts';
import { decideLabs, draftKey, keysIn } from '#src/labs/decide.ts';
import { type Draft, type Labs, type LabType, Notes } from '#src/labs/labs.ts';
import { allows } from '#src/shared/access/access.ts';
import { type Caller, mayRead } from '#src/shared/access/caller.ts';
import type { Issue } from '#src/shared/issue.ts';
import { type JsonObject, parseStored, printJson } from '#src/shared/json/json.ts';
import { inSlices, mapSteps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { shownObservation } from '#src/v1/observation.ts';
import type { RouteResult } from '../../api/route.ts';
import { displaysFor, withDisplays } from '../displays.ts';
import { type RestRequest, shownRecords } from '../record.ts';
import { findEarlier, type Stored } from './earlier-labs.ts';

/**
 * Writes new and changed results, all or nothing.
 * @returns 200 with `created`, `skipped`, `unmapped`, `warnings` and the report's current `observations`. For a caller without
 *   the scope `read`, all results are counted as `created`, and no observations are returned
 * @throws Refusal 409 413 422, which names places in the report
 */
export async function importLabs(
  request: RestRequest,
  command: CommandContext,
  patient: string,
  labs: Labs,
): Promise<RouteResult> {
  const { services } = request;
  const { drafts } = labs;
  const most = services.config.limits.bundleEntries;
  if (drafts.length > most)
    throw new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `a report can produce at most ${most} resources; this one would produce ${drafts.length}`,
    });
  let notes = new Notes();
  let there: Map<string, Stored> | undefined;
  const decide = async (): Promise<readonly WriteEntry[]> => {
    notes = new Notes();
    there = await findEarlier(request, patient, drafts, notes);
    return (await inSlices(decideLabs(drafts, there, notes))).flatMap(({ entries }) => entries);
  };
  const { result, position } = await namingPlaces(
    drafts,
    services.commands.decided(command, `labs/${patient}`, decide),
  );
  // An earlier attempt decided this and crashed. Its resources already exist, or will soon.
  const now = there ?? (await findEarlier(request, patient, drafts, new Notes()));
  const written = [...result.values()];
  const read = mapSteps(written, ({ type, id, version, lastUpdated, body }) => {
    if (body === undefined) return;
    const resource = parseStored(body);
    const stored = { type, id, version, lastUpdated: toMicros(lastUpdated ?? ''), body, resource };
    for (const key of keysIn(resource)) now.set(draftKey({ type: type as LabType, key }), stored);
  });
  await inSlices(read);
  const observations = drafts.flatMap((draft) =>
    draft.type === 'Observation' ? (now.get(draftKey(draft)) ?? []) : [],
  );
  const ofType = written.filter(({ type }) => type === 'Observation');
  const reads = mayRead(request.caller, 'Observation');
  const created = ofType.filter(({ outcome }) => outcome === 'created').length;
  // Telling which results are new, changed or unchanged would reveal stored data.
  const visible = reads ? observations.filter(({ resource }) => isRead(request.caller, resource)) : [];
  const accepted = drafts.filter(({ type }) => type === 'Observation').length;
  const shown = await shownRecords(request, visible, shownObservation, parseStored);
  const displays = await displaysFor(request, shown);
  const printed = await inSlices(
    mapSteps(shown, (one) => printJson(withDisplays(one, displays) as JsonObject)),
  );
  const implausible = await inSlices(mapSteps(drafts, (draft) => implausibleIn(request, draft)));
  const warnings = [...new Set([...labs.warnings, ...implausible.flat()])];
  const answer = printJson({
    created: reads ? created : accepted,
    skipped: reads ? observations.length - ofType.length : 0,
    unmapped: [...labs.unmapped],
    warnings: reads
      ? [...warnings, ...documentsIn(drafts, now), ...labs.compared, ...notes.told.warnings]
      : warnings,
  });
  const text = `${answer.slice(0, -1)},"observations":[${printed.join()}]}`;
  return { status: 200, text, position, shown: shown.length };
}

/** Returns the implausible values in a result, as given in the report. */
function implausibleIn({ services, now }: RestRequest, { resource, place }: Draft): string[] {
  return services.findImplausible(resource, now()).map(({ message }) => `${place}: ${message}`);
}

/**
 * Returns the note about a report that contains documents but no results; the note is needed because the response shows only
 * observations.
 */
function documentsIn(drafts: readonly Draft[], now: ReadonlyMap<string, Stored>): string[] {
  if (drafts.some(({ type }) => type === 'Observation')) return [];
  return drafts.flatMap((draft) => {
    const stored = draft.type === 'DocumentReference' ? now.get(draftKey(draft)) : undefined;
    return stored === undefined
      ? []
      : [`${draft.place}: the result is a document: DocumentReference/${stored.id}`];
  });
}

/** Returns whether a caller may read an Observation. Under a grant, this depends on the Observation's categories. */
function isRead({ sees: { within } }: Caller, resource: JsonObject): boolean {
  const type = 'Observation';
  return within === undefined || allows(within.access, type, 'r', readCategories(type, resource));
}

/**
 * Runs the write.
 * @throws Refusal in which the entries that the write's refusal named are replaced by places in the report, which have no
 *   types
 */
async function namingPlaces<T>(drafts: readonly Draft[], write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'invalid') throw error;
    const nameEntries = (text: string): string =>
      text.replaceAll(
        /Bundle\.entry\[(\d+)\](?:\.resource)?(?:(\S*)\.ofType\(\w+\))?/g,
        (_, index, element = '') =>
          (drafts[Number(index) % drafts.length]?.place ?? '') + element.replaceAll(/\.ofType\(\w+\)/g, ''),
      );
    const named = error.issues.map((issue): Issue => {
      const { expression, diagnostics } = issue;
      const place = expression === undefined ? {} : { expression: nameEntries(expression) };
      return { ...issue, diagnostics: nameEntries(diagnostics), ...place };
    });
    throw new Refusal('invalid', named, { ...error.headers });
  }
}
