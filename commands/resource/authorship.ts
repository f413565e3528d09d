/** The persons and organizations that author headers name must be of the project's directory, and active. */
import { isDuring } from '#src/fhir/during.ts';
import { shownName } from '#src/fhir/human-name.ts';
import { parseReference } from '#src/fhir/references.ts';
import type { Authorship } from '#src/shared/caller.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time.ts';
import type { CommandContext } from '../command.ts';
import type { WriteDeps } from './deps.ts';

interface Named {
  readonly header: string;
  readonly what: 'practitioner' | 'organization';
  readonly reference: string;
}

/**
 * Checks `X-Service-Acting-As`, `X-Service-Author-Ref` and `X-Service-On-Behalf-Of` (docs/spec/interface.md,
 * section 5): each must name a live, active entry of the directory of the caller's project and environment. A
 * PractitionerRole's `period` must include the current time, and its Practitioner, if it is in the directory,
 * must be active.
 * @returns the authorship with the names of the organization, the author and the person acting
 * @throws Refusal invalid (422), code `invalid`, naming every invalid header, including those whose entries
 * are missing, deleted or in another project
 */
export async function checkAuthorship(
  ctx: CommandContext,
  { lookup, bases }: Pick<WriteDeps, 'lookup' | 'bases'>,
): Promise<Authorship> {
  const { faults = [], ...authorship } = ctx.authorship;
  const named = authorship.inherited === true ? [] : namedBy(authorship);
  if (named.length === 0 && faults.length === 0) return ctx.authorship;
  const entriesOf = (references: readonly string[]) => directoryEntries(ctx, lookup, references);
  const entries = await entriesOf(named.map(({ reference }) => reference));
  const held = new Map([...entries].map(([reference, role]) => [reference, holderOf(role, bases)]));
  const people = await entriesOf([...held.values()].flatMap((holder) => holder?.reference ?? []));
  const now = ctx.now();
  const issues: Issue[] = [...faults];
  for (const { header, what, reference } of named) {
    const entry = entries.get(reference);
    const holder = held.get(reference);
    if (isActive(entry, now) && (holder === undefined || isActive(personOf(holder, people), now))) continue;
    issues.push({
      code: 'invalid',
      diagnostics: `${header} names an unknown or inactive ${what}`,
      expression: `http.${header.toLowerCase()}`,
    });
  }
  if (issues.length > 0) throw new Refusal('invalid', issues);
  const { onBehalfOf, authorRef, actingAs } = authorship;
  const display = onBehalfOf === undefined ? undefined : entries.get(onBehalfOf.reference)?.name;
  const nameOf = (reference: string): string | undefined => {
    const holder = held.get(reference);
    const person = holder === undefined ? entries.get(reference) : personOf(holder, people);
    return shownName(person?.name);
  };
  const author = authorRef ?? actingAs ?? '';
  const authorName = nameOf(author);
  const actingName = actingAs === undefined || actingAs === author ? undefined : nameOf(actingAs);
  return {
    ...authorship,
    ...(authorName === undefined ? {} : { authorName }),
    ...(actingName === undefined ? {} : { actingName }),
    ...(onBehalfOf === undefined || typeof display !== 'string'
      ? {}
      : { onBehalfOf: { reference: onBehalfOf.reference, display } }),
  };
}

function namedBy({ actingAs, authorRef, onBehalfOf }: Authorship): Named[] {
  const one = (header: string, what: Named['what'], reference: string | undefined): Named[] =>
    reference === undefined ? [] : [{ header, what, reference }];
  return [
    ...one('X-Service-Acting-As', 'practitioner', actingAs),
    ...one('X-Service-Author-Ref', 'practitioner', authorRef),
    ...one('X-Service-On-Behalf-Of', 'organization', onBehalfOf?.reference),
  ];
}

/** Returns the live directory entries of references (`Type/id`); entries of another type are absent. */
async function directoryEntries(
  ctx: CommandContext,
  lookup: WriteDeps['lookup'],
  references: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  if (references.length === 0) return new Map();
  const ids = references.map((reference) => reference.slice(reference.indexOf('/') + 1));
  const found = new Map<string, JsonObject>();
  for (const [id, { type, body }] of await lookup.directoryBodies(ctx.caller, ids)) {
    const { value } = parseJson(body);
    if (isObject(value)) found.set(`${type}/${id}`, value);
  }
  return found;
}

/** The holder of a role, in the directory or contained in it; undefined if it can't be looked up. */
type Holder = { readonly reference: string } | { readonly reference?: never; readonly contained: JsonObject };

function holderOf({ practitioner, contained }: JsonObject, bases: readonly string[]): Holder | undefined {
  const text = isObject(practitioner) ? practitioner.reference : undefined;
  if (typeof text !== 'string') return undefined;
  const parsed = parseReference(text, bases);
  if (parsed.kind === 'local') return { reference: `${parsed.type}/${parsed.id}` };
  if (parsed.kind !== 'contained' || !Array.isArray(contained)) return undefined;
  const inner = contained.filter(isObject).find(({ id }) => id === parsed.id);
  return inner === undefined ? undefined : { contained: inner };
}

function personOf(holder: Holder, people: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  return holder.reference === undefined ? holder.contained : people.get(holder.reference);
}

/** Tells whether an entry exists, isn't inactive, and its `period`, if any, includes a moment. */
function isActive(entry: JsonObject | undefined, now: Micros): boolean {
  return entry !== undefined && entry.active !== false && isDuring(entry.period, now);
}
