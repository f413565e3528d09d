/**
 * `/admin/projects/{project_id}/receipts/{receipt_id}`: reproduces a response about one of the project's records
 * (docs/receipts.md).
 */
import { z } from 'zod';
import { notFound } from '#src/shared/refusal.ts';
import { receiptSchema, receiptView } from '../../api/receipt-view.ts';
import { route } from '../../api/route.ts';
import { projectFor } from '../access.ts';
import { noteReads, requireOpen } from '../record-reads.ts';

/** The route. */
export const RECEIPT_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/receipts/{receipt_id}',
    operationId: 'getReceipt',
    summary: 'An answer that a reader of a record received, made again',
    description:
      'The access log names the receipt for each such read. Requires the role auditor. The request is a read of the patient’s record.',
    tag: 'Audit',
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects', 'resources', 'consents'],
    query: z.strictObject({}),
    answers: {
      200: { description: 'The receipt', schema: receiptSchema.extend({ patient: z.string() }) },
    },
    async run(request) {
      const { services, params } = request;
      const project = await projectFor(request, params.project_id, 'auditor');
      const id = params.receipt_id;
      const record = await services.receipts.recordOf(id);
      const owner = record === undefined ? undefined : await services.consentQueries.ownerOf(record);
      if (record === undefined || owner?.project !== project.id) throw notFound('receipt', id.slice(0, 64));
      requireOpen(request, owner.environment);
      const receipt = await services.receipts.show(record, id);
      if (receipt === undefined) throw notFound('receipt', id.slice(0, 64));
      const count = receipt.content === null ? 0 : receipt.versions.length;
      const kind = { environment: owner.environment, action: 'receipt', resourceType: null };
      await noteReads(request, kind, [{ record, count }]);
      return { status: 200, body: { ...receiptView(receipt), patient: record } };
    },
  }),
];
