/** The persons and organizations that author headers name must be of the project's directory, and active. */

import type { Authorship } from '#src/shared/caller.ts';
import { isObject, parseJson } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
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
  const today = toInstant(ctx.now()).slice(0, 10);
  let display: string | undefined;
  for (const { header, what, reference } of named) {
    const found = bodies.get(idIn(reference));
    const body = found === undefined ? undefined : parseJson(found.body).value;
    const there = isObject(body) && `${found?.type}/${idIn(reference)}` === reference;
    if (!there || body.active === false || !isCurrent(body.period, today)) {
      throw new Refusal('invalid', {
        code: 'invalid',
        diagnostics: `the ${what} in ${header} is unknown or inactive`,
        expression: `http.${header.toLowerCase()}`,
      });
    }
    if (what === 'organization' && typeof body.name === 'string') display = body.name;
  }
  if (onBehalfOf === undefined || display === undefined) return ctx.authorship;
  return { ...ctx.authorship, onBehalfOf: { reference: onBehalfOf.reference, display } };
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
