import { randomUUID } from 'node:crypto';
import { startService } from './service.ts';
import { createDatabase } from './database.ts';
import { sample } from './samples.ts';
import { inParallel } from './audit.ts';
import { printJson } from '#src/shared/json.ts';
const db = await createDatabase();
const s = await startService({databaseUrl: db.url, env:{LOG_LEVEL:'info'}});
const s2 = process.argv[2]==='two' ? await startService({databaseUrl: db.url, key: s.key, env:{LOG_LEVEL:'info'}}) : s;
try {
const p = await s.fhir('/Patient',{method:'POST',body:printJson(sample('Patient'))});
const patient=`Patient/${p.json.id}`;
const t: Record<string, number[]> = {};
const time = async (k: string, f: () => Promise<any>) => { const a=performance.now(); const r=await f(); (t[k]??=[]).push(performance.now()-a); return r; };
const t0=performance.now();
await inParallel(Array.from({length:300},(_, i)=>i), 16, async (i) => {
  const c = await time('create', () => s.fhir('/Observation',{method:'POST',body:printJson(sample('Observation',{patient},{marker:randomUUID()}))}));
  if (c.status!==201) console.log(String(c));
  await time('read', () => s2.fhir(`/Observation/${c.json.id}`));
  await time('history', () => s2.fhir(`/Observation/${c.json.id}/_history`));
});
console.log(performance.now()-t0);
for (const [k,v] of Object.entries(t)) { v.sort((a,b)=>a-b); console.log(k, v.length, v[v.length>>1].toFixed(1), v.at(-1)!.toFixed(1)); }
} catch (e) { console.log(e); } finally { console.log(s.log().split('\n').filter(l=>!/"msg":"request"/.test(l)).join('\n').slice(-3000)); if (s2!==s) {console.log('--- two', s2.log().split('\n').filter(l=>!/"msg":"request"/.test(l)).join('\n').slice(-3000)); await s2.stop();} await s.stop(); await db.drop(); }
