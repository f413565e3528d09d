/** The columns that the tables of read models and of processes share. */
import type { Api } from '../../api.ts';
import { Badge } from '../../parts/parts.tsx';
import { PLACE } from '../../place.ts';
import { say, sayNumber, type TextKey, texts } from '../../texts/texts.ts';

/** How often a screen that changes by itself is reloaded, in ms. */
export const POLL_MS = 5_000;

/** A lag of this many seconds or more is highlighted. */
const BEHIND_S = 60;

/** Shows how far something is behind the log. */
export function Behind({ lag }: { readonly lag: Api.ReadModel['lag'] }) {
  if (lag === null) return <span class="quiet">{say('ops.unknown')}</span>;
  if (lag.events === 0) return <span class="quiet">{say('ops.behind.none')}</span>;
  const text = say('ops.behind', {
    events: lag.events >= MOST ? `${sayNumber(MOST)}+` : lag.events,
    seconds: Math.ceil(lag.seconds),
  });
  return lag.seconds < BEHIND_S ? text : <Badge tone="bad">{text}</Badge>;
}

/** The lag in events is counted only up to this number. */
const MOST = 5_000;

/** A name and its purpose. */
export function Named({ name, kind }: { readonly name: string; readonly kind: 'model' | 'process' }) {
  const key = `ops.${kind}.${name}`;
  return (
    <>
      <strong class="whole">
        <code>{name}</code>
      </strong>
      {key in texts.value ? <div class="quiet wide">{say(key as TextKey)}</div> : null}
    </>
  );
}

/** The instance that runs something. */
export function RunsOn({ instance }: { readonly instance: string | null }) {
  if (instance === null) return <span class="quiet">{say('ops.unknown')}</span>;
  return (
    <a href={`${PLACE.root}/ops/instances`}>
      <code>{shortId(instance)}</code>
    </a>
  );
}

/** Returns the beginning of an instance's id, which is enough to tell instances apart. */
export function shortId(id: string): string {
  return id.slice('inst_'.length, 'inst_'.length + 6);
}
