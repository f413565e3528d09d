/** Returns names of FHIR elements for people: `dosage` is Dosage, `effectiveDateTime` is When. */
import type { TextKey } from '../pages/languages/language.ts';
import type { Texts } from '../pages/texts.ts';

/** Labels by the name of the element; for a choice (`value[x]`), by the part of the name before the type. */
const LABELS = {
  status: 'element.status',
  clinicalStatus: 'element.status',
  lifecycleStatus: 'element.status',
  docStatus: 'element.status',
  statusReason: 'element.reason',
  verificationStatus: 'element.certainty',
  category: 'element.category',
  code: 'element.what',
  type: 'element.kind',
  class: 'element.kind',
  severity: 'element.severity',
  bodySite: 'element.site',
  onset: 'element.began',
  start: 'element.began',
  abatement: 'element.ended',
  end: 'element.ended',
  effective: 'element.when',
  performed: 'element.when',
  occurrence: 'element.when',
  period: 'element.when',
  timing: 'element.when',
  lastOccurrence: 'element.lastreaction',
  recordedDate: 'element.recorded',
  recorded: 'element.recorded',
  dateAsserted: 'element.recorded',
  authoredOn: 'element.recorded',
  issued: 'element.reported',
  date: 'element.recorded',
  note: 'element.note',
  comment: 'element.note',
  value: 'element.value',
  unit: 'element.unit',
  dataAbsentReason: 'element.reason',
  component: 'element.parts',
  referenceRange: 'element.range',
  interpretation: 'element.assessment',
  conclusion: 'element.assessment',
  conclusionCode: 'element.assessment',
  medication: 'element.medication',
  dosage: 'element.dosage',
  dosageInstruction: 'element.dosage',
  reasonCode: 'element.reason',
  reasonReference: 'element.reason',
  vaccineCode: 'element.vaccine',
  reaction: 'element.reaction',
  criticality: 'element.risk',
  performer: 'element.performer',
  participant: 'element.participant',
  location: 'element.place',
  device: 'element.device',
  serviceProvider: 'receipt.organization',
  asserter: 'element.asserter',
  recorder: 'element.recorder',
  requester: 'element.requester',
  author: 'element.author',
  informationSource: 'element.source',
  encounter: 'element.visit',
  context: 'element.visit',
  derivedFrom: 'element.basis',
  basedOn: 'element.basis',
  partOf: 'element.basis',
  evidence: 'element.basis',
  hasMember: 'element.parts',
  result: 'element.parts',
  description: 'element.description',
  title: 'element.title',
  text: 'element.text',
  language: 'element.language',
  identifier: 'element.number',
  content: 'element.content',
  extension: 'element.extension',
  modifierExtension: 'element.mark',
  doNotPerform: 'element.forbidden',
  intent: 'element.order',
  priority: 'element.priority',
  meta: 'element.labels',
} as const satisfies Readonly<Record<string, TextKey>>;

/** The meanings of dates in particular types. */
type DateKey = 'element.prescribed' | 'element.taken' | 'element.given';

const OF_TYPES: Readonly<Record<string, Readonly<Record<string, DateKey>>>> = {
  MedicationRequest: { authoredOn: 'element.prescribed' },
  MedicationStatement: { effectiveDateTime: 'element.taken', effectivePeriod: 'element.taken' },
  Immunization: { occurrenceDateTime: 'element.given', occurrenceString: 'element.given' },
};

/**
 * Returns an element's label; undefined if this module has none.
 * @param name `valueQuantity`
 * @param type the resource's type
 */
export function elementLabel(say: Texts, name: string, type: string): string | undefined {
  const key =
    OF_TYPES[type]?.[name] ??
    Object.entries(LABELS).find(([each]) => each === name)?.[1] ??
    Object.entries(LABELS).find(
      ([each]) => name.startsWith(each) && /^[A-Z]/.test(name.slice(each.length)),
    )?.[1];
  return key === undefined ? undefined : say(key);
}
