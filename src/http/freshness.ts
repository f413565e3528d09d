/** Read models that lag answer 503 rather than stale data (decisions.md, section 3). */
import { unavailable } from '#src/shared/refusal.ts';

/** Names of the read models that must not be read now. */
export type Stale = () => readonly string[];

/** @throws Refusal unavailable (503, Retry-After) when one of these read models lags. */
export function requireFresh(stale: Stale, models: readonly string[]): void {
  const behind = stale();
  if (behind.length > 0 && behind.some((name) => models.includes(name))) {
    throw unavailable('the read model is catching up with what was written');
  }
}
