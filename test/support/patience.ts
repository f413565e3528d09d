/**
 * What tests fetch with. On a machine that has little time for them read models lag by more than they may; who is
 * answered so asks again after a while, as any client does.
 */
import { setTimeout as pause } from 'node:timers/promises';
import './described.ts';

const LAGS = 'the read model is catching up with what was written';
const LONGEST_MS = 60_000;

/** Fetches without patience, for tests of the refusal itself. */
export const fetchOnce = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const until = Date.now() + LONGEST_MS;
  for (;;) {
    const answer = await fetchOnce(input instanceof Request ? input.clone() : input, init);
    if (answer.status !== 503 || Date.now() > until) return answer;
    if (!(await answer.clone().text()).includes(LAGS)) return answer;
    await pause(Number(answer.headers.get('retry-after') ?? 1) * 1000);
  }
};
