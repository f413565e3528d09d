/** The reason why the person needs production records: asked for once per session and project, and sent with each request. */
import { signal } from '@preact/signals';

const KEPT = 'annal.reasons';

/** The data that this tab stores. */
interface Kept {
  /** Issuer and subject of the person who gave the reasons. */
  readonly of: string;
  readonly reasons: Readonly<Record<string, string>>;
}

const kept = signal<Kept>(read());

function read(): Kept {
  const text = sessionStorage.getItem(KEPT);
  return text === null ? { of: '', reasons: {} } : (JSON.parse(text) as Kept);
}

function keep(next: Kept): void {
  kept.value = next;
  sessionStorage.setItem(KEPT, JSON.stringify(next));
}

/** Returns the reason for a project's records; undefined until the person has given one. */
export function reasonFor(project: string): string | undefined {
  return kept.value.reasons[project];
}

/** Keeps the reason for a project's records. */
export function giveReason(project: string, reason: string): void {
  keep({ ...kept.value, reasons: { ...kept.value.reasons, [project]: reason } });
}

/** Forgets the reason for a project's records, so that a new reason is asked for before any more records are opened. */
export function dropReason(project: string): void {
  const { [project]: _, ...reasons } = kept.value.reasons;
  keep({ ...kept.value, reasons });
}

/** Forgets reasons that a different person gave: another person may have signed in. */
export function keepReasonsOf(person: string): void {
  if (kept.value.of !== person) keep({ of: person, reasons: {} });
}

/** Returns the headers that contain the reason for a project's records; empty if no reason was given. */
export function reasonHeaders(project: string): Readonly<Record<string, string>> {
  const reason = reasonFor(project);
  return reason === undefined ? {} : { 'X-Service-Reason': encodeURIComponent(reason) };
}
