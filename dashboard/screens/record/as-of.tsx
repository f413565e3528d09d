/** The point in time as of which the record is shown: a slider over its changes, and a field for any other time. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { toAsked, toLocal } from '../../moment-field.ts';
import { Button } from '../../parts/parts.tsx';
import { say, sayMoment } from '../../texts/texts.ts';
import type { Moments, RecordPlace } from './record-place.ts';

/** How long the slider must stay still before the record is loaded, in ms. */
const RESTS_MS = 150;

/** The part of the page that contains the slider. */
export function AsOf({
  place,
  moments,
}: {
  readonly place: RecordPlace;
  readonly moments: Moments | undefined;
}) {
  const { at } = place;
  const { route } = useLocation();
  const [moved, move] = useState<number>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const shownAt = at === undefined ? '' : toLocal(new Date(at));
  const steps = moments?.data ?? [];
  // The last change brought the record to its current state.
  const last = Math.max(0, steps.length - 1);
  const shown = moved ?? (at === undefined ? last : findStep(steps, at));
  const momentAt = (step: number): string | undefined => (step === last ? undefined : steps[step]?.to);
  const text = (step: number): string => {
    const moment = step === shown && moved === undefined ? at : momentAt(step);
    return moment === undefined ? say('record.now') : sayMoment(moment);
  };
  const go = (moment: string | undefined): void => route(goTo(place, moment), true);
  return (
    <details class="as-of panel screen" open={at !== undefined || matchMedia('(min-width: 48rem)').matches}>
      <summary>
        {say('record.asOf')}: <strong>{text(shown)}</strong>
      </summary>
      <div>
        <div class="slide">
          <Density steps={steps} at={shown} />
          <input
            type="range"
            min={0}
            max={last}
            value={shown}
            step={1}
            aria-label={say('record.slider')}
            aria-valuetext={text(shown)}
            disabled={last === 0}
            onInput={({ currentTarget }) => {
              const step = Number(currentTarget.value);
              move(step);
              clearTimeout(timer.current);
              timer.current = setTimeout(() => {
                move(undefined);
                go(momentAt(step));
              }, RESTS_MS);
            }}
          />
        </div>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            const given = String(new FormData(event.currentTarget).get('at'));
            go(given === '' ? undefined : toAsked(given, shownAt, at));
          }}
        >
          <label>
            {say('record.at')}{' '}
            <input
              key={at ?? ''}
              name="at"
              type="datetime-local"
              step={1}
              // The page may have been open for a while.
              onFocus={({ currentTarget }) => {
                currentTarget.max = toLocal(new Date());
              }}
              defaultValue={shownAt}
            />
          </label>
          <Button type="submit">{say('record.show')}</Button>
          {at === undefined ? null : <Button onClick={() => go(undefined)}>{say('record.now')}</Button>}
        </form>
      </div>
    </details>
  );
}

function goTo(place: RecordPlace, moment: string | undefined): string {
  if (moment !== undefined) return place.path({ at: moment });
  const url = new URL(place.path(), location.origin);
  url.searchParams.delete('at');
  return url.pathname + url.search;
}

/** Returns the last step that isn't later than the given time. */
function findStep(steps: Moments['data'], at: string): number {
  const found = steps.findLastIndex(({ to }) => Date.parse(to) <= Date.parse(at));
  return Math.max(0, found);
}

/** The number of versions in each step. */
function Density({ steps, at }: { readonly steps: Moments['data']; readonly at: number }) {
  const most = Math.max(1, ...steps.map(({ versions }) => versions));
  return (
    <svg
      class="density"
      viewBox={`0 0 ${Math.max(1, steps.length)} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {steps.map(({ versions }, n) => {
        // Steps with few versions stay visible beside steps with many.
        const height = Math.max(0.08, Math.sqrt(versions / most));
        return (
          <rect
            key={n}
            class={n <= at ? 'past' : ''}
            x={n + 0.1}
            y={1 - height}
            width={0.8}
            height={height}
          />
        );
      })}
    </svg>
  );
}
