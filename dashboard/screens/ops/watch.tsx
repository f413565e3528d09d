/** Wraps each operators' screen except the first, and shows when something needs an operator's immediate attention. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { annal } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { PLACE } from '../../place.ts';
import { sayCount } from '../../texts/texts.ts';
import { urgentNeeds } from '../../urgent-needs.ts';

const EVERY_MS = 20_000;

/** Returns the screen, with the urgent needs above it. */
export function Watched({ children }: { readonly children: ComponentChildren }) {
  const health = useLoaded((signal) => annal.get('/admin/operations/health', {}, { signal }), [], EVERY_MS);
  useUrgent(health.value);
  return (
    <>
      {urgentNeeds.value === 0 ? null : (
        <p class="note warned" role="status">
          <a href={`${PLACE.root}/ops`}>{sayCount('ops.urgent', urgentNeeds.value)}</a>
        </p>
      )}
      {children}
    </>
  );
}

/** Counts urgent needs, for the title and the menu, until the person leaves the screen. */
export function useUrgent(
  health: { readonly data: readonly { readonly urgent: boolean }[] } | undefined,
): void {
  const count = health?.data.filter(({ urgent }) => urgent).length ?? 0;
  useEffect(() => {
    urgentNeeds.value = count;
  }, [count]);
  useEffect(
    () => () => {
      urgentNeeds.value = 0;
    },
    [],
  );
}
