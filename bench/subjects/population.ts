/** Writes a population to the read models `resources` and `search` with COPY, using the projections' own rows. */
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { fill } from '../fill.ts';
import { population } from '../population.ts';
import { answer } from '../worker.ts';

/** The database, the owner, and the size. */
export interface Population {
  readonly databaseUrl: string;
  readonly tenant: Tenant;
  readonly patients: number;
}

/**
 * Fills the read models.
 * @returns the number of resources.
 */
function populate({ databaseUrl, ...size }: Population): Promise<number> {
  return fill(databaseUrl, [resources, search], population(size));
}

answer(populate);
