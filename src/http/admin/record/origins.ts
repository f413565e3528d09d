/** Who entered versions of a record, and from which system. */
import { z } from 'zod';
import type { Mark, VersionOf } from '#queries/rest/marks.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { Texts } from '../../pages/texts.ts';
import type { Services } from '../../ports/services.ts';
import { authorText } from '../../reading/kinds.ts';

export const originShape = {
  author: z.object({
    type: z.enum(AUTHOR_TYPES),
    type_text: z.string().describe('The type in words.'),
    name: z.string().nullable().describe('As the directory had it when the version was written.'),
    reference: z.string().nullable(),
  }),
  source: z.string().nullable().describe('The source system that the write named.'),
};

/** The origin of a version. */
export type Origin = z.output<z.ZodObject<typeof originShape>>;

/** Returns the origin that an event's metadata state. */
export function readOrigin(
  say: Texts,
  {
    author,
    acting_as_display,
    source_system,
  }: Pick<Mark['metadata'], 'author' | 'acting_as_display' | 'source_system'>,
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
  };
}

/** Reads the origins of versions, by the ids of their resources. */
export async function readOrigins(
  { queries }: Pick<Services, 'queries'>,
  caller: Caller,
  say: Texts,
  versions: readonly VersionOf[],
): Promise<(id: string) => Origin> {
  const marks = await queries.marks(caller, versions);
  return (id) => readOrigin(say, marks.get(id)?.metadata ?? {});
}
