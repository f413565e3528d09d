/**
 * Wraps `fetch` for tests. On a slow machine, read models may lag by more than is allowed. A request that is refused for that
 * reason, without anything being written, is sent again after a while, as any client would do. `retries.ts` counts and limits
 * such retries.
 */
import { setTimeout as pause } from 'node:timers/promises';
import './described.ts';
import { retries } from './retries.ts';

const LAGS = 'the read model is catching up with recent writes; retry in a second';
const LONGEST_MS = 60_000;

/** Fetches without retries, for testing the refusal itself. */
export const fetchOnce = globalThis.fetch;

/** Returns the number of requests sent again so far. */
export const sentAgain = (): number => retries.again;

globalThis.fetch = async (input, init) => {
  const until = Date.now() + LONGEST_MS;
  retries.requests += 1;
  for (;;) {
    const answer = await fetchOnce(input instanceof Request ? input.clone() : input, init);
    if (answer.status !== 503 || Date.now() > until || init?.body instanceof ReadableStream) return answer;
    if (!(await answer.clone().text()).includes(LAGS)) return answer;
    retries.again += 1;
    await pause(Number(answer.headers.get('retry-after') ?? 1) * 1000);
  }
};
