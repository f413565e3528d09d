/** FHIR writes under a grant (docs/spec/decisions.md, section 9: "Letters", "Categories", "Writes under a grant"). */
import { expect } from 'chai';
import { contentOf, GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import { eventually } from '#test/support/process.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { endpointAt } from '#test/support/webhooks.ts';

const [LAB, VITAL] = ['laboratory', 'vital-signs'];
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const PATCH = { 'Content-Type': 'application/json-patch+json' };

describe('writes under a grant', () => {
  let on: GrantWriting;
  let whole: Allowed;
  let other: string;

  before(async () => {
    on = await GrantWriting.start();
    whole = await on.allow(['patient/*.cruds']);
    other = await on.created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
  });
  after(() => on?.stop());

  const owns = (path: string) => on.service.fhir(path);
  /** Returns a response's status, and its text without the requested id. */
  const refusal = ({ status, text }: { status: number; text: string }, id: string) => [
    status,
    text.replaceAll(id, 'ID'),
  ];

  it('are read back equal by application and owner, each under its own id', async () => {
    const sent = on.observation(whole.patient, LAB, { valueQuantity: { value: 5.4 } });
    const made = await on.send(whole, 'POST', '/Observation', sent);
    expect(made.status, made.text).to.equal(201);
    const id = String(made.json.id);
    const check = async (version: number, expected: object): Promise<void> => {
      const [own, seen] = [await owns(`/Observation/${id}`), await on.ask(whole, `/Observation/${id}`)];
      expect([own.status, seen.status]).to.deep.equal([200, 200]);
      expect(own.text).to.contain(on.record).and.not.to.contain(whole.patient);
      expect(seen.text).to.equal(own.text.replaceAll(on.record, whole.patient));
      expect(contentOf(seen.text)).to.deep.equal(contentOf(JSON.stringify(expected)));
      expect(seen.headers.get('etag')).to.equal(`W/"${version}"`);
    };
    expect(made.headers.get('location')).to.equal(`${on.service.base}/Observation/${id}/_history/1`);
    await check(1, sent);
    const changed = { ...sent, status: 'amended', note: [{ text: `seen at Patient/${whole.patient}` }] };
    const put = await on.send(
      whole,
      'PUT',
      `/Observation/${id}`,
      { ...changed, id },
      { 'If-Match': 'W/"1"' },
    );
    expect(put.status, put.text).to.equal(200);
    await check(2, changed);
    const operations = [
      { op: 'test', path: '/subject/reference', value: `Patient/${whole.patient}` },
      { op: 'replace', path: '/status', value: 'corrected' },
    ];
    const patched = await on.send(whole, 'PATCH', `/Observation/${id}`, operations, PATCH);
    expect(patched.status, patched.text).to.equal(200);
    await check(3, { ...changed, status: 'corrected' });
    expect((await on.send(whole, 'DELETE', `/Observation/${id}`)).status).to.equal(204);
    expect((await on.ask(whole, `/Observation/${id}`)).status).to.equal(410);
    expect((await owns(`/Observation/${id}`)).status).to.equal(410);
    const restored = await on.send(whole, 'PUT', `/Observation/${id}`, { ...sent, id });
    expect(restored.status, restored.text).to.equal(201);
    await check(5, sent);
  });

  it('change the Patient under its pairwise id, and its real id is unknown', async () => {
    const body = { resourceType: 'Patient', id: whole.patient, name: [{ family: 'Sand', given: ['Ada'] }] };
    const put = await on.send(whole, 'PUT', `/Patient/${whole.patient}`, body);
    expect(put.status, put.text).to.equal(200);
    expect(put.json.id).to.equal(whole.patient);
    expect((await owns(`/Patient/${on.record}`)).text)
      .to.contain('Ada')
      .and.to.contain(on.record);
    const before = await on.events();
    const unknown = await on.send(whole, 'PUT', `/Patient/${UNKNOWN}`, { ...body, id: UNKNOWN });
    expect(unknown.status).to.equal(405);
    for (const id of [on.record, other]) {
      const refused = await on.send(whole, 'PUT', `/Patient/${id}`, { ...body, id });
      expect(refusal(refused, id)).to.deep.equal(refusal(unknown, UNKNOWN));
      expect((await on.send(whole, 'DELETE', `/Patient/${id}`)).status).to.equal(204);
      const patched = await on.send(
        whole,
        'PATCH',
        `/Patient/${id}`,
        [{ op: 'remove', path: '/name' }],
        PATCH,
      );
      expect(patched.status).to.equal(404);
    }
    expect(await on.events()).to.equal(before);
  });

  it('say who wrote: the event, its owner, Provenance with the application as enterer', async () => {
    const made = await on.send(whole, 'POST', '/Observation', on.observation(whole.patient), {
      'X-Service-Source-System': 'Cuff',
    });
    const id = String(made.json.id);
    const { credential, author, source_system } = await on.metadataOf(id);
    expect(credential).to.deep.equal({
      kind: 'grant',
      project: on.application.project,
      environment: 'sandbox',
      application: on.application.applicationId,
      grant_id: whole.data.grant_id,
    });
    expect([author, source_system]).to.deep.equal([{ type: 'patient' }, 'Cuff']);
    const { rows } = await on.service.pool.query<{ owner: unknown; project: unknown }>(
      `select metadata::jsonb -> 'owner' as owner, metadata::jsonb #>> '{credential,project}' as project
         from history.version where id = $1`,
      [on.record],
    );
    expect((await on.metadataOf(id)).owner).to.deep.equal(rows[0]?.owner);
    const provenance = `/Provenance?target=Observation/${id}`;
    for (const { text } of [await owns(provenance), await on.ask(whole, provenance)]) {
      const bundle = JSON.parse(text) as { entry: { resource: { agent: unknown[] } }[] };
      expect(bundle.entry[0]?.resource.agent).to.deep.equal([
        {
          type: { coding: [{ system: PARTICIPANT, code: 'author', display: 'Author' }] },
          who: { identifier: { system: 'https://annal.dev/fhir/author-type', value: 'patient' } },
        },
        {
          type: { coding: [{ system: PARTICIPANT, code: 'enterer', display: 'Enterer' }] },
          who: {
            identifier: { system: 'https://annal.dev/fhir/application', value: on.application.applicationId },
            display: 'Hearty',
          },
        },
      ]);
    }
  });

  it('name practitioners of the application’s own directory without a reference', async () => {
    const practitioner = await on.created(
      {
        resourceType: 'Practitioner',
        name: [{ family: 'Grey', given: ['Meredith'] }],
        identifier: [
          { system: 'urn:old', value: '0', use: 'old' },
          { system: 'urn:license', value: 'L-7' },
        ],
      },
      on.appKey,
    );
    const organization = await on.created(
      {
        resourceType: 'Organization',
        name: 'Seattle Grace',
        identifier: [{ system: 'urn:clinic', value: 'C-1' }],
      },
      on.appKey,
    );
    const role = await on.created(
      { resourceType: 'PractitionerRole', practitioner: { reference: `Practitioner/${practitioner}` } },
      on.appKey,
    );
    const headers = {
      'X-Service-Author-Type': 'practitioner',
      'X-Service-Acting-As': `PractitionerRole/${role}`,
      'X-Service-On-Behalf-Of': `Organization/${organization}`,
    };
    const made = await on.send(whole, 'POST', '/Observation', on.observation(whole.patient), headers);
    expect(made.status, made.text).to.equal(201);
    const id = String(made.json.id);
    const found = await owns(`/Provenance?target=Observation/${id}`);
    for (const each of [practitioner, role, organization]) expect(found.text).not.to.contain(each);
    const [agent] =
      (JSON.parse(found.text) as { entry: { resource: { agent: unknown[] } }[] }).entry[0]?.resource.agent ??
      [];
    expect(agent).to.deep.equal({
      type: { coding: [{ system: PARTICIPANT, code: 'author', display: 'Author' }] },
      who: {
        extension: [
          {
            url: 'http://hl7.org/fhir/StructureDefinition/additionalIdentifier',
            valueIdentifier: { system: 'urn:license', value: 'L-7' },
          },
        ],
        identifier: { system: 'https://annal.dev/fhir/author-type', value: 'practitioner' },
        display: 'Meredith Grey',
      },
      onBehalfOf: { display: 'Seattle Grace', identifier: { system: 'urn:clinic', value: 'C-1' } },
    });
    const validated = await on.service.fhir('/Provenance/$validate', {
      method: 'POST',
      body: JSON.stringify((JSON.parse(found.text) as { entry: { resource: object }[] }).entry[0]?.resource),
    });
    expect(validated.text).not.to.contain('"error"');
    // The record owner's directory entries aren't the application's.
    const theirs = await on.created({ resourceType: 'Practitioner', name: [{ family: 'House' }] });
    const before = await on.events();
    for (const wrong of [
      { 'X-Service-Acting-As': `Practitioner/${theirs}` },
      { 'X-Service-Acting-As': `Practitioner/${UNKNOWN}` },
      { 'X-Service-On-Behalf-Of': `Organization/${UNKNOWN}` },
      { 'X-Service-Author-Type': 'practitioner' },
    ]) {
      const refused = await on.send(whole, 'POST', '/Observation', on.observation(whole.patient), wrong);
      expect([refused.status, refused.text.includes('"invalid"')], refused.text).to.deep.equal([422, true]);
    }
    expect(await on.events()).to.equal(before);
    for (const type of ['patient', 'device', 'import', 'ai']) {
      const one = await on.send(whole, 'POST', '/Observation', on.observation(whole.patient), {
        'X-Service-Author-Type': type,
      });
      expect((await on.metadataOf(String(one.json.id))).author).to.deep.equal({ type });
    }
  });

  it('need their letter, each interaction its own', async () => {
    const id = await on.created(on.observation(on.record, LAB));
    const letters = ['c', 'r', 'u', 'd', 's'];
    for (const missing of ['c', 'u', 'd', 's']) {
      const scope = letters.filter((letter) => letter !== missing).join('');
      const allowed = await on.allow([`patient/Observation.${scope}`]);
      const body = on.observation(allowed.patient, LAB);
      const requests: [string, string, string, object?, Record<string, string>?][] = [
        ['c', 'POST', '/Observation', body],
        ['s', 'POST', '/Observation', body, { 'If-None-Exist': 'identifier=urn:x|1' }],
        ['u', 'PUT', `/Observation/${id}`, { ...body, id }],
        ['u', 'PATCH', `/Observation/${id}`, [{ op: 'replace', path: '/status', value: 'amended' }], PATCH],
        ['s', 'PUT', '/Observation?identifier=urn:x|1', body],
        [
          's',
          'PATCH',
          '/Observation?identifier=urn:x|1',
          [{ op: 'replace', path: '/status', value: 'final' }],
          PATCH,
        ],
        ['s', 'DELETE', '/Observation?identifier=urn:x|1'],
        ['d', 'DELETE', `/Observation/${id}`],
      ];
      for (const [needs, method, path, sent, headers] of requests) {
        if (needs !== missing) continue;
        const before = await on.events();
        const refused = await on.send(allowed, method, path, sent, headers);
        expect(refused.status, `${method} ${path} without ${missing}: ${refused.text}`).to.equal(403);
        expect(refused.text).to.contain('Observation');
        expect(refused.headers.get('www-authenticate')).to.contain('insufficient_scope');
        const entry = {
          request: {
            method,
            url: path.slice(1),
            ...(headers?.['If-None-Exist'] === undefined ? {} : { ifNoneExist: headers['If-None-Exist'] }),
          },
          ...(sent === undefined ? {} : { resource: method === 'PATCH' ? binary(sent) : sent }),
        };
        for (const type of ['batch', 'transaction']) {
          const answer = await on.send(allowed, 'POST', '/', {
            resourceType: 'Bundle',
            type,
            entry: [entry],
          });
          const status =
            type === 'batch'
              ? (JSON.parse(answer.text) as { entry: Answered[] }).entry[0]?.response.status
              : `${answer.status} Forbidden`;
          expect(status, `${type} ${method} without ${missing}: ${answer.text}`).to.equal('403 Forbidden');
        }
        expect(await on.events()).to.equal(before);
      }
    }
  });

  it('restore with u, and create by a conditional update with c', async () => {
    const id = await on.created(on.observation(on.record, LAB));
    await on.service.fhir(`/Observation/${id}`, { method: 'DELETE' });
    const [updates, creates] = [
      await on.allow(['patient/Observation.rus']),
      await on.allow(['patient/Observation.crs']),
    ];
    const refused = await on.send(creates, 'PUT', `/Observation/${id}`, {
      ...on.observation(creates.patient, LAB),
      id,
    });
    expect(refused.status).to.equal(403);
    const restored = await on.send(updates, 'PUT', `/Observation/${id}`, {
      ...on.observation(updates.patient, LAB),
      id,
    });
    expect(restored.status, restored.text).to.equal(201);
    const absent = '/Observation?identifier=urn:absent|1';
    const none = await on.send(updates, 'PUT', absent, on.observation(updates.patient, LAB));
    expect([none.status, none.text.includes('patient/Observation.c')], none.text).to.deep.equal([403, true]);
    const both = await on.allow(['patient/Observation.crus']);
    expect((await on.send(both, 'PUT', absent, on.observation(both.patient, LAB))).status).to.equal(201);
  });

  it('stay within the category, before and after', async () => {
    const labs = await on.allow([`patient/Observation.cruds?category=${LAB}`]);
    const mixed = await on.allow([
      `patient/Observation.cruds?category=${LAB}`,
      `patient/Observation.rs?category=${VITAL}`,
    ]);
    const [lab, vital, plain] = [
      await on.created(on.observation(on.record, LAB)),
      await on.created(on.observation(on.record, VITAL)),
      await on.created(on.observation(on.record)),
    ];
    const put = (allowed: Allowed, id: string, category?: string) =>
      on.send(allowed, 'PUT', `/Observation/${id}`, { ...on.observation(allowed.patient, category), id });
    const patch = (allowed: Allowed, id: string) =>
      on.send(
        allowed,
        'PATCH',
        `/Observation/${id}`,
        [{ op: 'replace', path: '/status', value: 'amended' }],
        PATCH,
      );
    const remove = (allowed: Allowed, id: string) => on.send(allowed, 'DELETE', `/Observation/${id}`);
    const before = await on.events();
    const foreign = await on.created(on.observation(other, LAB));
    expect(
      (await on.send(labs, 'POST', '/Observation', on.observation(labs.patient, VITAL))).status,
    ).to.equal(403);
    expect((await on.send(labs, 'POST', '/Observation', on.observation(labs.patient))).status).to.equal(403);
    expect((await put(labs, lab, VITAL)).status).to.equal(403);
    const moved = [{ op: 'replace', path: '/category/0/coding/0/code', value: VITAL }];
    expect((await on.send(labs, 'PATCH', `/Observation/${lab}`, moved, PATCH)).status).to.equal(403);
    // A resource outside the category is answered like an unknown id.
    const unknown = [
      refusal(await put(labs, UNKNOWN, LAB), UNKNOWN),
      refusal(await patch(labs, UNKNOWN), UNKNOWN),
      refusal(await remove(labs, UNKNOWN), UNKNOWN),
    ];
    expect(unknown.map(([status]) => status)).to.deep.equal([405, 404, 204]);
    for (const id of [vital, plain, foreign])
      expect([
        refusal(await put(labs, id, LAB), id),
        refusal(await patch(labs, id), id),
        refusal(await remove(labs, id), id),
      ]).to.deep.equal(unknown);
    // A resource that is visible through another letter is refused, and the message names it.
    for (const answer of [
      await put(mixed, vital, LAB),
      await patch(mixed, vital),
      await remove(mixed, vital),
    ])
      expect(answer.status, answer.text).to.equal(403);
    expect(await on.events()).to.equal(before + 1);
    expect((await put(labs, lab, LAB)).status).to.equal(200);
    expect((await patch(labs, lab)).status).to.equal(200);
    expect((await remove(labs, lab)).status).to.equal(204);
    expect((await put(labs, lab, LAB)).status).to.equal(201);
    // The owner moves the resource out of the category. From then on, it is unknown to the application.
    await on.service.fhir(`/Observation/${lab}`, {
      method: 'PUT',
      body: JSON.stringify({ ...on.observation(on.record, VITAL), id: lab }),
    });
    expect(refusal(await put(labs, lab, LAB), lab)).to.deep.equal(unknown[0]);
  });

  it('without r show nothing but what was sent', async () => {
    const blind = await on.allow(['patient/Observation.cud', 'patient/Condition.s']);
    const made = await on.send(blind, 'POST', '/Observation', on.observation(blind.patient, LAB));
    expect([made.status, made.text.includes(LAB)]).to.deep.equal([201, true]);
    const id = await on.created(on.observation(on.record, LAB, { note: [{ text: 'hush' }] }));
    const patched = await on.send(
      blind,
      'PATCH',
      `/Observation/${id}`,
      [{ op: 'replace', path: '/status', value: 'amended' }],
      PATCH,
    );
    expect([patched.status, patched.text]).to.deep.equal([200, '']);
    const test = [{ op: 'test', path: '/note/0/text', value: 'hush' }];
    expect((await on.send(blind, 'PATCH', `/Observation/${id}`, test, PATCH)).status).to.equal(403);
    const stale = await on.send(
      blind,
      'PUT',
      `/Observation/${id}`,
      { ...on.observation(blind.patient), id },
      { 'If-Match': 'W/"7"' },
    );
    expect([stale.status, stale.text.includes('version 2')]).to.deep.equal([412, false]);
  });

  it('create no Patient, purge nothing, and leave the directory alone', async () => {
    const practitioner = await on.created({ resourceType: 'Practitioner', name: [{ family: 'House' }] });
    const before = await on.events();
    const requests: [string, string, object?][] = [
      ['POST', '/Patient', { resourceType: 'Patient' }],
      ['PUT', '/Patient?identifier=urn:x|1', { resourceType: 'Patient' }],
      ['DELETE', `/Patient/${whole.patient}?_purge=true`],
      ['POST', '/Practitioner', { resourceType: 'Practitioner' }],
      ['PUT', `/Practitioner/${practitioner}`, { resourceType: 'Practitioner', id: practitioner }],
      ['DELETE', `/Practitioner/${practitioner}`],
      ['POST', '/Organization', { resourceType: 'Organization', name: 'X' }],
      ['POST', '/Medication', { resourceType: 'Medication', code: { text: 'x' } }],
      ['POST', '/Location', { resourceType: 'Location', name: 'x' }],
      ['POST', '/Device', { resourceType: 'Device' }],
    ];
    for (const [method, path, body] of requests) {
      const answer = await on.send(whole, method, path, body);
      expect(answer.status, `${method} ${path}: ${answer.text}`).to.equal(403);
    }
    expect(await on.events()).to.equal(before);
    const own = { resourceType: 'Device', patient: { reference: `Patient/${whole.patient}` } };
    expect((await on.send(whole, 'POST', '/Device', own)).status).to.equal(201);
  });

  it('refuse references out of the grant like those to unknown ids', async () => {
    const narrow = await on.allow(['patient/Observation.cruds']);
    const encounter = (patient: string) =>
      on.created({
        resourceType: 'Encounter',
        status: 'finished',
        class: { code: 'AMB' },
        subject: { reference: `Patient/${patient}` },
      });
    const [hidden, foreign] = [await encounter(on.record), await encounter(other)];
    const before = await on.events();
    const send = (id: string) =>
      on.send(
        narrow,
        'POST',
        '/Observation',
        on.observation(narrow.patient, LAB, { encounter: { reference: `Encounter/${id}` } }),
      );
    const about = (id: string) => on.send(narrow, 'POST', '/Observation', on.observation(id, LAB));
    const [unknown, nobody] = [refusal(await send(UNKNOWN), UNKNOWN), refusal(await about(UNKNOWN), UNKNOWN)];
    expect([unknown[0], nobody[0]]).to.deep.equal([422, 422]);
    for (const id of [hidden, foreign]) expect(refusal(await send(id), id)).to.deep.equal(unknown);
    for (const id of [other, on.record]) expect(refusal(await about(id), id)).to.deep.equal(nobody);
    expect(await on.events()).to.equal(before);
  });

  it('keep references that the application doesn’t see', async () => {
    const encounter = await on.created({
      resourceType: 'Encounter',
      status: 'finished',
      class: { code: 'AMB' },
      subject: { reference: `Patient/${on.record}` },
    });
    const narrow = await on.allow(['patient/Observation.cruds']);
    const id = await on.created(
      on.observation(on.record, LAB, {
        encounter: { reference: `Encounter/${encounter}` },
        focus: [{ reference: `Patient/${other}` }, { reference: `Patient/${other}`, display: 'a twin' }],
      }),
    );
    const seen = await on.ask(narrow, `/Observation/${id}`);
    expect(seen.text).to.contain(encounter).and.not.to.contain(other);
    const put = await on.send(narrow, 'PUT', `/Observation/${id}`, { ...seen.json, status: 'amended' });
    expect(put.status, put.text).to.equal(200);
    const copy = [
      { op: 'copy', from: '/focus/1/reference', path: '/language' },
      { op: 'replace', path: '/status', value: 'corrected' },
    ];
    expect((await on.send(narrow, 'PATCH', `/Observation/${id}`, copy, PATCH)).status).to.equal(422);
    for (const path of ['/focus/0/reference', '/focus/1/reference']) {
      const guess = [{ op: 'test', path, value: `Patient/${other}` }];
      expect((await on.send(narrow, 'PATCH', `/Observation/${id}`, guess, PATCH)).status).to.equal(422);
    }
    const patch = [
      { op: 'remove', path: '/focus/0' },
      { op: 'replace', path: '/status', value: 'corrected' },
    ];
    const patched = await on.send(narrow, 'PATCH', `/Observation/${id}`, patch, PATCH);
    expect(patched.status, patched.text).to.equal(200);
    expect(patched.text).not.to.contain(other);
    const own = await owns(`/Observation/${id}`);
    expect(own.json.focus).to.deep.equal([{ reference: `Patient/${other}`, display: 'a twin' }]);
    expect(own.json.status).to.equal('corrected');
    // A guessed id isn't accepted just because the stored version contains it.
    const guess = { ...seen.json, focus: [{ reference: `Patient/${other}` }] };
    expect((await on.send(narrow, 'PUT', `/Observation/${id}`, guess)).status).to.equal(422);
  });

  it('leave entries in the access log for conditions and for what their answers show', async () => {
    const body = on.observation(whole.patient, LAB, { identifier: [{ system: 'urn:cond', value: '1' }] });
    const made = await on.send(whole, 'POST', '/Observation', body, {
      'If-None-Exist': 'identifier=urn:cond|1',
    });
    expect(await on.logged(made.headers.get('service-request-id') ?? '')).to.deep.equal([
      ['condition', 'Observation', 'ok', 0],
    ]);
    const again = await on.send(whole, 'POST', '/Observation', body, {
      'If-None-Exist': 'identifier=urn:cond|1',
    });
    expect(again.status).to.equal(200);
    expect(await on.logged(again.headers.get('service-request-id') ?? '')).to.deep.equal([
      ['condition', 'Observation', 'ok', 1],
      ['create', 'Observation', 'ok', 1],
    ]);
    const id = String(again.json.id);
    const patched = await on.send(
      whole,
      'PATCH',
      `/Observation/${id}`,
      [{ op: 'replace', path: '/status', value: 'amended' }],
      PATCH,
    );
    expect(await on.logged(patched.headers.get('service-request-id') ?? '')).to.deep.equal([
      ['patch', 'Observation', 'ok', 1],
    ]);
    const put = await on.send(whole, 'PUT', `/Observation/${id}`, { ...body, id });
    expect(await on.logged(put.headers.get('service-request-id') ?? '')).to.deep.equal([]);
    const test = [{ op: 'test', path: '/status', value: body.status }];
    const data = Buffer.from(JSON.stringify(test)).toString('base64');
    const binary = { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
    const entry = [{ resource: binary, request: { method: 'PATCH', url: `Observation/${id}` } }];
    const bundle = { resourceType: 'Bundle', type: 'transaction', entry };
    for (const prefer of ['minimal', 'representation', 'OperationOutcome']) {
      const headers = { Prefer: `return=${prefer}` };
      const alone = await on.send(whole, 'PATCH', `/Observation/${id}`, test, { ...PATCH, ...headers });
      const together = await on.send(whole, 'POST', '/', bundle, headers);
      for (const { status, text, headers: got } of [alone, together]) {
        expect(status, text).to.equal(200);
        expect(await on.logged(got.get('service-request-id') ?? ''), prefer).to.deep.equal([
          ['patch', 'Observation', 'ok', 1],
        ]);
      }
    }
    const narrow = await on.allow(['patient/Observation.rs']);
    const refused = await on.send(narrow, 'PUT', `/Observation/${id}`, { ...body, id });
    await eventually(
      async () => (await on.logged(refused.headers.get('service-request-id') ?? '')).length === 1,
    );
    expect(await on.logged(refused.headers.get('service-request-id') ?? '')).to.deep.equal([
      ['update', 'Observation', 'denied', 0],
    ]);
  });

  it('write Provenances about what is visible, and no others', async () => {
    const about = await on.allow(['patient/Provenance.cruds', `patient/Observation.rs?category=${LAB}`]);
    const [lab, vital] = [
      await on.created(on.observation(on.record, LAB)),
      await on.created(on.observation(on.record, VITAL)),
    ];
    const said = (...targets: string[]) => ({
      resourceType: 'Provenance',
      recorded: '2026-01-01T00:00:00Z',
      target: targets.map((reference) => ({ reference })),
      agent: [{ who: { display: 'the app' } }],
    });
    const unknown = await on.send(about, 'POST', '/Provenance', said(`Observation/${UNKNOWN}`));
    expect(unknown.status).to.equal(422);
    const hidden = await on.send(about, 'POST', '/Provenance', said(`Observation/${vital}`));
    expect(refusal(hidden, vital)).to.deep.equal(refusal(unknown, UNKNOWN));
    const made = await on.send(
      about,
      'POST',
      '/Provenance',
      said(`Observation/${lab}`, `Patient/${about.patient}`),
    );
    expect(made.status, made.text).to.equal(201);
    const id = String(made.json.id);
    const put = (text: string) =>
      on.send(about, 'PUT', `/Provenance/${id}`, {
        ...said(`Observation/${lab}`),
        id,
        reason: [{ text }],
      });
    expect((await put('why')).status).to.equal(200);
    // The target is no longer covered by the grant, and neither is its Provenance.
    await on.service.fhir(`/Observation/${lab}`, {
      method: 'PUT',
      body: JSON.stringify({ ...on.observation(on.record, VITAL), id: lab }),
    });
    expect((await put('no')).status).to.equal(405);
    const patch = [{ op: 'remove', path: '/reason' }];
    expect((await on.send(about, 'PATCH', `/Provenance/${id}`, patch, PATCH)).status).to.equal(404);
    const before = await on.events();
    expect((await on.send(about, 'DELETE', `/Provenance/${id}`)).status).to.equal(204);
    expect(await on.events()).to.equal(before);
    const automatic = await on.service.fhir(`/Provenance?target=Observation/${lab}`);
    for (const { resource } of (JSON.parse(automatic.text) as { entry: { resource: { id: string } }[] })
      .entry) {
      const refused = await on.send(about, 'DELETE', `/Provenance/${resource.id}`);
      expect(refused.status).to.equal(204);
    }
    expect(await on.events()).to.equal(before);
  });

  it('store documents, whose bytes are the record’s', async () => {
    const made = await on.send(whole, 'POST', '/DocumentReference', {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${whole.patient}` },
      content: [
        { attachment: { contentType: 'text/plain', data: Buffer.from('Dear all').toString('base64') } },
      ],
    });
    expect(made.status, made.text).to.equal(201);
    expect(made.text).not.to.contain(on.record);
    const id = String(made.json.id);
    const bytes = await fetch(`${on.service.url}/v1/documents/${id}/content`, {
      headers: { Authorization: `Bearer ${on.service.key}` },
    });
    expect(await bytes.text()).to.equal('Dear all');
    const put = await on.send(whole, 'PUT', `/DocumentReference/${id}`, {
      ...made.json,
      description: 'A letter',
    });
    expect(put.status, put.text).to.equal(200);
    expect((await on.metadataOf(id)).credential).to.include({ kind: 'grant' });
  });
});

describe('webhooks of writes under a grant', () => {
  let on: GrantWriting;
  let receiver: Receiver;
  before(async () => {
    on = await GrantWriting.start();
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver?.stop();
    await on?.stop();
  });

  it('are external for the owner, with the names of the application’s directory, and not for the application', async () => {
    const allowed = await on.allow(['patient/*.cruds']);
    await endpointAt(on.service, `${receiver.url}/owner`, ['resource.created']);
    await endpointAt(on.service, `${receiver.url}/app`, ['resource.created'], { key: on.appKey });
    const doctor = await on.created(
      { resourceType: 'Practitioner', name: [{ family: 'Grey', given: ['Meredith'] }] },
      on.appKey,
    );
    const clinic = await on.created({ resourceType: 'Organization', name: 'Seattle Grace' }, on.appKey);
    const made = await on.send(allowed, 'POST', '/Observation', on.observation(allowed.patient, LAB), {
      'X-Service-Author-Type': 'practitioner',
      'X-Service-Acting-As': `Practitioner/${doctor}`,
      'X-Service-On-Behalf-Of': `Organization/${clinic}`,
      'X-Service-Source-System': 'Chart',
    });
    expect(made.status, made.text).to.equal(201);
    const id = String(made.json.id);
    const dataAt = async (path: string, count: number) => {
      const received = await receiver.of(path, count);
      const all = received.map(
        ({ body }) => JSON.parse(body.toString()) as { data: Record<string, unknown> },
      );
      return all.map(({ data }) => data).find((data) => data.id === id);
    };
    const owners = await dataAt('/owner', 1);
    expect(owners).to.deep.include({
      patient: on.record,
      external: true,
      source: {
        author_type: 'practitioner',
        organization: 'Seattle Grace',
        practitioner: 'Meredith Grey',
        source_system: 'Chart',
      },
    });
    // Events about entries in the application's own directory arrive, too.
    const own = await dataAt('/app', 3);
    expect(own).to.deep.include({ patient: allowed.patient, version: 1 });
    expect(own).to.not.have.any.keys('external', 'source');
  });
});

const PARTICIPANT = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';

interface Answered {
  readonly response: { readonly status: string };
}

function binary(patch: object): object {
  const data = Buffer.from(JSON.stringify(patch)).toString('base64');
  return { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
}
