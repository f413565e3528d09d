/** Reads who entered the versions in a record, and from which system. */
import { z } from 'zod';
import type { CredentialNames } from '#queries/audit/names.ts';
import type { Mark, VersionOf } from '#queries/rest/marks.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { Texts } from '../pages/texts.ts';
import type { Services } from '../ports/services.ts';
import { authorText } from './kinds.ts';

export const originShape = {
  author: z.object({
    type: z.enum(AUTHOR_TYPES),
    type_text: z.string().describe('The type in words.'),
    name: z.string().nullable().describe('As the directory had it when the version was written.'),
    reference: z.string().nullable(),
  }),
  source: z.string().nullable().describe('The source system that the write named.'),
  key: z
    .string()
    .nullable()
    .describe('The name of the API key that wrote it, with its last four characters; null if it was no key.'),
};

/** A version's origin. */
export type Origin = z.output<z.ZodObject<typeof originShape>>;

/** Returns the origin that the metadata of an event states. */
export function readOrigin(
  say: Texts,
  {
    author,
    acting_as_display,
    source_system,
    credential,
  }: Partial<Pick<Mark['metadata'], 'author' | 'acting_as_display' | 'source_system' | 'credential'>>,
  keys: CredentialNames = new Map(),
): Origin {
  const type = author?.type ?? 'import';
  return {
    author: {
      type,
      type_text: authorText(say, type),
      name: author?.display ?? acting_as_display ?? null,
      reference: author?.reference ?? null,
    },
    source: source_system ?? null,
    key: keys.get(credential?.key_id ?? '') ?? null,
  };
}

/** Reads the names of the keys with which versions were written, for readers who may see the project's keys. */
export async function readKeyNames(
  { audit }: Pick<Services, 'audit'>,
  metadata: Iterable<Pick<Mark['metadata'], 'credential'>>,
): Promise<CredentialNames> {
  const ids = new Set([...metadata].flatMap(({ credential }) => credential?.key_id ?? []));
  return ids.size === 0 ? new Map() : audit.nameCredentials([...ids].map((key_id) => ({ key_id })));
}

/**
 * Reads the origins of versions, by resource id.
 * @param services if `audit` is absent, keys are shown without names
 */
export async function readOrigins(
  { queries, audit }: Pick<Services, 'queries'> & Partial<Pick<Services, 'audit'>>,
  caller: Caller,
  say: Texts,
  versions: readonly VersionOf[],
): Promise<(id: string) => Origin> {
  const marks = await queries.marks(caller, versions);
  const all = [...marks.values()].map(({ metadata }) => metadata);
  const keys = audit === undefined ? new Map<string, string>() : await readKeyNames({ audit }, all);
  return (id) => readOrigin(say, marks.get(id)?.metadata ?? {}, keys);
}

/** Returns an origin as a single text: who entered the version, and from which system it came. */
export function originText({ author, source, key }: Origin): string {
  const who = [author.name ?? author.type_text, ...(author.name === null && key !== null ? [key] : [])];
  return [...who, ...(source === null ? [] : [source])].join(' · ');
}
