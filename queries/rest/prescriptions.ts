/** The prescriptions of a record, which REST v1 has no list of: its MedicationRequests. */
import type { Pool } from 'pg';
import { nameConcept } from '#src/clinical/reading/name.ts';
import { isIdea, withdrawnAs } from '#src/clinical/reading/status.ts';
import { dosage } from '#src/clinical/reading/words.ts';
import { text } from '#src/fhir/parts.ts';
import { isUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject } from '#src/shared/json.ts';
import { objectIn } from '#src/v1/elements.ts';
import { medicationConcept } from '#src/v1/medication.ts';

/** A MedicationRequest, with the members that a medication of REST v1 has. */
export interface Prescription {
  readonly fhir: string;
  readonly author_type: string;
  readonly code: null;
  readonly display: string | null;
  readonly status: string | null;
  readonly dosage: string | null;
  /** When it was written. */
  readonly start: string | null;
  /** When it ceases to be valid. */
  readonly end: string | null;
  readonly note: null;
}

/** Returns the newest prescriptions of a record, at most as many as asked for. It checks no right. */
export type PrescriptionsOf = (record: string, most: number) => Promise<readonly Prescription[]>;

// Index: resources.resource_of_record (record, type, id), backwards; the primary key of history.version.
const REQUESTS = `
select r.id, r.body, v.metadata::json #>> '{author,type}' as author
from resources.resource r
join history.version v on v.id = r.id and v.version = r.version
where r.record = $1 and r.type = 'MedicationRequest' and not r.deleted and octet_length(r.body) < 200000
order by r.id desc limit $2`;

// Index: the primary key of resources.resource.
const MEDICATIONS = `
select r.id, r.body from resources.resource r
where r.id = any($1::uuid[]) and r.type = 'Medication' and not r.deleted and octet_length(r.body) < 200000`;

/** Statuses of what was never or isn't yet prescribed. */
const NEVER: readonly unknown[] = ['draft', 'cancelled'];

/** Returns whether a resource says that something was prescribed: no idea, no prohibition, nothing withdrawn. */
function isPrescribed(body: string, value: JsonObject): boolean {
  return (
    withdrawnAs(value) === undefined &&
    !body.includes('"modifierExtension"') &&
    value.doNotPerform !== true &&
    !isIdea(value.intent) &&
    !NEVER.includes(value.status)
  );
}

/** Opens the question. */
export function openPrescriptionsOf(pool: Pool): PrescriptionsOf {
  return async (record, most) => {
    const { rows } = await pool.query<{ id: string; body: string; author: string | null }>({
      name: 'prescriptions',
      text: REQUESTS,
      values: [record, most],
    });
    const requests = rows.flatMap(({ id, body, author }) => {
      const value: unknown = JSON.parse(body);
      return isObject(value) && isPrescribed(body, value) ? [{ id, value, author }] : [];
    });
    const ids = requests.flatMap(({ value }) => referredId(value) ?? []);
    const medications =
      ids.length === 0
        ? []
        : (
            await pool.query<{ id: string; body: string }>({
              name: 'prescribed-medications',
              text: MEDICATIONS,
              values: [[...new Set(ids)]],
            })
          ).rows;
    const names = new Map(
      medications.map(({ id, body }) => {
        const value: unknown = JSON.parse(body);
        return [id, isObject(value) ? nameConcept(value.code) : undefined];
      }),
    );
    return requests.map(({ id, value, author }): Prescription => {
      const { display } = objectIn(value.medicationReference);
      const named = names.get(referredId(value) ?? '');
      const { validityPeriod } = objectIn(value.dispenseRequest);
      return {
        ...{ fhir: `MedicationRequest/${id}`, author_type: author ?? 'import', code: null, note: null },
        display: nameConcept(medicationConcept(value)) ?? named ?? text(display) ?? null,
        status: text(value.status) ?? null,
        dosage: dosage(value.dosageInstruction) ?? null,
        start: text(value.authoredOn) ?? null,
        end: text(objectIn(validityPeriod).end) ?? null,
      };
    });
  };
}

/** Returns the id of the Medication that a request refers to. */
function referredId({ medicationReference }: JsonObject): string | undefined {
  const id = (text(objectIn(medicationReference).reference) ?? '').split('/').at(-1) ?? '';
  return isUuid(id) ? id : undefined;
}
