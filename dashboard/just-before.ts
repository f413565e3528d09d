/** Returns the last time before an instant, at the log's precision. */
export function justBefore(instant: string): string {
  const [, whole = '', micros = '0'] = /^(.*)\.(\d{6})Z$/.exec(instant) ?? [];
  const before = Number(micros) - 1;
  if (before >= 0) return `${whole}.${String(before).padStart(6, '0')}Z`;
  return `${new Date(Date.parse(`${whole}Z`) - 1).toISOString().slice(0, -1)}999Z`;
}
