/** For any scopes, each `/mcp` tool shows exactly what the interfaces show under the same grant (docs/mcp.md). */
import { expect } from 'chai';
import fc from 'fast-check';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { callTool, connectMcp, type ToolResult } from '#test/support/mcp.ts';
import { McpRecord } from '#test/support/mcp-record.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';

const SCOPES = [
  'patient/Observation.rs?category=laboratory',
  'patient/Observation.rs?category=vital-signs',
  'patient/Observation.r',
  'patient/Observation.rs',
  'patient/Condition.rs',
  'patient/Condition.s',
  'patient/AllergyIntolerance.rs',
  'patient/MedicationStatement.rs',
  'patient/DocumentReference.rs',
  'patient/DocumentReference.r',
  'patient/Provenance.rs',
  'patient/Encounter.rs',
  'patient/*.rs',
  'patient/*.r',
];

const TYPES = [
  ...['Observation', 'Condition', 'AllergyIntolerance', 'MedicationStatement', 'Procedure', 'Immunization'],
  ...['Encounter', 'CarePlan', 'DocumentReference', 'Patient'],
];

const CODE = '4548-4';
const PERIODS = {
  code: CODE,
  a: { from: '2026-01-01', to: '2026-01-31' },
  b: { from: '2026-02-01', to: '2026-12-31' },
};

/** Returns content in a form that can be compared: without `manifest_id`, which is different each time. */
const comparable = (value: Json | undefined): string =>
  JSON.stringify(value, (key, each) => (key === 'manifest_id' ? undefined : each)) ?? '';

const sorted = (values: readonly unknown[]): string[] => values.map((each) => JSON.stringify(each)).sort();

describe('tools of /mcp under any scopes', () => {
  let on: McpRecord;
  let everything: readonly string[];

  before(async () => {
    on = await McpRecord.start();
    everything = [...(await idsIn(on.allowed.patient, on.allowed.token)), ...(await idsIn(on.other))];
  });
  after(() => on?.stop());

  /** Returns the `Type/id` of all resources in a record. */
  async function idsIn(patient: string, key = on.service.key): Promise<string[]> {
    const { json } = await on.service.fhir(`/Patient/${patient}/$everything`, { key });
    return entriesOf(json).map(({ resourceType, id }) => `${String(resourceType)}/${String(id)}`);
  }

  it('show what the interfaces show, and refuse what they refuse', async function () {
    this.timeout(600_000);
    await fc.assert(
      fc.asyncProperty(fc.subarray(SCOPES, { minLength: 1, maxLength: 5 }), (scopes) => compare(scopes)),
      { numRuns: scaled(100, 2), seed: steadySeed(), endOnFailure: true, examples: [[['patient/*.rs']]] },
    );
  });

  async function compare(scopes: readonly string[]): Promise<void> {
    const tokens = await on.tokens(scopes);
    const client = await connectMcp(on.service.url, tokens.mcp);
    const { patient } = on.allowed;
    const rest = (path: string, body?: object) =>
      on.service.fhir(on.service.url + path, {
        key: tokens.rest,
        headers: { Prefer: 'handling=strict' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' } }),
      });
    /** Calls a tool and the interface; returns both results if both succeed. */
    const both = async (
      tool: string,
      args: JsonObject,
      path: string,
      body?: object,
    ): Promise<{ readonly told: ToolResult; readonly json: JsonObject } | undefined> => {
      const answer = await rest(path, body);
      const told = await callTool(client, tool, args);
      const at = `${tool} ${JSON.stringify(args)} ${path}\n${told.text}\n${answer.text}`;
      expect(told.isError, at).to.equal(answer.status >= 300);
      if (told.isError) expect(told.structured, at).to.deep.equal({});
      return answer.status >= 300 ? undefined : { told, json: answer.json };
    };
    const v1 = `/v1/patients/${patient}`;
    try {
      for (const type of TYPES) {
        const path =
          type === 'Patient' ? `/fhir/R4/Patient?_id=${patient}` : `/fhir/R4/Patient/${patient}/${type}`;
        const found = await both('search_record', { type, limit: 100 }, path);
        if (found === undefined) continue;
        expect(sorted(shownIn(found.told, 'entries')), type).to.deep.equal(sorted(entriesOf(found.json)));
        if (scopes.includes('patient/Observation.rs?category=laboratory') && type === 'Observation')
          expect(scopes.some((each) => /Observation\.rs$|\*\.rs/.test(each))).to.equal(
            !comparable(found.told.structured.incomplete).includes('category'),
          );
      }
      for (const each of everything) {
        const [type = '', id = ''] = each.split('/');
        const read = await both('read_resource', { type, id }, `/fhir/R4/${each}`);
        if (read === undefined) continue;
        const { record_content: content, ai_written: ai } = read.told.structured;
        const [first = content] = objects(ai);
        expect(Object(first).resource).to.deep.equal(read.json);
        const writers = await rest(`${v1}/provenance/${each}`);
        expect(Object(content).provenance ?? null, writers.text).to.deep.equal(
          writers.status === 200 ? (objects(writers.json.data)[0] ?? null) : null,
        );
      }
      for (const kinds of [undefined, ['observation'], ['condition', 'encounter']]) {
        const query = kinds === undefined ? '' : `&kinds=${kinds.join(',')}`;
        const args = kinds === undefined ? {} : { kinds };
        const found = await both('timeline', { ...args, limit: 100 }, `${v1}/timeline?limit=100${query}`);
        if (found !== undefined)
          expect(sorted(shownIn(found.told, 'entries'))).to.deep.equal(sorted(objects(found.json.data)));
      }
      const values = await both('series', { code: CODE }, `${v1}/series?code=${CODE}`);
      if (values !== undefined)
        expect(values.told.structured.record_content).to.deep.equal(objects(values.json.data)[0]);
      const patterns = await both('find_patterns', {}, `${v1}/patterns`);
      if (patterns !== undefined)
        expect(shownIn(patterns.told, 'findings')).to.deep.equal(objects(patterns.json.data));
      const compared = await both('compare_periods', PERIODS, `${v1}/patterns/compare`, PERIODS);
      if (compared !== undefined)
        expect(compared.told.structured.record_content).to.deep.equal(compared.json);
      const listed = await both('list_documents', { limit: 100 }, `${v1}/documents?limit=100`);
      if (listed !== undefined)
        expect(sorted(shownIn(listed.told, 'entries'))).to.deep.equal(sorted(objects(listed.json.data)));
      for (const each of everything.filter((one) => one.startsWith('DocumentReference/'))) {
        const id = each.slice(each.indexOf('/') + 1);
        const answer = await rest(`/v1/documents/${id}/content`);
        const told = await callTool(client, 'read_document', { id });
        expect(told.isError, told.text).to.equal(answer.status >= 300);
        if (!told.isError) expect(told.structured.record_content).to.have.property('text', answer.text);
      }
      const asked = { budget_tokens: 4_000 };
      const context = await both('get_context', asked, '/v1/context', { ...asked, patient });
      if (context !== undefined) {
        const { sections, omitted: _, ...others } = context.json;
        const told = { ...Object(context.told.structured.record_content) };
        expect(comparable(told.sections)).to.equal(comparable(sections));
        expect(comparable({ ...told, sections: null })).to.equal(comparable({ ...others, sections: null }));
      }
      const may = await callTool(client, 'what_may_i_do');
      expect(may.structured.patient).to.equal(patient);
    } finally {
      await client.close();
    }
  }
});

function entriesOf({ entry }: JsonObject): JsonObject[] {
  return objects(entry).flatMap(({ resource }) => (isObject(resource) ? [resource] : []));
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns all entries in a result, including entries from an AI. */
function shownIn({ structured }: ToolResult, name: string): JsonObject[] {
  const content = isObject(structured.record_content) ? structured.record_content : {};
  return [...objects(content[name]), ...objects(structured.ai_written)];
}
