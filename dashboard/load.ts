/** Loads the data that a screen shows. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AnnalError, ApiError, type Failure } from './api.ts';

/**
 * The loaded value; undefined until the first response. The previous value is kept while a new one is being loaded, and also
 * if loading the new one fails.
 */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
  /** When the value was loaded, in ms since 1970. */
  readonly at: number | undefined;
  reload(): Promise<void>;
}

/**
 * Loads a value, and reloads it whenever a key changes.
 * @param keys the values that determine what is loaded
 * @param everyMs if given, also reloads at this interval while the page is visible
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  everyMs?: number,
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    value: undefined,
    failure: undefined,
    isLoading: true,
    at: undefined,
  });
  /** The request that is under way. */
  const underWay = useRef<AbortController | undefined>(undefined);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(async () => {
    underWay.current?.abort();
    const asked = new AbortController();
    underWay.current = asked;
    try {
      const value = await latest.current(asked.signal);
      if (!asked.signal.aborted) setState({ value, failure: undefined, isLoading: false, at: Date.now() });
    } catch (error) {
      if (asked.signal.aborted) return;
      setState((before) => ({ ...before, failure: toFailure(error), isLoading: false }));
    } finally {
      if (underWay.current === asked) underWay.current = undefined;
    }
  }, []);
  useEffect(() => {
    setState({ value: undefined, failure: undefined, isLoading: true, at: undefined });
    void reload();
    return () => underWay.current?.abort();
  }, keys);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const again = setInterval(() => {
      // A response that takes longer than the interval would never be shown if each request ended the previous one.
      if (document.visibilityState === 'visible' && underWay.current === undefined) void reload();
    }, everyMs);
    return () => clearInterval(again);
  }, [everyMs, ...keys]);
  return { ...state, reload };
}

/** A person's action, such as creating a key. */
export interface Act<Input, Output> {
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  /** @returns undefined if the action failed (`failure` says why) or was already running */
  run(input: Input): Promise<Output | undefined>;
  /** Clears the failure. */
  reset(): void;
}

/** Runs an action; it can't run twice at the same time: until it has ended, `run` does nothing. */
export function useAct<Input, Output>(act: (input: Input) => Promise<Output>): Act<Input, Output> {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const isUnderWay = useRef(false);
  return {
    isRunning,
    failure,
    async run(input) {
      if (isUnderWay.current) return undefined;
      isUnderWay.current = true;
      setRunning(true);
      setFailure(undefined);
      try {
        return await act(input);
      } catch (error) {
        setFailure(toFailure(error));
        return undefined;
      } finally {
        isUnderWay.current = false;
        setRunning(false);
      }
    },
    reset: () => setFailure(undefined),
  };
}

/** Thrown if a screen's subject doesn't exist. */
export class NotFound extends Error {}

function toFailure(error: unknown): Failure {
  if (error instanceof ApiError) return error;
  const rest = { fields: [], requestId: '' };
  if (error instanceof AnnalError) return { status: 0, message: '', ...rest };
  if (error instanceof NotFound) return { status: 404, message: error.message, ...rest };
  console.error(error);
  return { status: -1, message: error instanceof Error ? error.message : String(error), ...rest };
}
