/**
 * Parses the author and source headers of a write (docs/spec/interface.md, section 5). Commands check that the named authors
 * exist.
 */
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { type Authorship, type Caller, defaultAuthorType } from '#src/shared/access/caller.ts';
import type { Issue } from '#src/shared/issue.ts';
import { decodeBytes } from '#src/shared/query-text.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Reads a header by its lower-case name. */
export type Header = (name: string) => string | undefined;

/** Headers that are part of a write's identity: a retry must send the same values. */
export const AUTHOR_HEADERS = [
  'x-service-author-type',
  'x-service-author-model',
  'x-service-author-ref',
  'x-service-acting-as',
  'x-service-on-behalf-of',
  'x-service-source-system',
  'x-service-origin-id',
] as const;

const ID = '[A-Za-z0-9.-]{1,64}';
const PRACTITIONER = new RegExp(`^Practitioner/${ID}$`);
const ACTING = new RegExp(`^Practitioner(?:Role)?/${ID}$`);
const ORGANIZATION = new RegExp(`^Organization/${ID}$`);
const LONGEST = 1_000;

/**
 * Parses the headers, without checking that the named authors exist.
 * @throws Refusal invalid (422), which names every malformed header
 */
export function parseAuthorship(header: Header, caller: Caller): Authorship {
  const authorship = readAuthorship(header, caller);
  if (authorship.faults !== undefined) throw new Refusal('invalid', authorship.faults);
  return authorship;
}

/**
 * Parses the headers of a write. Without `X-Service-Author-Type`, the author type is `import`, or `patient` under a grant.
 * `faults` lists malformed headers.
 */
export function readAuthorship(header: Header, caller: Caller): Authorship {
  const issues: Issue[] = [];
  const read = (name: string, form: string, accepts: (value: string) => boolean): string | undefined => {
    const value = decoded(header(name.toLowerCase()));
    if (value === undefined || accepts(value)) return value;
    issues.push({
      code: 'invalid',
      diagnostics: `${name} must be ${form}`,
      expression: `http.${name.toLowerCase()}`,
    });
    return undefined;
  };
  const text = (value: string) => value.length <= LONGEST && !/[\x00-\x1f\x7f]/.test(value);
  const form = `a text of at most ${LONGEST} characters`;
  const type = read('X-Service-Author-Type', `one of ${AUTHOR_TYPES.join(', ')}`, (value) =>
    AUTHOR_TYPES.some((known) => known === value),
  );
  const model = read(
    'X-Service-Author-Model',
    'the name of a model, of at most 200 characters',
    (value) => text(value) && value.length <= 200,
  );
  if (model !== undefined && type !== 'ai')
    issues.push({
      code: 'invalid',
      diagnostics: 'X-Service-Author-Model belongs to X-Service-Author-Type: ai',
      expression: 'http.x-service-author-model',
    });
  const authorRef = read('X-Service-Author-Ref', 'Practitioner/<id>', (value) => PRACTITIONER.test(value));
  const actingAs = read('X-Service-Acting-As', 'Practitioner/<id> or PractitionerRole/<id>', (value) =>
    ACTING.test(value),
  );
  const onBehalfOf = read('X-Service-On-Behalf-Of', 'Organization/<id>', (value) => ORGANIZATION.test(value));
  const sourceSystem = read('X-Service-Source-System', form, text);
  const originId = read('X-Service-Origin-Id', form, text);
  return {
    authorType: AUTHOR_TYPES.find((known) => known === type) ?? defaultAuthorType(caller),
    ...(model === undefined ? {} : { model }),
    ...(authorRef === undefined ? {} : { authorRef }),
    ...(actingAs === undefined ? {} : { actingAs }),
    ...(onBehalfOf === undefined ? {} : { onBehalfOf: { reference: onBehalfOf } }),
    ...(sourceSystem === undefined ? {} : { sourceSystem }),
    ...(originId === undefined ? {} : { originId }),
    ...(issues.length === 0 ? {} : { faults: issues }),
  };
}

/** Decodes a header: Node reads bytes as Latin-1, but clients send names in UTF-8. An empty header is treated as absent. */
function decoded(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : decodeBytes(value);
}
