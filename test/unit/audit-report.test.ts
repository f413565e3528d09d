import { expect } from 'chai';
import { reportPage } from '#src/audit/report.ts';
import { type History, readHistory, writtenBy } from '#src/audit/versions.ts';
import { html } from '#src/shared/html.ts';
import { created, deleted, updated } from '#test/projections/made.ts';
import { recorded } from '#test/support/audit-files.ts';

const ID = '018f0000-0000-7000-8000-000000000001';
const STREAM = `record-${ID}`;
const HOSTILE = `"><script>alert('x')</script><img src=x onerror="y">&amp;\u202e\u0007`;

describe('a history', () => {
  const read = (): Promise<History> =>
    readHistory(
      recorded(STREAM, [
        created(
          'Patient',
          ID,
          { name: [{ family: HOSTILE }], multipleBirthInteger: 1 },
          {
            author: { type: 'practitioner', reference: 'Practitioner/7', display: 'Dr. Ada Lee' },
            acting_as: 'PractitionerRole/8',
            acting_as_display: 'Mira Sand',
            on_behalf_of: { reference: 'Organization/9', display: HOSTILE },
            source_system: HOSTILE,
            origin_id: 'o',
            transaction_id: 't',
          },
        ),
        deleted('Patient', ID, 2),
        updated('Patient', ID, 3, { name: [{ family: HOSTILE }], multipleBirthInteger: 2 }),
      ]),
    );
  const page = async (history: History): Promise<string> =>
    [...reportPage({ resource: `Patient/${ID}`, record: true, time: 'now', stream: STREAM }, history)].join(
      '',
    );

  it('says of each version who, for whom, through what and from where', async () => {
    const { versions, events, brokenAt, head } = await read();
    expect({ events, brokenAt }).to.deep.equal({ events: 3, brokenAt: undefined });
    expect(head?.revision).to.equal(2);
    expect(head?.hash).to.match(/^[0-9a-f]{64}$/);
    expect(versions.map(({ operation }) => operation)).to.deep.equal(['UPDATE', 'DELETE', 'CREATE']);
    expect(versions[2]).to.deep.include({
      resource: `Patient/${ID}`,
      author_type: 'practitioner',
      author: 'Practitioner/7',
      acting_as: 'PractitionerRole/8',
      on_behalf_of: { reference: 'Organization/9', display: HOSTILE },
      source_system: HOSTILE,
      origin_id: 'o',
      transaction_id: 't',
      credential: {
        kind: 'api_key',
        key_id: 'key_made',
        key_name: null,
        key_last4: null,
        application: null,
        application_name: null,
        issuer: null,
        subject: null,
        email: null,
        project: 'proj_made',
        environment: 'sandbox',
      },
      request_id: 'req_made',
    });
    expect(versions.map(writtenBy)).to.deep.equal(['import', 'import', 'Dr. Ada Lee, entered by Mira Sand']);
  });

  it('compares a restored resource with what was deleted', async () => {
    const { versions } = await read();
    expect(versions.map(({ differences }) => differences.map(({ path }) => path))).to.deep.equal([
      ['multipleBirthInteger'],
      [],
      ['name[0].family', 'multipleBirthInteger'],
    ]);
  });

  it('names the revision at which the chain breaks', async () => {
    const broken = async function* () {
      for await (const event of recorded(STREAM, [created('Patient', ID), updated('Patient', ID, 2)])) {
        yield event.revision === 1 ? { ...event, id: ID } : event;
      }
    };
    const history = await readHistory(broken());
    expect(history.brokenAt).to.equal(1);
    expect(history.head).to.equal(undefined);
    expect(await page(history)).to.contain('at revision 1: this event or the one before it was altered');
  });

  it('is a page in which no value becomes markup, a direction or a control character', async () => {
    const text = await page(await read());
    expect(text.match(/<(script|img|iframe|link|object)/g)).to.equal(null);
    expect(text).to.contain('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;');
    expect(text).to.contain('&amp;amp;U+202EU+0007');
    expect(text).not.to.match(/[\u202e\u0007]/);
    expect(text).to.contain(`default-src 'none'`);
  });

  it('is a page that tells texts from numbers, keeps line feeds, and says which history it is', async () => {
    const history = await readHistory(
      recorded(STREAM, [
        created('Patient', ID, { language: '', text: 'a\nb', gender: '1' }),
        updated('Patient', ID, 2, { gender: 1 }),
      ]),
    );
    const text = await page(history);
    expect(text)
      .to.contain('<td class="before">&quot;1&quot;</td><td class="after">1</td>')
      .and.to.contain('<td class="after">&quot;&quot;</td>')
      .and.to.contain('white-space: pre-wrap')
      .and.to.contain(STREAM)
      .and.to.contain(history.head?.hash);
  });

  it('is made of templates that escape for attributes, too', () => {
    expect(html`<p title="${HOSTILE}">${[html`<b>${1}</b>`, html`<b>${'<'}</b>`]}</p>`.text).to.match(
      /^<p title="&quot;&gt;[^"<]*"><b>1<\/b><b>&lt;<\/b><\/p>$/,
    );
  });
});
