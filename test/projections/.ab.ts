import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { PROJECTIONS } from '#projections/all.ts';
import { Progress } from '#projections/progress.ts';
import { Projector } from '#projections/projector.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { createDatabase } from '#test/support/database.ts';
import { Streams, created } from '#test/projections/made.ts';
import { newUuid } from '#src/shared/ids.ts';
const db = process.env.URL ? undefined : await createDatabase();
const url = process.env.URL ?? db!.url;
const store = await PostgresEventStore.open({ url });
await prepareReadModels(db!.pool, PROJECTIONS);
const names = PROJECTIONS.map((p) => p.name);
const progress = new Progress({ store, databaseUrl: url, names });
await progress.start();
const projector = new Projector({ store, databaseUrl: url, projections: PROJECTIONS, progress, log: console as never });
projector.start();
const s = new Streams(store);
const patient = newUuid();
const pad = 'x'.repeat(1200);
const q = (a: number[], p: number) => a.sort((x, y) => x - y)[Math.floor(a.length * p)]!.toFixed(3);

const R: Record<string, number[][]> = { alone: [[],[],[]], told: [[],[],[]] };
for (let round = 0; round < 24; round++) {
  const mode = round % 2 ? 'alone' : 'told';

  for (let i = 0; i < 300; i++) {
    const ev = created('Observation', newUuid(), { pad });
    const t = performance.now();
    const pos = await s.record(patient, ev);
    const t1 = performance.now();
    await progress.waitFor(pos, ['resources', 'history'], 10000);
    const t2 = performance.now();
    if (round > 3) { R[mode]![0]!.push(t1 - t); R[mode]![1]!.push(t2 - t1); R[mode]![2]!.push(t2 - t); }
  }
}
for (const [m, [a, v, tt]] of Object.entries(R) as any) console.log(m, 'append p25/p50', q(a, .25), q(a, .5), 'visible after', q(v, .25), q(v, .5), 'total', q(tt, .25), q(tt, .5), 'ratio', (Number(q(tt, .5)) / Number(q(a, .5))).toFixed(2));
console.log(projector.status());
for (const n of [300]) {
  const t = performance.now();
  let pos; for (let i = 0; i < 40; i++) pos = await s.record(newUuid(), ...Array.from({ length: n }, () => created('Observation', newUuid(), { pad })));
  const t1 = performance.now();
  await progress.waitFor(pos!, ['resources', 'history'], 30000);
  console.log('bulk 40 x', n, 'append', (t1 - t).toFixed(0), 'visible', (performance.now() - t).toFixed(0), 'ms =>', Math.round(40 * n / (performance.now() - t) * 1000), '/s');
}
await projector.stop(); progress.stop(); await store.close(); await db?.drop(); process.exit(0);
