/**
 * Serves the import of laboratory results as HL7 v2 messages, JSON items or tables (docs/spec/interface.md, section 4.3;
 * docs/spec/decisions.md, section 4).
 */
import { z } from 'zod';
import type { CommandContext } from '#commands/command.ts';
import { decodeBytes } from '#src/labs/hl7v2/charset.ts';
import { type LabItem, labsOfItems } from '#src/labs/items.ts';
import type { Labs } from '#src/labs/labs.ts';
import { labsOfMessage } from '#src/labs/message.ts';
import { KNOWN_HEADINGS } from '#src/labs/tables/columns.ts';
import { itemsOfTable } from '#src/labs/tables/table.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { listIn, numberIn, objectIn } from '#src/v1/elements.ts';
import { type ApiRequest, type RouteResult, route } from '../../api/route.ts';
import type { RawBody } from '../../body.ts';
import { SignCount } from '../../body-count.ts';
import type { Edge } from '../../edge/edge.ts';
import { observationSchema } from '../observations.ts';
import { liveResource, makeCommandContext } from '../record.ts';
import { AUTHOR } from '../schemas.ts';
import { type GivenItems, HL7_EXAMPLE, labsBody, labsQuery } from './labs-body.ts';
import { inside, outside } from './labs-edge.ts';
import { importLabs } from './labs-import.ts';

const CSV = 'text/csv';
const HL7 = { description: 'HL7 v2, ORU^R01.', example: HL7_EXAMPLE };
type LabsRequest = ApiRequest<
  '/v1/patients/{patient_id}/labs/import',
  'api_key',
  z.output<typeof labsQuery>,
  z.output<typeof labsBody>
>;

/**
 * Reads a report in any of the forms, and imports it.
 * @throws Refusal 403 404 409 413 422
 */
async function run(request: LabsRequest): Promise<RouteResult> {
  const { params, query, raw, body, pass } = request;
  const { patient_id: patient } = params;
  const { body: stored } = await liveResource(request, 'Patient', patient);
  if (query.date !== undefined && raw?.mediaType !== CSV)
    throw refused('query.date', 'query.date is allowed only with text/csv');
  const isItems = body !== undefined && 'items' in body;
  const reading = pass === undefined || isItems ? inside(patient) : outside(pass.edge);
  const subject = `Patient/${reading.patient}`;
  const named = body !== undefined && 'message' in body ? body.source_system : undefined;
  const origin = body !== undefined && 'items' in body ? body.origin : undefined;
  const command = sourced(makeCommandContext(request), named, origin);
  const { sourceSystem = '' } = command.authorship;
  const of = { subject, source: sourceSystem };
  if (body !== undefined && 'items' in body) {
    const items = { ...of, origin: command.authorship.originId, place: 'items' };
    const labs = await inSlices(labsOfItems(exactItems(body, request.exact), items));
    return importLabs(request, command, patient, labs);
  }
  if (raw?.mediaType === CSV) {
    const { text, warnings } = decodeBytes(raw.bytes, raw.charset);
    const rows = { ...of, origin: command.authorship.originId, place: 'rows' };
    const labs = await reading.inward(async () =>
      inSlices(labsOfItems(await inSlices(itemsOfTable(text, query.date)), rows)),
    );
    return importLabs(request, command, patient, warned(labs, warnings));
  }
  const { text, warnings } = decodeMessage(raw, body, pass?.edge);
  const circumstances = {
    ...of,
    patient: reading.stored(stored),
    mayRead: mayRead(request.caller, 'Patient'),
    zone: query.time_zone,
  };
  const labs = warned(await reading.inward(() => inSlices(labsOfMessage(text, circumstances))), warnings);
  return importLabs(request, sourced(command, command.authorship.sourceSystem ?? labs.source), patient, labs);
}

/**
 * Returns the message as it was sent. In a JSON body, the ids have already been exchanged.
 * @throws Refusal too_large (413)
 */
function decodeMessage(
  raw: RawBody | undefined,
  body: z.output<typeof labsBody>,
  edge: Edge | undefined,
): ReturnType<typeof decodeBytes> {
  if (raw !== undefined) return decodeBytes(raw.bytes, raw.charset);
  const text = body !== undefined && 'message' in body ? body.message : '';
  new SignCount().add(Buffer.from(text));
  return { text: edge === undefined ? text : edge.outward(text), warnings: [] };
}

/**
 * Returns items whose numbers keep all their digits.
 * @param exact the body with those numbers, if they differ
 */
function exactItems({ items, date }: GivenItems, exact: JsonObject = {}): LabItem[] {
  const sent = listIn(exact.items);
  return items.map((item, at) => {
    const { value, reference_range: range } = item;
    const { value: sentValue, result, reference_range: within, low, high } = sent[at] ?? {};
    const ends = objectIn(within);
    return {
      ...item,
      effective_at: item.effective_at ?? date ?? '',
      value: numberIn(sentValue) ?? numberIn(result) ?? value,
      reference_range: {
        low: numberIn(ends.low) ?? numberIn(low) ?? range?.low,
        high: numberIn(ends.high) ?? numberIn(high) ?? range?.high,
      },
    };
  });
}

function warned(labs: Labs, warnings: readonly string[]): Labs {
  return { ...labs, warnings: [...warnings, ...labs.warnings] };
}

/**
 * Returns the command with the source that the body names.
 * @throws Refusal invalid (422) if a header names a different source
 */
function sourced(command: CommandContext, source?: string, origin?: string): CommandContext {
  const { authorship } = command;
  const { sourceSystem = source, originId = origin } = authorship;
  if (source !== undefined && sourceSystem !== source)
    throw refused(
      'source_system',
      'source_system and X-Service-Source-System differ; send one of them, or the same value in both',
    );
  if (origin !== undefined && originId !== origin)
    throw refused(
      'origin',
      'origin and X-Service-Origin-Id differ; send one of them, or the same value in both',
    );
  return {
    ...command,
    authorship: {
      ...authorship,
      ...(sourceSystem === undefined ? {} : { sourceSystem }),
      ...(originId === undefined ? {} : { originId }),
    },
  };
}

function refused(expression: string, diagnostics: string): Refusal {
  return new Refusal('invalid', { code: 'value', diagnostics, expression });
}

/** The route for laboratory reports. */
export const LABS_ROUTES = [
  route({
    method: 'POST',
    path: '/v1/patients/{patient_id}/labs/import',
    operationId: 'importLabs',
    summary: 'Import laboratory results',
    description:
      'An HL7 v2 message (ORU^R01), JSON items, or a table. The import writes everything or nothing. It skips a report that was imported before; changed results become new versions of the earlier ones. Results without a LOINC code are kept, and `unmapped` lists their codes. If the key lacks the scope `read`, messages must not have patient data in PID (403 otherwise).',
    tag: 'Laboratory results',
    credential: 'api_key',
    grantToken: {
      action: 'labs-import',
      needs: [{ type: 'Observation', letters: 'c' }],
      type: 'Observation',
    },
    scope: 'write',
    headers: AUTHOR,
    query: labsQuery,
    body: labsBody,
    raw: {
      'x-application/hl7-v2+er7': HL7,
      'application/hl7-v2': HL7,
      'application/hl7-v2+er7': HL7,
      'text/plain': HL7,
      [CSV]: {
        description: `A table with a heading row and these columns: ${KNOWN_HEADINGS.join(', ')}.`,
        example: 'code,display,value,unit,effective_at\n2345-7,Glucose,5.6,mmol/L,2026-03-31\n',
      },
    },
    framed: ['message'],
    answers: {
      200: {
        description: 'The result of the import',
        schema: z.object({
          created: z
            .int()
            .describe('New observations. For a key without `read`: all observations of the report.'),
          skipped: z
            .int()
            .describe(
              'Observations that already existed or are newer than the report. For a key without `read`: 0.',
            ),
          unmapped: z.array(z.string()).describe('Codes that are not LOINC codes.'),
          warnings: z.array(z.string()),
          observations: z
            .array(observationSchema)
            .describe('The report’s observations in their current state. A key without `read` sees none.'),
        }),
      },
    },
    run,
  }),
];
