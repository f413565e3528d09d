/** Invitations and links under `/v1`, redeemed by people on two instances at once (docs/spec/decisions.md, section 9). */
import { expect } from 'chai';
import type { Identity } from '#src/shared/access/identity.ts';
import { Refusal } from '#src/shared/refusal.ts';
import {
  byPerson,
  type ConsentInstance,
  grantBy,
  identityOf,
  openInstance,
} from '#test/support/consent-commands.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

const BIRTH_DATE = '1961-05-14';

interface Body {
  readonly [name: string]: unknown;
}

describe('invitations and links', () => {
  let service: InProcess;
  let instances: readonly [ConsentInstance, ConsentInstance];
  let people = 0;

  before(async () => {
    service = await startInProcess();
    instances = [await openInstance(service.databaseUrl), await openInstance(service.databaseUrl)];
  });
  after(async () => {
    await Promise.all((instances ?? []).map((each) => each.close()));
    await service?.stop();
  });

  async function v1(method: string, path: string, body?: Body, key = service.key) {
    const response = await fetch(`${service.url}/v1/patients/${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Body };
  }
  async function newPatient(rest: object = { birthDate: BIRTH_DATE }, key = service.key): Promise<string> {
    const patient = { resourceType: 'Patient', name: [{ family: 'Lind', given: ['Nora', 'Mai'] }], ...rest };
    const answer = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(patient), key });
    return (JSON.parse(answer.text) as { id: string }).id;
  }
  async function invite(patient: string, body: Body = {}): Promise<{ id: string; code: string }> {
    const { status, json } = await v1('POST', `${patient}/invitations`, body);
    expect(status, JSON.stringify(json)).to.equal(201);
    return { id: String(json.id), code: String(json.code) };
  }
  const newPerson = (): Identity => {
    people += 1;
    return identityOf(`person-${people}`);
  };
  const redeem = (person: Identity, code: string, birthDate = BIRTH_DATE, at: 0 | 1 = 0) =>
    instances[at].consents.redeemInvitation(byPerson(person), person, code, birthDate);
  /** Returns the kind of the refusal, or `done` if there is none. */
  const outcome = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error: unknown) => {
        if (error instanceof Refusal) return error.kind;
        throw error;
      },
    );
  async function statusOf(patient: string, id: string): Promise<unknown> {
    const { json } = await v1('GET', `${patient}/invitations`);
    return (json.data as Body[]).find((each) => each.id === id)?.status;
  }
  async function links(patient: string): Promise<Body[]> {
    const { status, json } = await v1('GET', `${patient}/links`);
    expect(status).to.equal(200);
    expect(json.total).to.equal((json.data as Body[]).length);
    return json.data as Body[];
  }

  describe('of a project', () => {
    it('are made with a code of 128 bits and a url, shown once and stored as a hash', async () => {
      const patient = await newPatient();
      const { status, json } = await v1('POST', `${patient}/invitations`, {
        email: 'Nora@Example.org',
        expires_in_days: 30,
      });
      expect(status).to.equal(201);
      const { code, url, ...shown } = json;
      expect(code).to.match(/^[\w-]{22}$/);
      expect(url).to.equal(`${service.url}/invitations?code=${code}`);
      expect(shown.id).to.match(/^inv_[\w-]{22}$/);
      expect(shown).to.deep.include({ relationship: 'self', email: 'nora@example.org', status: 'pending' });
      const days = (Date.parse(String(shown.expires_at)) - Date.parse(String(shown.created_at))) / 86_400_000;
      expect(days).to.be.closeTo(30, 0.01);
      const { json: list } = await v1('GET', `${patient}/invitations`);
      expect(list.data).to.have.length(1);
      expect((list.data as Body[])[0]).to.deep.equal(shown);
      const { rows } = await service.pool.query<{ row: string }>(
        'select i::text as row from operations.invitation i',
      );
      expect(rows.map(({ row }) => row).join()).to.not.contain(String(code));
    });

    it('need a patient of the project with a full birth date, and a key that writes', async () => {
      for (const rest of [{}, { birthDate: '1961' }, { birthDate: '1961-05' }]) {
        const { status, json } = await v1('POST', `${await newPatient(rest)}/invitations`, {});
        expect(status).to.equal(422);
        expect(JSON.stringify(json)).to.contain('full birth date');
      }
      const other = await service.newProject();
      const patient = await newPatient();
      const { id } = await invite(patient);
      expect((await v1('POST', `${patient}/invitations`, {}, other)).status).to.equal(404);
      expect((await v1('GET', `${patient}/invitations`, undefined, other)).status).to.equal(404);
      expect((await v1('DELETE', `${patient}/invitations/${id}`, undefined, other)).status).to.equal(404);
      expect((await v1('GET', `${patient}/links`, undefined, other)).status).to.equal(404);
      for (const body of [
        { expires_in_days: 0 },
        { expires_in_days: 31 },
        { relationship: 'friend' },
        { email: 'nobody' },
        { code: 'x' },
      ])
        expect((await v1('POST', `${patient}/invitations`, body)).status, JSON.stringify(body)).to.equal(422);
    });

    it('give a retry with the same Idempotency-Key the same code, until the record is purged', async () => {
      const patient = await newPatient();
      const ask = async () => {
        const response = await fetch(`${service.url}/v1/patients/${patient}/invitations`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${service.key}`, 'Idempotency-Key': `invite-${patient}` },
        });
        return { status: response.status, text: await response.text() };
      };
      const first = await ask();
      expect(first.status).to.equal(201);
      expect(await ask()).to.deep.equal(first);
      expect((await v1('GET', `${patient}/invitations`)).json.total).to.equal(1);
      expect((await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' })).status).to.equal(
        204,
      );
      expect((await ask()).status).to.equal(404);
    });

    it('are withdrawn, and then worth nothing; a redeemed one is not', async () => {
      const patient = await newPatient();
      const [withdrawn, redeemed] = [await invite(patient), await invite(patient)];
      expect((await v1('DELETE', `${patient}/invitations/${withdrawn.id}`)).status).to.equal(204);
      expect((await v1('DELETE', `${patient}/invitations/${withdrawn.id}`)).status).to.equal(204);
      expect(await statusOf(patient, withdrawn.id)).to.equal('withdrawn');
      expect(await outcome(redeem(newPerson(), withdrawn.code))).to.equal('not_found');
      await redeem(newPerson(), redeemed.code);
      expect((await v1('DELETE', `${patient}/invitations/${redeemed.id}`)).status).to.equal(409);
      expect(await statusOf(patient, redeemed.id)).to.equal('redeemed');
      expect((await v1('DELETE', `${patient}/invitations/inv_none`)).status).to.equal(404);
      expect((await v1('DELETE', `${await newPatient()}/invitations/${withdrawn.id}`)).status).to.equal(404);
    });

    it('are listed in pages, the newest first', async () => {
      const patient = await newPatient();
      const made = [await invite(patient), await invite(patient), await invite(patient)];
      const seen: unknown[] = [];
      for (let cursor = ''; ; ) {
        const { json } = await v1('GET', `${patient}/invitations?limit=2${cursor}`);
        expect(json.total).to.equal(3);
        seen.push(...(json.data as Body[]).map(({ id }) => id));
        if (json.next_cursor === null) break;
        cursor = `&cursor=${json.next_cursor}`;
      }
      expect(seen).to.deep.equal(made.map(({ id }) => id).reverse());
    });
  });

  describe('redeemed', () => {
    it('link the person, once; the project sees the link and no person', async () => {
      const patient = await newPatient();
      const { code, id } = await invite(patient);
      const person = newPerson();
      expect(await instances[0].consents.previewInvitation(person, code)).to.deep.equal({
        given: 'Nora Mai',
        project: 'Clinic',
      });
      const { result } = await redeem(person, code);
      expect(result.patient).to.equal(patient);
      const [link, ...more] = await links(patient);
      expect(more).to.deep.equal([]);
      expect(link).to.deep.include({ id: result.linkId, relationship: 'self', via: 'invitation' });
      expect(link).to.have.all.keys('id', 'relationship', 'via', 'since');
      expect(await statusOf(patient, id)).to.equal('redeemed');
      expect(await outcome(redeem(person, code))).to.equal('not_found');
      expect(await instances[0].consents.previewInvitation(person, code)).to.equal(undefined);
    });

    it('by two people at once, link one of them; the other gets the 404 of an unknown code', async () => {
      for (const relationship of ['self', 'dependent', 'self', 'dependent']) {
        const patient = await newPatient();
        const { code } = await invite(patient, { relationship });
        const outcomes = await Promise.all(
          ([0, 1, 0, 1] as const).map((at) => outcome(redeem(newPerson(), code, BIRTH_DATE, at))),
        );
        expect(outcomes.toSorted()).to.deep.equal(['done', 'not_found', 'not_found', 'not_found']);
        const linked = (await instances[1].events(patient)).filter(({ type }) => type === 'RecordLinked');
        expect(linked).to.have.length(1);
      }
    });

    it('with two self invitations by two people at once, link one; the other gets 409', async () => {
      const patient = await newPatient();
      const codes = [await invite(patient), await invite(patient)] as const;
      const outcomes = await Promise.all([
        outcome(redeem(newPerson(), codes[0].code, BIRTH_DATE, 0)),
        outcome(redeem(newPerson(), codes[1].code, BIRTH_DATE, 1)),
      ]);
      expect(outcomes.toSorted()).to.deep.equal(['conflict', 'done']);
    });

    it('after a crash between link and row, link nobody else, and the same person no second time', async () => {
      const patient = await newPatient();
      const { code, id } = await invite(patient, { relationship: 'dependent' });
      const person = newPerson();
      const { result } = await redeem(person, code);
      const reopen = () =>
        service.pool.query('update operations.invitation set redeemed_at = null where id = $1', [id]);
      await reopen();
      expect(await outcome(redeem(newPerson(), code, BIRTH_DATE, 1))).to.equal('not_found');
      expect(await statusOf(patient, id)).to.equal('redeemed');
      await reopen();
      expect((await redeem(person, code)).result.linkId).to.equal(result.linkId);
      expect(await links(patient)).to.have.length(1);
    });

    it('with a wrong birth date five times in parallel are closed, also for the right one', async () => {
      const patient = await newPatient();
      const { code, id } = await invite(patient);
      const outcomes = await Promise.all(
        ([0, 1, 0, 1, 0, 1, 0] as const).map((at) => outcome(redeem(newPerson(), code, '1961-05-15', at))),
      );
      expect(outcomes.toSorted()).to.deep.equal([
        ...Array.from({ length: 5 }, () => 'invalid'),
        ...Array.from({ length: 2 }, () => 'not_found'),
      ]);
      expect(await statusOf(patient, id)).to.equal('closed');
      expect(await outcome(redeem(newPerson(), code))).to.equal('not_found');
      expect(await links(patient)).to.deep.equal([]);
    });

    it('with four wrong birth dates still link who knows it', async () => {
      const patient = await newPatient();
      const { code } = await invite(patient);
      for (const wrong of ['1961-05-15', '', '14.05.1961', '1961-05'])
        expect(await outcome(redeem(newPerson(), code, wrong))).to.equal('invalid');
      expect(await outcome(redeem(newPerson(), code))).to.equal('done');
    });

    it('need the verified address that they name', async () => {
      const patient = await newPatient();
      const { code } = await invite(patient, { email: 'nora@example.org' });
      const { email: _email, ...nobody } = newPerson();
      for (const person of [
        newPerson(),
        nobody,
        { ...newPerson(), email: 'nora@example.org', emailVerified: false },
      ])
        expect(await outcome(redeem(person, code))).to.equal('not_found');
      expect(await outcome(redeem({ ...newPerson(), email: 'NORA@example.org' }, code))).to.equal('done');
    });

    it('are ten in an hour per person, right or wrong, at all instances together', async () => {
      const person = newPerson();
      const outcomes = await Promise.all(
        Array.from({ length: 14 }, (_, n) =>
          outcome(redeem(person, `unknown-${n}`, BIRTH_DATE, n % 2 === 0 ? 0 : 1)),
        ),
      );
      expect(outcomes.filter((each) => each === 'not_found')).to.have.length(10);
      expect(outcomes.filter((each) => each === 'throttled')).to.have.length(4);
      await service.pool.query(
        "update operations.invitation_try set tries = array(select t - interval '1 hour' from unnest(tries) t)",
      );
      expect(await outcome(redeem(person, 'unknown'))).to.equal('not_found');
    });

    it('are worth nothing once expired, and for a deleted Patient', async () => {
      const [late, gone] = [await newPatient(), await newPatient()];
      const [expired, orphan] = [await invite(late), await invite(gone)];
      await service.pool.query('update operations.invitation set expires_at = now() where id = $1', [
        expired.id,
      ]);
      expect(await outcome(redeem(newPerson(), expired.code))).to.equal('not_found');
      expect(await statusOf(late, expired.id)).to.equal('expired');
      expect((await service.fhir(`/Patient/${gone}`, { method: 'DELETE' })).status).to.equal(204);
      expect(await outcome(redeem(newPerson(), orphan.code))).to.equal('not_found');
      expect(await instances[0].consents.previewInvitation(newPerson(), orphan.code)).to.equal(undefined);
    });
  });

  describe('the end of a link', () => {
    it('ends the grants of that person, on every instance, also while the Patient is deleted', async () => {
      const patient = await newPatient();
      const [own, other] = [newPerson(), newPerson()];
      const { result } = await redeem(own, (await invite(patient)).code);
      await redeem(other, (await invite(patient, { relationship: 'dependent' })).code, BIRTH_DATE, 1);
      const grants = await Promise.all(
        [own, own, other].map((person, n) =>
          instances[0].consents.grant(
            byPerson(person),
            grantBy(person, patient, { application: `app_${n}` }),
          ),
        ),
      );
      await service.fhir(`/Patient/${patient}`, { method: 'DELETE' });
      expect((await v1('DELETE', `${patient}/links/link_none`)).status).to.equal(404);
      expect((await v1('DELETE', `${patient}/links/${result.linkId}`)).status).to.equal(204);
      expect((await v1('DELETE', `${patient}/links/${result.linkId}`)).status).to.equal(204);
      const { rows } = await service.pool.query<{ grant_id: string; end_reason: string | null }>(
        'select grant_id, end_reason from consents.grants where record = $1',
        [patient],
      );
      const ends = new Map(rows.map((row) => [row.grant_id, row.end_reason]));
      expect(grants.map(({ result: { grantId } }) => ends.get(grantId))).to.deep.equal([
        'link_ended',
        'link_ended',
        null,
      ]);
      expect(await links(patient)).to.have.length(1);
    });

    it('leaves no way to a grant, also for one that is asked for at the same time', async () => {
      for (let n = 0; n < 5; n += 1) {
        const patient = await newPatient();
        const person = newPerson();
        const { result } = await redeem(person, (await invite(patient)).code);
        const link = { linkId: result.linkId, person, relationship: 'self' } as const;
        await Promise.all([
          outcome(instances[0].consents.grant(byPerson(person), grantBy(person, patient))),
          instances[1].consents.unlink(byPerson(person), patient, link, 'patient'),
          outcome(
            instances[1].consents.grant(byPerson(person), grantBy(person, patient, { application: 'app_2' })),
          ),
        ]);
        const events = await instances[0].events(patient);
        const ended = new Set(
          events.filter(({ type }) => type === 'ConsentRevoked').map(({ data }) => data.grant_id),
        );
        const begun = events.filter(({ type }) => type === 'ConsentGranted').map(({ data }) => data.grant_id);
        expect(begun.filter((id) => !ended.has(id))).to.deep.equal([]);
        expect(
          await outcome(instances[0].consents.grant(byPerson(person), grantBy(person, patient))),
        ).to.equal('not_found');
      }
    });
  });

  it('go with the record when it is purged, and nothing begins while the purge is under way', async () => {
    const patient = await newPatient();
    const person = newPerson();
    await redeem(person, (await invite(patient)).code);
    await invite(patient, { email: 'nora@example.org' });
    await instances[0].consents.grant(byPerson(person), grantBy(person, patient));
    const purge = service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' });
    await eventually(async () => {
      const asked = await outcome(
        instances[1].consents.grant(byPerson(person), grantBy(person, patient, { application: 'app_9' })),
      );
      return asked === 'conflict' || asked === 'not_found';
    });
    expect((await purge).status).to.equal(204);
    for (const table of [
      'operations.invitation',
      'operations.erasing',
      'consents.grants',
      'consents.links',
    ]) {
      const { rowCount } = await service.pool.query(`select from ${table} where record = $1`, [patient]);
      expect(rowCount, table).to.equal(0);
    }
    expect((await v1('GET', `${patient}/links`)).status).to.equal(404);
  });
});
