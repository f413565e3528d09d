/** The cost of a receipt: access log batches with receipts, compared with batches without receipts. */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { readyEntry } from '#src/operations/access-log/columns.ts';
import { writeEntries } from '#src/operations/access-log/write.ts';
import { makeReceiptRow } from '#src/operations/receipts/row.ts';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import { newRequestId } from '#src/shared/ids.ts';
import type { Bench } from '../bench.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { median } from '../statistics.ts';

/** Number of answers per batch: the answers that arrive while the previous batch is being written. */
const BATCH = 8;
/** The number of versions and the number of code names in a context of 2,000 tokens. */
const [VERSIONS, NAMES] = [60, 12];
const BOUND = 2;

/** The row. */
export const receipts: Measure = {
  row: 'receipts',
  subject: `batches of ${BATCH} access log entries, each with a receipt that lists ${VERSIONS} versions and ${NAMES} code names`,
  baseline: 'the same batches without receipts',
  run: measure,
};

async function measure(bench: Bench): Promise<Finding> {
  const { databaseUrl } = await bench.service();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const records = Array.from({ length: BATCH }, () => randomUUID());
  const displays = Object.fromEntries(
    Array.from({ length: NAMES }, (_, n) => [`http://loinc.org|${1_000 + n}-4`, `Substance ${n} in serum`]),
  );
  const write = async (hasReceipts: boolean): Promise<void> => {
    const receipts = hasReceipts ? records.map((record) => makeReceipt(record, displays)) : [];
    const entries = records.map((record, n) =>
      readyEntry(
        {
          ...{ record, action: 'context', resourceType: null, resourceId: null, purpose: null },
          actor: { kind: 'application', id: 'app_bench', grantId: 'grant_bench' },
          ...{ status: 'ok', count: VERSIONS, requestId: newRequestId() },
        },
        receipts[n]?.id,
      ),
    );
    await writeEntries(pool, entries, receipts);
  };
  /** Returns the time per answer, in ms: processor time in this process, and elapsed time until the answer is durable. */
  const time = async (hasReceipts: boolean) => {
    const batches = bench.size(400, 4);
    const cpu = process.cpuUsage();
    const began = performance.now();
    for (let n = 0; n < batches; n += 1) await write(hasReceipts);
    const { user, system } = process.cpuUsage(cpu);
    return {
      node: (user + system) / 1_000 / batches / BATCH,
      whole: (performance.now() - began) / batches / BATCH,
    };
  };
  try {
    await time(true);
    const { baseline, subject } = await alternate(
      bench.options.runs,
      () => time(false),
      () => time(true),
    );
    const [size] = await bench.query<{ bytes: number; rows: number }>(
      databaseUrl,
      `select pg_total_relation_size('operations.receipt')::float8 as bytes, count(*)::float8 as rows from operations.receipt`,
    );
    const [without, withThem] = [baseline, subject].map((runs) => median(runs.map(({ whole }) => whole)));
    const node = (runs: typeof subject): number => median(runs.map((run) => run.node));
    return {
      bounds: [
        {
          ratio: 'time / baseline',
          value: (withThem ?? Number.NaN) / (without ?? Number.NaN),
          sense: 'at most',
          bound: BOUND,
        },
      ],
      figures: [
        { name: 'an entry with its receipt', value: withThem ?? 0, unit: 'ms' },
        { name: 'an entry without a receipt', value: without ?? 0, unit: 'ms' },
        { name: 'Node’s processor time with receipts', value: node(subject), unit: 'ms' },
        { name: 'Node’s processor time without receipts', value: node(baseline), unit: 'ms' },
        {
          name: 'size of a receipt with its indexes',
          value: (size?.bytes ?? 0) / (size?.rows ?? 1),
          unit: 'B',
        },
      ],
    };
  } finally {
    await pool.end();
  }
}

function makeReceipt(record: string, displays: Readonly<Record<string, string>>) {
  const ask = {
    task: 'follow-up: diabetes',
    question: 'Is the blood glucose stable?',
    needs: ['labs:2339-0'],
  };
  const draft: ReceiptDraft = {
    ...{
      kind: 'context' as const,
      form: 1,
      record,
      position: Date.now() * 1_000,
      name: `ctx_${randomUUID()}`,
    },
    parameters: {
      tenant: record,
      is_past: false,
      manifest: { form: 1, patient: record, day: '2026-11-29', ask },
    },
    versions: Array.from({ length: VERSIONS }, () => ({ id: randomUUID(), version: 1 })),
    inputs: { directory: {}, displays: { ...displays } },
  };
  const sha256 = createHash('sha256').update(randomUUID()).digest();
  return makeReceiptRow({ ...draft, reader: 'grant/grant_bench', sha256 }, '1-0123456789abcdef');
}
