/**
 * No statement under a grant reads rows of `resources`, `history`, `search` or `timeline` without the one condition that
 * limits what a caller sees (`queries/sight.ts`; docs/spec/decisions.md, section 9). The statements are recorded while
 * requests are sent.
 */
import { expect } from 'chai';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { openApiDocument } from '#src/http/openapi/document.ts';
import { ALL_ROUTES } from '#src/http/routes.ts';
import { CATEGORY_TYPES } from '#src/oauth/scopes.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { GrantWriting, OBSERVATION_CATEGORY } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import { othersOf, readsOf, type WalkIds, type WalkRequest, writesOf } from '#test/support/granted-walk.ts';
import { HERE } from '#test/support/in-process.ts';
import { type Recording, recordStatements } from '#test/support/sent-statements.ts';
import { SIGHT_EXCEPTIONS } from '#test/support/sight-exceptions.ts';
import { type SentUnder, unseenReads } from '#test/support/sight-of-statements.ts';

/** The connections that requests use. Other connections are used for the log and by processes. */
const OF_REQUESTS = new Set(['annal', 'annal criteria locks']);

describe('statements under a grant', () => {
  let on: GrantWriting;
  let allowed: Allowed;
  let ids: WalkIds;
  let under: SentUnder;
  let recording: Recording;

  before(async () => {
    on = await GrantWriting.start(HERE);
    const { record } = on;
    const to = (type: string, id: string) => ({ reference: `${type}/${id}` });
    const subject = to('Patient', record);
    const clinic = await on.created({ resourceType: 'Organization', name: 'Clinic' });
    const doctor = await on.created({ resourceType: 'Practitioner', name: [{ family: 'Ruiz' }] });
    const encounter = await on.created({
      ...{ resourceType: 'Encounter', status: 'finished', class: { code: 'AMB' }, subject },
      serviceProvider: to('Organization', clinic),
    });
    await on.created({ resourceType: 'Device', status: 'active', patient: subject });
    const more = {
      effectiveDateTime: '2026-01-01',
      valueQuantity: { value: 7, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      performer: [to('Practitioner', doctor)],
      encounter: to('Encounter', encounter),
    };
    const lab = await on.created(on.observation(record, 'laboratory', more));
    for (const category of ['laboratory', 'vital-signs', undefined])
      await on.created(
        on.observation(record, category, {
          ...more,
          hasMember: [to('Observation', `${lab}/_history/1`)],
          focus: [subject],
        }),
      );
    const condition = await on.created({ resourceType: 'Condition', subject, code: { text: 'Gout' } });
    const document = await on.created({
      ...{ resourceType: 'DocumentReference', status: 'current', subject },
      content: [{ attachment: { title: 'Letter', contentType: 'text/plain' } }],
    });
    const claim = await on.created({
      ...{ resourceType: 'Provenance', recorded: '2026-01-01T00:00:00Z', target: [to('Observation', lab)] },
      agent: [{ who: to('Practitioner', doctor) }],
    });
    // All types that have categories are limited to one, so a condition on only record and type isn't enough.
    const scopes = TYPE_NAMES.filter((type) => ['record', 'either'].includes(typeEntry(type).home)).map(
      (type) =>
        CATEGORY_TYPES.has(type)
          ? `patient/${type}.cruds?category=${type === 'Observation' ? `${OBSERVATION_CATEGORY}|` : ''}laboratory`
          : `patient/${type}.rs`,
    );
    allowed = await on.allow(scopes);
    const colleague = await on.created(
      { resourceType: 'Practitioner', name: [{ family: 'Lind' }] },
      on.appKey,
    );
    ids = { patient: allowed.patient, lab, encounter, condition, doctor, clinic, claim, document, colleague };
    under = { record, access: parseAccess(scopes) };
    recording = recordStatements();
  });
  after(async () => {
    recording?.stop();
    await on?.stop();
  });

  const used = new Set<RegExp>();
  /**
   * Sends a request, which must need at least the given number of statements. Returns the reads that lack the condition and
   * aren't listed as exceptions.
   */
  async function unlisted(
    { method, url, body, type, headers, status }: WalkRequest,
    atLeast = 1,
  ): Promise<string[]> {
    recording.taken();
    const answer = await on.service.fhir(on.service.url + url, {
      method,
      key: allowed.token,
      headers: { 'Content-Type': type ?? 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    if (status !== undefined) expect(answer.status, `${method} ${url}: ${answer.text}`).to.equal(status);
    const sent = recording.taken().filter(({ connection }) => OF_REQUESTS.has(connection));
    expect(sent.length, `${method} ${url}: ${answer.text}`).to.be.at.least(atLeast);
    return sent
      .flatMap((statement) => unseenReads(statement, under))
      .flatMap((read) => {
        const listed = SIGHT_EXCEPTIONS.filter(({ of }) => of.test(read));
        for (const { of } of listed) used.add(of);
        return listed.length > 0 ? [] : [`${answer.status} ${method} ${url}: ${read}`];
      });
  }

  it('have the condition on each table, or are listed with the reason', async function () {
    this.timeout(120_000);
    const found: string[] = [];
    const [reads, writes] = [readsOf(ids), writesOf(ids)];
    const others = othersOf(openApiDocument(ALL_ROUTES, on.service.url), ids, [...reads, ...writes]);
    const isLast = ({ method }: WalkRequest) => method === 'DELETE';
    for (const request of others.filter((each) => !isLast(each))) found.push(...(await unlisted(request, 0)));
    for (const request of [...reads, ...writes]) found.push(...(await unlisted(request)));
    for (const request of others.filter(isLast)) found.push(...(await unlisted(request, 0)));
    expect(found.join('\n\n')).to.equal('');
    const unused = SIGHT_EXCEPTIONS.filter(({ of }) => !used.has(of)).map(({ because }) => because);
    expect(unused, 'exceptions that no statement needs').to.deep.equal([]);
  });
});
