/**
 * Shows what a response contained that somebody received from a person's record:
 * `/me/patients/{patient_id}/receipts/{receipt_id}` (docs/receipts.md).
 */
import { z } from 'zod';
import { notFound } from '#src/shared/refusal.ts';
import { receiptSchema, receiptView } from '../api/receipt-view.ts';
import { route } from '../api/route.ts';
import { linkFor } from './access.ts';
import { RECORD_QUERY } from './schemas.ts';

/** The route. */
export const MY_RECEIPT_ROUTES = [
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/receipts/{receipt_id}',
    operationId: 'getMyReceipt',
    summary: 'An answer that a reader of a record received, made again',
    description:
      'The access log names the receipt for each such read. If a representative reads it, that read is in the access log.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources', 'projects'],
    query: z.strictObject({ environment: RECORD_QUERY.environment }),
    answers: { 200: { description: 'The receipt', schema: receiptSchema } },
    async run(request) {
      const { services, params, query, identity, requestId } = request;
      const { record, relationship } = await linkFor(request, params.patient_id, query.environment);
      const receipt = await services.receipts.show(record, params.receipt_id);
      if (receipt === undefined) throw notFound('receipt', params.receipt_id.slice(0, 64));
      const { issuer, subject } = identity;
      if (relationship !== 'self')
        await services.accessLog.written([
          {
            ...{
              record,
              action: 'receipt',
              resourceType: null,
              resourceId: null,
              purpose: null,
              status: 'ok',
            },
            actor: { kind: 'person', issuer, subject, role: 'representative' },
            ...{ count: receipt.content === null ? 0 : receipt.versions.length, requestId },
          },
        ]);
      return { status: 200, body: receiptView(receipt) };
    },
  }),
];
