/** The persons and organizations that author headers name must be of the project's directory, and active. */

import type { Authorship } from '#src/shared/caller.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json.ts';
import { type Issue, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time.ts';
import type { CommandContext, Lookup } from '../command.ts';

interface Named {
  readonly header: string;
  readonly what: string;
  readonly reference: string;
}

/**
 * Checks `X-Service-Acting-As`, `X-Service-Author-Ref` and `X-Service-On-Behalf-Of` (interface.md, section 5).
 * @returns the authorship with the organization's name.
 * @throws Refusal invalid (422), code `invalid`, naming the header.
 */
export async function checkAuthorship(ctx: CommandContext, lookup: Lookup): Promise<Authorship> {
  const { actingAs, authorRef, onBehalfOf } = ctx.authorship;
  const named: Named[] = [];
  if (actingAs !== undefined)
    named.push({ header: 'X-Service-Acting-As', what: 'practitioner', reference: actingAs });
  if (authorRef !== undefined)
    named.push({ header: 'X-Service-Author-Ref', what: 'practitioner', reference: authorRef });
  if (onBehalfOf !== undefined) {
    named.push({ header: 'X-Service-On-Behalf-Of', what: 'organization', reference: onBehalfOf.reference });
  }
  if (named.length === 0) return ctx.authorship;
  const bodies = await lookup.directoryBodies(
    ctx.caller,
    named.map(({ reference }) => idIn(reference)),
  );
  const people = await lookup.directoryBodies(ctx.caller, practitionersOf(bodies));
  const today = toInstant(ctx.now()).slice(0, 10);
  const issues: Issue[] = [];
  let display: string | undefined;
  for (const { header, what, reference } of named) {
    const body = bodyOf(bodies, reference);
    const person = typeof body?.practitioner === 'undefined' ? body : personOf(people, body);
    if (
      body?.active === false ||
      person === undefined ||
      person.active === false ||
      !isCurrent(body?.period, today)
    ) {
      issues.push({
        code: 'invalid',
        diagnostics: `the ${what} in ${header} is unknown or inactive`,
        expression: `http.${header.toLowerCase()}`,
      });
    } else if (what === 'organization' && typeof body?.name === 'string') display = body.name;
  }
  if (issues.length > 0) throw new Refusal('invalid', issues);
  if (onBehalfOf === undefined || display === undefined) return ctx.authorship;
  return { ...ctx.authorship, onBehalfOf: { reference: onBehalfOf.reference, display } };
}

type Bodies = Awaited<ReturnType<Lookup['directoryBodies']>>;

/** The live directory entry that a reference names, by its type and id. */
function bodyOf(bodies: Bodies, reference: string): JsonObject | undefined {
  const found = bodies.get(idIn(reference));
  if (found === undefined || `${found.type}/${idIn(reference)}` !== reference) return undefined;
  const { value } = parseJson(found.body);
  return isObject(value) ? value : undefined;
}

/** The practitioner that a role is held by; a reference elsewhere cannot be judged, so the role stands for itself. */
function personOf(people: Bodies, role: JsonObject): JsonObject | undefined {
  const reference = isObject(role.practitioner) ? role.practitioner.reference : undefined;
  return typeof reference === 'string' && reference.startsWith('Practitioner/')
    ? bodyOf(people, reference)
    : role;
}

function practitionersOf(bodies: Bodies): string[] {
  return [...bodies.keys()].flatMap((id) => {
    const role = bodyOf(bodies, `PractitionerRole/${id}`);
    const reference = isObject(role?.practitioner) ? role.practitioner.reference : undefined;
    return typeof reference === 'string' ? [idIn(reference)] : [];
  });
}

const idIn = (reference: string): string => reference.slice(reference.indexOf('/') + 1);

/** A PractitionerRole's `period` must include today; partial dates count as whole ones. */
function isCurrent(period: unknown, today: string): boolean {
  if (!isObject(period)) return true;
  const { start, end } = period;
  if (typeof start === 'string' && start.slice(0, 10) > today.slice(0, Math.min(10, start.length)))
    return false;
  return !(typeof end === 'string' && end.slice(0, 10) < today.slice(0, Math.min(10, end.length)));
}
