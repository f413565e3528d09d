/** `annal verify`: derives the read models anew from the log and checks the hash chains. */
import { type VerifyReport, verify } from '#projections/verify.ts';
import { databaseUrlOf, withEventStore } from './database.ts';
import { startProgress } from './progress.ts';
import type { ServiceOptions } from './service.ts';
import { table } from './table.ts';

/** What the command line says. */
export interface VerifyOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
}

/**
 * Verifies and prints what was found.
 * @returns the exit code: 1 when anything differs.
 * @throws Failure when the database cannot be found.
 */
export async function verifyCommand({ json = false, ...where }: VerifyOptions): Promise<number> {
  const databaseUrl = await databaseUrlOf(where);
  const report = await withEventStore(databaseUrl, async (store) => {
    const total = Number(await store.head());
    const progress = startProgress(total, 'events', json);
    try {
      return await verify(
        { store, databaseUrl },
        {
          onProgress: ({ phase, events, position }) => {
            progress.reach(events, Math.max(total, Number(position)));
            progress.say(phase === 'comparing' ? 'comparing' : '');
          },
        },
      );
    } finally {
      progress.stop();
    }
  });
  process.stdout.write(`${json ? JSON.stringify(report, null, 2) : describe(report)}\n`);
  return report.clean ? 0 : 1;
}

const SHOWN = 50;

function describe({ clean, events, streams, log, readModels }: VerifyReport): string {
  const read = `${events} events in ${streams} streams`;
  if (clean) return `${read}: every hash chain holds, every row of the read models is what the log says.`;
  const rows = [
    ...log.map(({ what, stream, revision, message }) => ['log', what, `${stream} at ${revision}`, message]),
    ...readModels.map((fault) =>
      'table' in fault
        ? [
            `${fault.projection}.${fault.table}`,
            fault.what,
            Object.entries(fault.key)
              .map(([name, value]) => `${name} ${String(value)}`)
              .join(', '),
            fault.columns === undefined ? '' : `in ${fault.columns.join(', ')}`,
          ]
        : [fault.projection, fault.what, '', fault.message],
    ),
  ];
  const more = rows.length > SHOWN ? [`… and ${rows.length - SHOWN} more: --json shows all`] : [];
  return [
    `${read}: ${rows.length} faults.`,
    '',
    table(['Where', 'What', 'Which', ''], rows.slice(0, SHOWN)),
    ...more,
  ].join('\n');
}
