/** Puts the timeline's titles and summaries into the reader's words. Summaries begin with an entry's statuses, as codes. */
import { isAfterTomorrow } from '#src/clinical/reading/doses/dose-bounds.ts';
import { type CodeSet, findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { type Html, html } from '#src/shared/html.ts';
import { REASON, type TimelineKind } from '#src/v1/timeline.ts';
import type { Texts } from '../pages/texts.ts';
import { findLabel } from './code-label.ts';

/** The code sets whose codes can begin a kind's summary, in this order (`src/v1/timeline.ts`). */
const STATES: Readonly<Record<TimelineKind, readonly CodeSet[]>> = {
  document: ['documentStatus', 'resultStatus'],
  observation: ['resultStatus'],
  medication: ['medicationStatus'],
  condition: ['clinicalStatus', 'verificationStatus'],
  encounter: ['encounterStatus'],
  procedure: ['eventStatus'],
  immunization: ['immunizationStatus', 'subpotent'],
  allergy: ['clinicalStatus', 'verificationStatus'],
  report: ['resultStatus'],
  care_plan: ['planStatus', 'intent'],
  goal: ['goalStatus'],
  prescription: ['medicationStatus', 'intent'],
};

/** A status at the beginning of a summary. */
export interface State {
  readonly set: CodeSet;
  readonly code: string;
  readonly label: string;
}

/** Returns the statuses at the beginning of a summary, and the rest of it; the rest is null if nothing is left. */
export function splitStates(
  say: Texts,
  kind: string,
  summary: string | null,
): { readonly states: readonly State[]; readonly rest: string | null } {
  const parts = summary?.split(', ') ?? [];
  const states: State[] = [];
  let sets = Object.entries(STATES).find(([name]) => name === kind)?.[1] ?? [];
  for (const code of parts) {
    const at = sets.findIndex((set) => findLabel(say, set, code) !== undefined);
    const set = sets[at];
    const label = set === undefined ? undefined : findLabel(say, set, code);
    // If `unknown` is the only word, it is a result, not a status.
    if (
      set === undefined ||
      label === undefined ||
      (set === 'resultStatus' && parts.length === 1 && code === 'unknown')
    )
      break;
    states.push({ set, code, label });
    sets = sets.slice(at + 1);
  }
  const rest = restText(say, parts.slice(states.length).join(', '));
  return { states, rest: rest === '' ? null : rest };
}

/**
 * Returns the rest of a summary. If it contains a reason for the status, words in the reader's language introduce the reason.
 */
function restText(say: Texts, rest: string): string {
  const at = rest.startsWith(REASON) ? 0 : rest.lastIndexOf(`, ${REASON}`);
  if (at < 0) return rest;
  const [said, text] = [rest.slice(0, at), rest.slice(rest.indexOf(REASON, at) + REASON.length)];
  const reason = say('known.statusreason', { text });
  return said === '' ? reason : `${said}${say('shl.comma')} ${reason}`;
}

/**
 * Returns a summary as it reads today: a medicine that begins later, or a prescription with a later date, is planned, whatever
 * its status says.
 */
export function summaryToday(
  kind: string | undefined,
  date: string | null,
  summary: string | null,
  today: string,
): string | null {
  if (date === null || summary === null) return summary;
  const isLater =
    kind === 'medication'
      ? date > today.slice(0, date.length)
      : kind === 'prescription' && isAfterTomorrow(date, today.slice(0, 10));
  return isLater ? summary.replace(/^active(?=,|$)/, 'intended') : summary;
}

/** Returns a summary with its statuses in words. */
export function summaryText(say: Texts, kind: string, summary: string): Html {
  const { states, rest } = splitStates(say, kind, summary);
  const words = statesText(say, states);
  if (states.length === 0) return html`<bdi>${summary}</bdi>`;
  return html`${words}${rest === null ? '' : html`${say('shl.comma')} <bdi>${rest}</bdi>`}`;
}

/** Returns a summary with its statuses in words, as plain text; null stays null. */
export function summaryLine(say: Texts, kind: string, summary: string | null): string | null {
  const { states, rest } = splitStates(say, kind, summary);
  const parts = [...(states.length === 0 ? [] : [statesText(say, states)]), ...(rest === null ? [] : [rest])];
  return parts.length === 0 ? null : parts.join(`${say('shl.comma')} `);
}

/**
 * Returns statuses in the order in which people read them: what was planned, and then what became of it (`Order, completed`).
 */
export function statesText(say: Texts, states: readonly State[]): string {
  const plans = states.filter(({ set }) => set === 'intent');
  // In a plan, active means only that the plan is being followed; nobody takes the medicine yet.
  const isPlanned = plans.some(({ code }) => code === 'plan' || code === 'proposal');
  const others = states.filter(
    ({ set, code }) => set !== 'intent' && !(isPlanned && set === 'medicationStatus' && code === 'active'),
  );
  const labels = [...plans, ...others].map(({ label, set, code }, n) =>
    n === 0 ? label : (findCodeWord(say.lang, set, code) ?? label),
  );
  return labels.join(`${say('shl.comma')} `);
}

/** Returns an entry's title. For a visit, this is its class in words; all other titles are unchanged. */
export function titleText(say: Texts, kind: string, title: string): string {
  const label = kind === 'encounter' ? findLabel(say, 'encounterClass', title) : undefined;
  return label ?? title;
}
