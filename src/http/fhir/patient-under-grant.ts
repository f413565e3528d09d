/** read of the Patient under a grant (docs/spec/decisions.md, sections 1 and 9): only by the pairwise id. */
import { notFound } from '#src/shared/refusal.ts';
import type { Answer } from '../answer.ts';
import { requireFresh } from '../freshness.ts';
import { pairwiseText } from './pairwise-text.ts';
import { answerVersion } from './read.ts';
import type { GrantRequest } from './request.ts';
import { answerCut } from './subset.ts';

/**
 * Answers like a read: 200, 304, or 410 if the Patient is deleted. Every other id is unknown, the real one too.
 * @throws Refusal 400 404 410 413 503
 */
export async function readPatient(request: GrantRequest, id: string): Promise<Answer> {
  const { granted, service, budget } = request;
  return answerCut(request.query, 'Patient', async () => {
    requireFresh(service.stale, ['resources']);
    if (id !== granted.patient) throw notFound('Patient', id);
    const found = await service.queries.readGrantedPatient(granted.record, budget);
    if (found === undefined) throw notFound('Patient', id);
    const within = (ids: readonly string[]) => service.queries.withinRecord(granted.record, ids);
    const body = found.body === null ? null : await pairwiseText(found.body, granted, service.base, within);
    return answerVersion(request, { ...found, id, body });
  });
}
