/** Why the person needs records of production: asked once in a session for each project, and sent with each request. */
import { signal } from '@preact/signals';

const KEPT = 'annal.reasons';

/** What this tab keeps. */
interface Kept {
  /** Issuer and subject of the person who gave them. */
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

/** Returns the reason for a project's records; undefined until the person gave one. */
export function reasonFor(project: string): string | undefined {
  return kept.value.reasons[project];
}

/** Keeps the reason for a project's records. */
export function giveReason(project: string, reason: string): void {
  keep({ ...kept.value, reasons: { ...kept.value.reasons, [project]: reason } });
}

/** Forgets the reason for a project's records, so that the next ones are opened with another. */
export function dropReason(project: string): void {
  const { [project]: _, ...reasons } = kept.value.reasons;
  keep({ ...kept.value, reasons });
}

/** Forgets the reasons of everybody else: another person may have signed in. */
export function keepReasonsOf(person: string): void {
  if (kept.value.of !== person) keep({ of: person, reasons: {} });
}

/** Returns the headers with the reason for a project's records; none without one. */
export function reasonHeaders(project: string): Readonly<Record<string, string>> {
  const reason = reasonFor(project);
  return reason === undefined ? {} : { 'X-Service-Reason': encodeURIComponent(reason) };
}
