/** Defines routes for operators, and the parts that their responses share. */
import type { z } from 'zod';
import { type Definition, route, type TypedRoute } from '../../api/route.ts';
import { requireOperator } from '../access.ts';

/**
 * Creates a route that only operators of the installation may call (403 for everyone else). It works while read models lag,
 * unless `models` lists read models that it needs.
 */
export function operatorRoute<
  const Path extends string,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(
  definition: Omit<Definition<Path, 'identity', Query, Body>, 'tag' | 'credential' | 'grantToken'>,
): TypedRoute<'identity'> {
  return route<Path, 'identity', Query, Body>({
    models: [],
    ...definition,
    tag: 'Operations',
    credential: 'identity',
    grantToken: 'refused',
    async run(request) {
      await requireOperator(request);
      return definition.run(request);
    },
  });
}

/** Returns the response for a list that always fits on one page. */
export function listWhole(data: readonly object[]) {
  return { status: 200, body: { data, total: data.length, next_cursor: null } };
}
