/**
 * Defines the routes that read and delete an item by its id. They are the same for observations, conditions and medications.
 */
import { z } from 'zod';
import { withArticle } from '#src/shared/article.ts';
import { type Route, route } from '../api/route.ts';
import type { Tag } from '../api/tags.ts';
import { PAST_QUERY } from './as-of.ts';
import { type Kind, readItem, removeItem } from './items.ts';
import { AUTHOR, IF_MATCH } from './schemas.ts';

/** The wording for a kind in the OpenAPI document. */
export interface Naming {
  readonly tag: Tag;
  /** Used in the names of operations, such as `Condition`. */
  readonly name: string;
  readonly schema: z.ZodType;
}

/** Returns the two routes for a kind. */
export function itemRoutes(kind: Kind, { tag, name, schema }: Naming): readonly Route[] {
  const path = `/v1/${kind.path}/{item_id}` as const;
  const word = name.toLowerCase();
  return [
    route({
      method: 'GET',
      path,
      operationId: `get${name}`,
      summary: `Read ${withArticle(word)}`,
      description: `Returns the current version. A deleted ${word} returns 404; FHIR’s history still has it.`,
      tag,
      credential: 'api_key',
      grantToken: {
        action: 'read',
        needs: [{ type: kind.type, letters: 'r' }],
        type: kind.type,
        id: 'item_id',
      },
      query: z.strictObject(PAST_QUERY),
      answers: { 200: { description: `The ${word}`, schema } },
      run: (request) => readItem(request, kind, request.params.item_id),
    }),
    route({
      method: 'DELETE',
      path,
      operationId: `delete${name}`,
      summary: `Delete ${withArticle(word)}; its history stays`,
      description: 'The earlier versions stay in FHIR’s history and in the provenance.',
      tag,
      credential: 'api_key',
      grantToken: {
        action: 'delete',
        needs: [{ type: kind.type, letters: 'd' }],
        type: kind.type,
        id: 'item_id',
        writes: true,
      },
      scope: 'write',
      headers: { ...AUTHOR, ...IF_MATCH },
      answers: { 204: { description: 'It is deleted' } },
      run: (request) => removeItem(request, kind, request.params.item_id),
    }),
  ];
}
