import { createDatabase } from '#test/support/database.ts';
import { startService } from '#test/support/service.ts';
import { startProgram } from '#test/support/process.ts';
describe('size', function () { this.timeout(600000);
 it('x', async () => {
  const db = await createDatabase();
  const service = await startService({ databaseUrl: db.url });
  for (let n = 0; n < 24; n += 1) { const p = startProgram(process.execPath, ['bin/annal.js','import','/work/shared/data/synthea-r4','--json','--again','--state','/tmp/h5-state-'+n], { DATABASE_URL: db.url, DATA_DIR: service.dataDir }); console.log(await p.ended); }
  await service.stop();
  await db.pool.query('vacuum analyze').catch(()=>undefined);
  const q = async (s: string) => console.table((await db.pool.query(s)).rows);
  await q(`select schemaname||'.'||relname as t, n_live_tup as rows, pg_table_size(relid) as tbl, pg_indexes_size(relid) as idx, round((pg_table_size(relid))::numeric/nullif(n_live_tup,0)) as tbl_per_row, round(pg_indexes_size(relid)::numeric/nullif(n_live_tup,0)) as idx_per_row from pg_stat_user_tables order by pg_total_relation_size(relid) desc`);
  await q(`select schemaname||'.'||indexrelname as i, pg_relation_size(indexrelid) as size from pg_stat_user_indexes order by 2 desc limit 25`);
  await q(`select count(*) events, count(distinct stream) streams, sum(octet_length(data)) as data, sum(octet_length(metadata)) as metadata, avg(octet_length(data))::int as avg_data, avg(octet_length(metadata))::int as avg_meta, max(octet_length(data)) as max_data from log.events`);
  await q(`select split_part(stream,'-',1) as kind, count(distinct stream) as streams, count(*) as events, sum(octet_length(data)+octet_length(metadata)) as bytes, max(revision) over () from log.events group by 1, revision order by 3 desc limit 3`);
  await q(`select split_part(stream,'-',1) as kind, count(distinct stream) as streams, count(*) as events, sum(octet_length(data)+octet_length(metadata)) as bytes from log.events group by 1`);
  await q(`select type, count(*), avg(octet_length(body))::int as bytes from resources.resource group by 1 order by 2 desc`);
  await q(`select stream, count(*) as events, sum(octet_length(data)+octet_length(metadata)) as bytes from log.events group by 1 order by 2 desc limit 14`);
  await db.drop();
 });
});
