/**
 * Assistants' tools reveal nothing about other records, projects and environments, either under a grant or with an
 * application's own token. An id from elsewhere is answered like an id that never existed, and the call leaves no trace there
 * (docs/mcp.md).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import {
  type Answered,
  type AnsweredWorld,
  answerAbout,
  writeAnswered,
  writeRecord,
} from '#test/support/isolation/answered.ts';
import { shown } from '#test/support/isolation/shown.ts';
import { type Named, SECRET } from '#test/support/isolation/theirs.ts';
import { callsNaming, type NamedIds, type ToolCall } from '#test/support/isolation/tool-calls.ts';
import { postMcp } from '#test/support/mcp.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { counted, tell } from '#test/support/tell.ts';

const plain = (id: string): Named => ({ type: '', id, marker: `never-${id}` });
const neverIds = (): NamedIds => ({
  ...{ patient: newUuid(), observation: newUuid(), practitioner: newUuid(), document: newUuid() },
});

/** A caller of tools, with what the caller can see and what it can't. */
interface ToolCaller {
  readonly name: string;
  readonly token: string;
  readonly own: NamedIds;
  readonly hidden: readonly NamedIds[];
}

describe('isolation of tools of assistants', () => {
  let service: InProcess;
  let world: AnsweredWorld;
  let callers: readonly ToolCaller[];
  const answered = new Map<string, number>();

  before(async () => {
    service = await startInProcess();
    world = await writeAnswered(service);
    const { granting, records, applications, auditing } = world;
    const { key } = auditing.sandbox;
    const purged = await writeRecord(service, key, { marker: `${SECRET}-gone`, entry: 'Lind' });
    await answerAbout(service, { ...purged, key, allowed: undefined });
    const path = `/Patient/${purged.patient}?_purge=true`;
    expect((await service.fhir(path, { method: 'DELETE', key })).status).to.equal(204);
    // A purge doesn't remove the directory's entries, so an unknown id is used for the practitioner.
    const gone = { ...purged, practitioner: newUuid() };
    const isTogether = (one: Answered, other: Answered): boolean =>
      one.project === other.project && one.environment === other.environment;
    const made = [0, 3, 4].map(async (n): Promise<ToolCaller[]> => {
      const own = records[n];
      if (own?.allowed === undefined) throw new Error('there is no grant');
      const { token, patient } = own.allowed;
      // The whole directory of the record's project is open to grants on the record.
      const others = records
        .filter((each) => each !== own)
        .map((each) => (isTogether(own, each) ? { ...each, practitioner: newUuid() } : each));
      const real = { ...neverIds(), patient: own.patient };
      const apart = records.filter((each) => !isTogether(own, each));
      const resource = `${service.url}/mcp`;
      return [
        {
          ...{ name: `the grant on record ${n}`, token, own: { ...own, patient } },
          hidden: [...others, real, gone],
        },
        {
          ...{ name: `the application of ${own.place}`, own },
          token: await granting.clientToken(applications[own.place], 'system/*.cruds', [resource]),
          hidden: own.place === 'pilot' ? apart : [...apart, gone],
        },
      ];
    });
    callers = (await Promise.all(made)).flat();
  });
  after(async () => {
    await world?.granting.close();
    await service?.stop();
  });

  async function compare(
    { name, token, own, hidden }: ToolCaller,
    which: number,
    pick: number,
  ): Promise<void> {
    const ids = hidden[which % hidden.length] ?? own;
    const unknown = neverIds();
    const [calls, others] = [callsNaming(ids, own, service.url), callsNaming(unknown, own, service.url)];
    const at = pick % calls.length;
    const ask = async (call: ToolCall | undefined, named: NamedIds) => {
      if (call === undefined) throw new RangeError('no such call');
      const answer = await postMcp(service.url, token, call.method, call.params);
      const names = [named.patient, named.observation, named.practitioner, named.document].map(plain);
      return { status: answer.status, text: answer.text, said: shown(answer, ...names) };
    };
    const found = await ask(calls[at], ids);
    const other = await ask(others[at], unknown);
    const about = `${name}: ${JSON.stringify(calls[at])}`;
    expect(found.said, about).to.equal(other.said);
    const kind = /"isError":true|"error":/.test(found.text) ? 'refused' : 'answered';
    answered.set(kind, (answered.get(kind) ?? 0) + 1);
    const caller = world.records.find(({ document }) => document === own.document);
    for (const { marker, entry, document } of world.records) {
      if (document !== own.document) expect(found.text, about).to.not.contain(marker);
      if (entry !== caller?.entry) expect(found.text, about).to.not.contain(entry);
    }
  }

  it('answer about what the caller doesn’t see as about what never was', async function () {
    const runs = scaled(3_000, 60);
    this.timeout(60_000 + runs * 500);
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fc.nat(1_000), fc.nat(1_000), async (who, which, pick) => {
        const caller = callers[who];
        if (caller === undefined) throw new RangeError('no such caller');
        await compare(caller, which, pick);
      }),
      { numRuns: runs, seed: steadySeed(), endOnFailure: true },
    );
    tell(`pairs of calls: ${counted(answered)}`);
  });

  it('do so in every call, for each kind of caller', async function () {
    this.timeout(120_000);
    for (const caller of callers.slice(0, 2)) {
      const { length } = callsNaming(caller.own, caller.own, service.url);
      for (let pick = 0; pick < length; pick += 1) await compare(caller, pick, pick);
    }
  });

  it('leave nothing in others’ records, and nothing of what never was', async () => {
    const { rows } = await service.pool.query<{ record: string; reader: string }>(
      'select distinct record, reader from operations.receipt',
    );
    for (const { record: id, reader } of rows) {
      const of = world.records.find(({ patient }) => patient === id);
      if (of === undefined) throw new Error(`${reader} has a receipt of ${id}`);
      const own = [
        `key/${of.keyId}`,
        `grant/${of.allowed?.data.grant_id}`,
        `application/${of.environment === 'sandbox' && world.applications[of.place].applicationId}`,
      ];
      expect(own, `${reader} of ${id}`).to.include(reader);
    }
    const heads = await service.pool.query<{ record: string }>(
      'select record from operations.access_head where not erased',
    );
    expect(heads.rows.map((row) => row.record)).to.have.members(world.records.map(({ patient }) => patient));
  });
});
