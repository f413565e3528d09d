/**
 * The record that a screen is about, the time as of which it is shown, and the part that is shown. All of this is in the URL.
 */
import { useLocation, useRoute } from 'preact-iso';
import { type AnswerOf, type Api, openRecords, withQuery } from '../../api.ts';
import { type Here, pathOf, useProject } from '../../here.ts';
import { language } from '../../texts/texts.ts';

/** The parts of the page. */
export const PARTS = ['overview', 'timeline', 'documents', 'changes', 'reads'] as const;
export type Part = (typeof PARTS)[number];

/** The responses about a record. */
export type Overview = Api.RecordOverview;
export type Line = Overview['allergies']['now'][number];
export type Result = Overview['results']['latest'][number];
export type Change = Api.RecordChange;
export type Moments = AnswerOf<'GET', '/admin/projects/{project_id}/patients/{patient_id}/moments'>;

/** A record, and the part of it that is shown. */
export interface RecordPlace {
  readonly here: Here;
  readonly patient: string;
  /** The time as of which the record is shown; undefined for now. */
  readonly at: string | undefined;
  readonly part: Part;
  readonly records: ReturnType<typeof openRecords>;
  /** The path parameters for the record's routes below `/admin`. */
  readonly ids: { readonly project_id: string; readonly patient_id: string };
  /** `as_of`, if the record is shown as of an earlier time. */
  readonly asOf: { readonly as_of?: string };
  /** The data is reloaded if one of these values changes. */
  readonly keys: readonly unknown[];
  /** Returns the path to a different part or time; members that are undefined stay unchanged. */
  path(other?: {
    readonly part?: Part;
    readonly at?: string;
    readonly from?: string;
    readonly to?: string;
    /** The kind of events in the timeline. */
    readonly kind?: string;
  }): string;
  /**
   * Returns the path of an entry's page.
   * @param resource `Type/id`
   */
  entryPath(resource: string, version?: number): string;
}

/** Returns the record that the screen is about. */
export function useRecord(): RecordPlace {
  const here = useProject();
  const { params } = useRoute();
  const { query } = useLocation();
  const patient = params.id ?? '';
  const at = query.at === '' ? undefined : query.at;
  const part = PARTS.find((each) => each === query.part) ?? 'overview';
  const base = pathOf(here, `/patients/${patient}`);
  return {
    here,
    patient,
    at,
    part,
    records: openRecords(here),
    ids: { project_id: here.project, patient_id: patient },
    asOf: at === undefined ? {} : { as_of: at },
    keys: [here.project, here.environment, patient, at, language.value],
    path: (other = {}) =>
      withQuery(base, {
        part: other.part ?? part,
        at: other.at ?? at,
        from: other.from,
        to: other.to,
        kind: other.kind,
      }),
    entryPath: (resource, version) => withQuery(`${base}/entries/${resource}`, { version, at }),
  };
}
