/**
 * Random writes under random grants (docs/spec/decisions.md, section 9, "Writes under a grant"). If a grant allows a write,
 * the application and the owner read back the same resource, each under their own id, and the event names the application and
 * the grant. Every other write leaves the record unchanged. If the application can't see the resource, the write is answered
 * like a write to an unknown id. No response and no webhook shows the real id.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { BEGAN } from '#test/projections/made.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type Application, Granting } from '#test/support/granted.ts';
import { changeOf, entryOf, requestOf } from '#test/support/grants/changes.ts';
import { formsIn } from '#test/support/grants/compare.ts';
import { escapedJson, misreadBy } from '#test/support/grants/fuzz.ts';
import { Ledger, type Verdict } from '#test/support/grants/ledger.ts';
import { Picks } from '#test/support/grants/requests.ts';
import { restChangeOf } from '#test/support/grants/rest-changes.ts';
import { scopeTexts, type TypeScope, writingScopes } from '#test/support/grants/scopes.ts';
import { plans, worldOf } from '#test/support/grants/world.ts';
import { untilShown, versionsOf, writeWorld } from '#test/support/grants/write.ts';
import { type GrantedWorld, WriteCheck } from '#test/support/grants/write-check.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { foundProject } from '#test/support/project.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { Answer } from '#test/support/service.ts';
import { counted, tell } from '#test/support/tell.ts';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
/** Maximum number of differences to report. */
const MOST = 8;
/** Numbers that choose a write. */
const choices = fc.array(fc.nat(1_000_000), { minLength: 40, maxLength: 40 });

describe('writes under random grants', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let application: Application;
  let receiver: Receiver;
  let check: WriteCheck;
  const tallies = new Map<string, number>();
  /** Notifications that the application must receive. */
  const expected: string[] = [];

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    receiver = await startReceiver();
    check = new WriteCheck(service, ({ ledger, ids, allowed }, id, { after }, kind) => {
      tally(kind);
      if (!ledger.has('r', after.type, after.categories)) return;
      const type = kind.replace('Resource', 'resource.').toLowerCase();
      const shown = id === ids.record ? ids.patient : id;
      expected.push(`${type} ${after.type}/${shown}/${ledger.held.get(id)?.version} of ${allowed.patient}`);
    });
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id, ['patient/*.cruds']);
    await owner.done('POST', `/projects/${id}/webhooks`, {
      url: `${receiver.url}/hook`,
      events: ['resource.created', 'resource.updated', 'resource.deleted', 'document.finalized'],
      environment: 'sandbox',
    });
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
    await receiver?.stop();
  });

  async function build(
    plan: Parameters<typeof worldOf>[0],
    scopes: readonly TypeScope[],
    isReal: boolean,
  ): Promise<GrantedWorld> {
    const world = worldOf(plan);
    const { project, key } = await foundProject(service.databaseUrl);
    const all = versionsOf(world);
    const at = new Map(all.map(({ id, version }, n) => [`${id}/${version}`, (BEGAN + n) as Micros]));
    await writeWorld(
      granting.events.store,
      { project, environment: 'sandbox' },
      world,
      ({ id, version }) => ({
        at: at.get(`${id}/${version}`) ?? (BEGAN as Micros),
        id: newUuid(),
      }),
    );
    await untilShown(service.pool, all);
    const allowed = await granting.allow(application, world.mine, { scopes: scopeTexts(scopes) });
    let last = 1_000;
    return {
      ...{ world, allowed, key, isReal, documents: new Set<string>() },
      ledger: new Ledger(world, scopes),
      ids: { record: world.mine, patient: allowed.patient },
      another: () => {
        last += 1;
        return `W-${last}`;
      },
    };
  }

  async function alone(granted: GrantedWorld, picks: Picks): Promise<string | undefined> {
    const { ledger, allowed } = granted;
    const sent = changeOf(granted, picks, new Set());
    // Escapes are used only if the application knows the id, because otherwise the unknown id must be inserted into the text.
    const escapes = ledger.knows(sent.change.id ?? '') ? picks.below(256) : 0;
    const request = requestOf(sent, escapes);
    const verdict = ledger.judge(sent.change);
    const before = await check.position();
    const answer = await check.send(allowed.token, request);
    tally(`${sent.change.interaction} ${verdict.is}`);
    const what = `${request.method} ${request.url} ${JSON.stringify(request.headers)} ${request.body ?? ''}: ${answer}`;
    const isDone = answer.status < 300;
    if (verdict.is === 'written' && !isDone) return `refused, not written: ${what}`;
    if (verdict.is === 'refused' && isDone) return `not refused: ${what}`;
    const wrong =
      (await check.check(granted, [{ sent, verdict }], before, answer)) ??
      (verdict.is === 'written'
        ? undefined
        : await check.unlikeUnknown(granted, sent.change.id, request, answer));
    return wrong === undefined ? undefined : `${wrong}: ${what}`;
  }

  async function together(granted: GrantedWorld, picks: Picks): Promise<string | undefined> {
    const { ledger, allowed, ids } = granted;
    const taken = new Set<string>();
    const writes = Array.from({ length: 1 + picks.below(4) }, () => {
      const sent = changeOf(granted, picks, taken);
      return { sent, verdict: ledger.judge(sent.change) };
    });
    const type = picks.of(['transaction', 'batch']);
    const read = picks.of([
      `Patient/${ids.patient}`,
      `Patient/${granted.isReal ? ids.record : UNKNOWN}`,
      'Patient?name=Sand',
    ]);
    const isRead = read === `Patient/${ids.patient}` || read.includes('?');
    const entry = [...writes.map(({ sent }) => entryOf(sent)), { request: { method: 'GET', url: read } }];
    const body = escapedJson({ resourceType: 'Bundle', type, entry }, picks.below(256));
    const before = await check.position();
    const answer = await check.send(allowed.token, {
      ...{ method: 'POST', url: '/fhir/R4', body },
      headers: {
        'Content-Type': 'application/fhir+json',
        Prefer: picks.of(['return=minimal', 'return=representation']),
      },
    });
    const what = `${answer.status} ${answer.text} to ${JSON.stringify(JSON.parse(body))}`;
    const told = writes.map(({ sent, verdict }) => `${sent.method} ${sent.url} ${verdict.is}`).join(', ');
    const isWhole = type === 'transaction';
    const isRefused = isWhole && (!isRead || writes.some(({ verdict }) => verdict.is === 'refused'));
    tally(`${type} ${isRefused ? 'refused' : 'done'}`);
    if (isRefused && answer.status < 400) return `${told}: not refused: ${what}`;
    const isUnsure = isWhole && writes.some(({ verdict }) => verdict.is === 'unwritten');
    if (!isRefused && !isUnsure && answer.status !== 200) return `${told}: refused: ${what}`;
    const done = answer.status === 200 ? writes : writes.map((each) => ({ ...each, verdict: NOTHING }));
    const statuses = answer.status === 200 ? statusesIn(answer) : [];
    for (const [n, { verdict }] of done.entries()) {
      const isDone = Number(statuses[n] ?? 500) < 300;
      if (verdict.is === 'written' && !isDone) return `${told}: entry ${n} refused: ${what}`;
      if (verdict.is === 'refused' && isDone) return `${told}: entry ${n} not refused: ${what}`;
    }
    const wrong = await check.check(granted, done, before, answer);
    return wrong === undefined ? undefined : `${told}: ${wrong}: ${what}`;
  }

  async function byRest(granted: GrantedWorld, picks: Picks): Promise<string | undefined> {
    const { ledger, allowed, ids, documents, key } = granted;
    const pending = [...documents].filter((id) => ledger.held.get(id)?.version === 1);
    const sent = restChangeOf(granted, picks, pending);
    const { change, request, text, items } = sent;
    const judged = sent.verdict ?? ledger.judge(change);
    // REST v1 writes resources without an identifier.
    const verdict: Verdict =
      judged.is === 'written' ? { ...judged, after: { ...judged.after, identifier: undefined } } : judged;
    const before = await check.position();
    const answer = await check.send(allowed.token, request);
    tally(`v1 ${items} ${change.interaction} ${verdict.is}`);
    const what = `${request.method} ${request.url} ${request.body ?? ''}: ${answer}`;
    const isDone = answer.status < 300;
    if (verdict.is === (isDone ? 'refused' : 'written')) return `${verdict.is}, ${what}`;
    // A deleted resource can be deleted again if the application knows it.
    if (verdict.is === 'unwritten' && isDone && !ledger.knows(change.id ?? '')) return `not known, ${what}`;
    const known = new Set(ledger.held.keys());
    const wrong =
      (await check.check(granted, [{ sent: { change }, verdict }], before, answer)) ??
      (isDone ? undefined : await check.unlikeUnknown(granted, change.id, request, answer));
    if (wrong !== undefined) return `${wrong}: ${what}`;
    const made = [...ledger.held.keys()].find((id) => !known.has(id)) ?? change.id ?? '';
    if (items === 'documents' && isDone) documents.add(made);
    const isRead = ledger.has('r', change.type, ledger.held.get(made)?.categories ?? []);
    if (!isDone || change.interaction === 'delete' || !isRead) return undefined;
    const path =
      items === 'content'
        ? `documents/${made}/content`
        : `${items === 'labs' ? 'observations' : items}/${made}`;
    const owned = await check.send(key, { method: 'GET', url: `/v1/${path}` });
    const own = await check.send(allowed.token, {
      method: 'GET',
      url: `/v1/${path.replace(ids.record, ids.patient)}`,
    });
    if (items === 'content')
      return [owned.text, own.text].every((each) => each === text)
        ? undefined
        : `bytes ${owned} ${own}: ${what}`;
    if (owned.status !== 200 || own.status !== 200) return `read as ${own}, by the owner ${owned}: ${what}`;
    const misread = misreadBy(JSON.parse(owned.text), JSON.parse(own.text), ids);
    if (misread !== undefined) return `the owner reads ${misread}: ${what}`;
    return JSON.stringify(JSON.parse(own.text)).includes(JSON.stringify(text).slice(1, -1))
      ? undefined
      : `read back as ${own}: ${what}`;
  }

  /** Waits until the application has received all notifications, and returns what is wrong with them. */
  async function told(worlds: readonly GrantedWorld[]): Promise<string[]> {
    for (const { key, ids, ledger, allowed } of worlds) {
      const body = JSON.stringify({ resourceType: 'Patient', id: ids.record, birthDate: '1960-01-01' });
      const headers = { 'Content-Type': 'application/fhir+json' };
      const last = await check.send(key, {
        method: 'PUT',
        url: `/fhir/R4/Patient/${ids.record}`,
        headers,
        body,
      });
      expect(last.status, last.text).to.equal(200);
      const version = (ledger.held.get(ids.record)?.version ?? 0) + 1;
      expected.push(`resource.updated Patient/${ids.patient}/${version} of ${allowed.patient}`);
    }
    const all = () =>
      receiver.received.flatMap(({ body }) => {
        const { type, data } = JSON.parse(body.toString()) as { type: string; data: Record<string, unknown> };
        if (!type.startsWith('resource.')) return [];
        return [`${type} ${data.resource_type}/${data.id}/${data.version} of ${data.patient}`];
      });
    await eventually(() => new Set(all()).size >= expected.length, 60_000).catch(() => undefined);
    const [come, due] = [new Set(all()), new Set(expected)];
    const events = new Map<string, string>();
    return [
      ...[...due].filter((each) => !come.has(each)).map((each) => `not told of ${each}`),
      ...[...come].filter((each) => !due.has(each)).map((each) => `told of ${each}`),
      ...receiver.received.flatMap(({ headers, body }) => {
        const text = body.toString();
        const answer = new Answer(200, new Headers(headers as Record<string, string>), text);
        const event = String(headers['service-event-id']);
        const other = events.get(event);
        events.set(event, text);
        return [
          ...worlds.flatMap(({ ids }) =>
            formsIn(ids.record, answer).map((form) => `a webhook has the real id, ${form}: ${text}`),
          ),
          ...(other === undefined || other === text ? [] : [`${event} is ${other} and ${text}`]),
        ];
      }),
    ];
  }

  function tally(what: string): void {
    tallies.set(what, (tallies.get(what) ?? 0) + 1);
  }

  it('are done where the grant allows them, and change nothing elsewhere', async function () {
    const worlds = scaled(40, 2);
    const each = scaled(100, 30);
    this.timeout(180_000 + worlds * each * 400);
    const seed = steadySeed();
    const wrong: string[] = [];
    const built: GrantedWorld[] = [];
    for (let n = 0; n < worlds && wrong.length < MOST; n += 1) {
      const [[plan, scopes] = [undefined, undefined]] = fc.sample(fc.tuple(plans, writingScopes), {
        seed: seed + n,
        numRuns: 1,
      });
      if (plan === undefined || scopes === undefined) throw new RangeError('no world');
      // Text sent with the real id comes back with the real id, so every second world contains no such text.
      const granted = await build(plan, scopes, (seed + n) % 2 === 0);
      built.push(granted);
      for (const numbers of fc.sample(choices, { seed: seed + n, numRuns: each })) {
        const picks = new Picks(numbers);
        const found = await picks.of([alone, alone, together, byRest])(granted, picks);
        // After a difference, later writes would be compared with a wrong state.
        if (found === undefined) continue;
        wrong.push(`seed ${seed + n}, ${scopeTexts(scopes).join(' ')}: ${found}`);
        break;
      }
    }
    tell(`writes under random grants: ${counted(tallies)}`);
    if (wrong.length === 0) wrong.push(...(await told(built)).slice(0, MOST));
    expect(wrong.join('\n\n')).to.equal('');
  });
});

const NOTHING: Verdict = { is: 'unwritten' };

function statusesIn({ text }: Answer): string[] {
  const { entry } = JSON.parse(text) as { entry: { response: { status: string } }[] };
  return entry.map(({ response }) => response.status.slice(0, 3));
}
