/** Reads what a Condition or an AllergyIntolerance states: its subject, state, certainty and dates. */
import { codes } from '#src/fhir/parts.ts';
import { type Dated, happened } from './dates.ts';
import { findRevisions, type Revision } from './revisions.ts';
import { isOver, uncertainty } from './status.ts';
import { type Around, type Coded, readCodes, type Told } from './told.ts';

/** A statement. */
export interface Stated<Of extends Told = Told> {
  readonly told: Of;
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
  /** A code from condition-clinical or allergyintolerance-clinical; undefined if it isn't recorded. */
  readonly status: string | undefined;
  readonly isOver: boolean;
  /** True for a problem that the record lists as current even though the person has died. */
  readonly isOfDeceased: boolean;
  /** A code from condition-ver-status or allergyintolerance-verification other than `confirmed`. */
  readonly uncertainty: string | undefined;
  readonly dated: Dated;
  /** Changes made by later versions. */
  readonly revisions: readonly Revision[];
}

/** Reads a statement. */
export function readStated<Of extends Told>(told: Of, around: Around): Stated<Of> {
  const { name, died } = around;
  const { code, clinicalStatus, verificationStatus } = told.value;
  const isRecordedOver = isOver(clinicalStatus);
  const isOfDeceased = !isRecordedOver && died !== undefined && told.type === 'Condition';
  return {
    told,
    name: name(code),
    codes: readCodes(code),
    status: codes(clinicalStatus)[0],
    isOver: isRecordedOver || isOfDeceased,
    isOfDeceased,
    uncertainty: verificationStatus === undefined ? undefined : uncertainty(verificationStatus),
    dated: happened(told),
    revisions: findRevisions(told, around),
  };
}
