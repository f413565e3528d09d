/** Writes a long record, with COPY, to the read models that REST v1 reads. */
import { history } from '#projections/history/project.ts';
import { resources } from '#projections/resources/project.ts';
import { timeline } from '#projections/timeline/project.ts';
import { fill } from '../fill.ts';
import { type LongRecord, longRecord } from '../long-record.ts';
import { answer } from '../worker.ts';

answer(({ databaseUrl, ...record }: LongRecord & { readonly databaseUrl: string }) =>
  fill(databaseUrl, [resources, history, timeline], longRecord(record)),
);
