/** Checks that the people and organizations named in author headers are active entries in the project's directory. */
import { isDuring } from '#src/fhir/during.ts';
import { shownName } from '#src/fhir/human-name.ts';
import { parseReference } from '#src/fhir/references/references.ts';
import {
  type Authorship,
  type Caller,
  type OutsideIdentifier,
  ownCaller,
} from '#src/shared/access/caller.ts';
import type { Issue } from '#src/shared/issue.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { CommandContext } from '../command.ts';
import type { WriteDeps } from './deps.ts';

interface Named {
  readonly header: string;
  readonly what: 'practitioner' | 'organization';
  readonly reference: string;
}

/**
 * Checks `X-Service-Acting-As`, `X-Service-Author-Ref` and `X-Service-On-Behalf-Of` (docs/spec/interface.md, section 5): each
 * must name a live, active entry in the directory of the caller's project and environment, even under a grant. Under a grant,
 * the resulting authorship contains names and identifiers instead of references. The author type `practitioner` requires
 * `X-Service-Acting-As`. A PractitionerRole's `period` must include the current time, and its Practitioner, if it is in the
 * directory, must be active.
 * @returns the authorship with the names of the organization, the author and the person acting
 * @throws Refusal invalid (422), code `invalid`, naming every invalid header, including headers whose entries are missing,
 * deleted or in another project
 */
export async function checkAuthorship(
  ctx: CommandContext,
  { lookup, bases }: Pick<WriteDeps, 'lookup' | 'bases'>,
): Promise<Authorship> {
  const { faults: malformed = [], ...authorship } = ctx.authorship;
  const named = authorship.inherited === true ? [] : namedBy(authorship);
  const { within } = ctx.caller.sees;
  const faults = within === undefined ? malformed : [...malformed, ...unnamedPractitioner(authorship)];
  if (named.length === 0 && faults.length === 0) return ctx.authorship;
  const reader = directoryReader(ctx.caller);
  const readEntries = (references: readonly string[]) => directoryEntries(reader, lookup, references);
  const entries = await readEntries(named.map(({ reference }) => reference));
  const held = new Map([...entries].map(([reference, role]) => [reference, findHolder(role, bases)]));
  const people = await readEntries([...held.values()].flatMap((holder) => holder?.reference ?? []));
  const now = ctx.now();
  const issues: Issue[] = [...faults];
  for (const { header, what, reference } of named) {
    const entry = entries.get(reference);
    const holder = held.get(reference);
    if (isActive(entry, now) && (holder === undefined || isActive(findPerson(holder, people), now))) continue;
    issues.push({
      code: 'invalid',
      diagnostics: `${header} names an unknown or inactive ${what}`,
      expression: `http.${header.toLowerCase()}`,
    });
  }
  if (issues.length > 0) throw new Refusal('invalid', issues);
  const { onBehalfOf, authorRef, actingAs } = authorship;
  const personNamed = (reference: string): JsonObject | undefined => {
    const holder = held.get(reference);
    return holder === undefined ? entries.get(reference) : findPerson(holder, people);
  };
  if (within !== undefined)
    return withoutReferences(authorship, personNamed, (reference) => entries.get(reference));
  const display = onBehalfOf === undefined ? undefined : entries.get(onBehalfOf.reference)?.name;
  const findName = (reference: string): string | undefined => shownName(personNamed(reference)?.name);
  const author = authorRef ?? actingAs ?? '';
  const authorName = findName(author);
  const actingName = actingAs === undefined || actingAs === author ? undefined : findName(actingAs);
  return {
    ...authorship,
    ...(authorName === undefined ? {} : { authorName }),
    ...(actingName === undefined ? {} : { actingName }),
    ...(onBehalfOf === undefined || typeof display !== 'string'
      ? {}
      : { onBehalfOf: { reference: onBehalfOf.reference, display } }),
  };
}

/**
 * Returns the caller to use for looking up entries: under a grant, the application in its own project, because the headers
 * refer to that project's directory (docs/spec/decisions.md, section 9, "Writes under a grant").
 */
function directoryReader({ calls, sees }: Caller): Caller {
  return sees.within === undefined ? { calls, sees } : ownCaller(calls.project, calls.credential, ['read']);
}

/** Returns the fault if the author type requires a name and none is given. */
function unnamedPractitioner({ authorType, actingAs, inherited }: Authorship): Issue[] {
  if (authorType !== 'practitioner' || actingAs !== undefined || inherited === true) return [];
  const diagnostics =
    'under a grant the author type practitioner requires X-Service-Acting-As, with a practitioner of the directory of your own project; otherwise send patient, device, import or ai';
  return [{ code: 'invalid', diagnostics, expression: 'http.x-service-author-type' }];
}

/**
 * Returns the authorship under a grant: names and identifiers instead of references, because references have no target in the
 * record's project. A person who acts for the patient, a device or a program isn't the author.
 */
function withoutReferences(
  { authorRef, actingAs, onBehalfOf, ...authorship }: Authorship,
  findPerson: (reference: string) => JsonObject | undefined,
  findEntry: (reference: string) => JsonObject | undefined,
): Authorship {
  const author = authorRef ?? (authorship.authorType === 'practitioner' ? actingAs : undefined);
  const acting = actingAs === author ? undefined : actingAs;
  const person = author === undefined ? undefined : findPerson(author);
  const actor = acting === undefined ? undefined : findPerson(acting);
  const organization = onBehalfOf === undefined ? undefined : findEntry(onBehalfOf.reference);
  const name = organization?.name;
  const behalf = {
    ...present('display', typeof name === 'string' ? name : undefined),
    ...present('identifier', findIdentifier(organization)),
  };
  return {
    ...authorship,
    ...present('authorName', shownName(person?.name)),
    ...present('authorIdentifier', findIdentifier(person)),
    ...present('actingName', shownName(actor?.name)),
    ...present('actingIdentifier', findIdentifier(actor)),
    ...(Object.keys(behalf).length === 0 ? {} : { organization: behalf }),
  };
}

/** Returns an entry's official identifier or, if there is none, the first identifier that isn't old. */
function findIdentifier(entry: JsonObject | undefined): OutsideIdentifier | undefined {
  const { identifier } = entry ?? {};
  const all = Array.isArray(identifier) ? identifier.filter(isObject) : [];
  const valued = all.filter(({ value, use }) => typeof value === 'string' && use !== 'old');
  const { system, value } = valued.find(({ use }) => use === 'official') ?? valued[0] ?? {};
  if (typeof value !== 'string') return undefined;
  return { ...(typeof system === 'string' ? { system } : {}), value };
}

function present<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [name in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [name in Name]?: Value });
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

/** Returns the live directory entries for references (`Type/id`); entries of a different type are absent. */
async function directoryEntries(
  reader: Caller,
  lookup: WriteDeps['lookup'],
  references: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  if (references.length === 0) return new Map();
  const ids = references.map((reference) => reference.slice(reference.indexOf('/') + 1));
  const found = new Map<string, JsonObject>();
  for (const [id, { type, body }] of await lookup.directoryBodies(reader, ids)) {
    const { value } = parseJson(body);
    if (isObject(value)) found.set(`${type}/${id}`, value);
  }
  return found;
}

/** The holder of a role, in the directory or contained in the role; undefined if the holder can't be looked up. */
type Holder = { readonly reference: string } | { readonly reference?: never; readonly contained: JsonObject };

function findHolder({ practitioner, contained }: JsonObject, bases: readonly string[]): Holder | undefined {
  const text = isObject(practitioner) ? practitioner.reference : undefined;
  if (typeof text !== 'string') return undefined;
  const parsed = parseReference(text, bases);
  if (parsed.kind === 'local') return { reference: `${parsed.type}/${parsed.id}` };
  if (parsed.kind !== 'contained' || !Array.isArray(contained)) return undefined;
  const inner = contained.filter(isObject).find(({ id }) => id === parsed.id);
  return inner === undefined ? undefined : { contained: inner };
}

function findPerson(holder: Holder, people: ReadonlyMap<string, JsonObject>): JsonObject | undefined {
  return holder.reference === undefined ? holder.contained : people.get(holder.reference);
}

/** Returns true if an entry exists, isn't inactive, and its `period`, if any, includes the given time. */
function isActive(entry: JsonObject | undefined, now: Micros): boolean {
  return entry !== undefined && entry.active !== false && isDuring(entry.period, now);
}
