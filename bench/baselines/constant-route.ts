/** Baseline for a read: a constant body of the same size. */
import { answer } from '../worker.ts';
import { serveRoute } from './route.ts';

/** Takes the body, and returns the port. */
answer(
  (body: string): Promise<number> =>
    serveRoute((ctx) => {
      ctx.type = 'application/fhir+json';
      ctx.body = body;
    }),
);
