/** Describes a plan in plain English: how matches are found, what is checked for each, and when the next statement runs. */
import { Binds } from '../database/binds.ts';
import { conditionsOn } from './order.ts';
import type { Asked, Plan, Step } from './plan.ts';
import { askedBy, type Predicate } from './predicates/predicate.ts';
import { isInRecord, isNarrow, type Selection, type Source } from './selection.ts';
import { stepStatement } from './statement.ts';
import { total } from './statements/page.ts';
import type { Path } from './statements/value-walk.ts';

/** A condition that is checked for each row read. */
export interface Check {
  /** The parameter as written in the search: `status=final`. */
  readonly condition: string;
  /** The table or index that the statement uses. */
  readonly in: string;
}

/** One of a plan's statements. */
export interface ExplainedStep {
  /** One sentence. */
  readonly does: string;
  /** The conditions by which the rows are found. */
  readonly by: readonly string[];
  /** The indexes or tables from which the rows are read. */
  readonly from: readonly string[];
  readonly checks: readonly Check[];
  /** When the next statement runs; absent if this statement always returns the page. */
  readonly otherwise?: string;
  readonly sql: string;
  readonly values: readonly unknown[];
}

export interface ExplainedPlan {
  readonly plan: Plan['kind'] | 'provenance';
  /** One sentence. */
  readonly summary: string;
  readonly steps: readonly ExplainedStep[];
}

const SUMMARIES: Readonly<Record<Plan['kind'], string>> = {
  count: 'Only the total is asked for: one statement counts the matches.',
  named: 'The search names ids, identifiers or records: these lead to the matches.',
  sources: 'Indexes over the resources’ content lead to the matches.',
  order:
    'No condition leads to the matches: resources are read in the order of the answer and checked one by one.',
};

/** Explains a plan. */
export function explainPlan(asked: Asked, plan: Plan): ExplainedPlan {
  const { kind } = plan;
  const summary = SUMMARIES[kind];
  if (kind === 'count') return { plan: kind, summary, steps: [countStep(asked, plan.source)] };
  if (kind !== 'order') return { plan: kind, summary, steps: explainSteps(asked, plan.steps) };
  const { step, without } = plan;
  const steps = step === undefined ? [] : explainSteps(asked, [step]);
  if (without === undefined) return { plan: kind, summary, steps };
  const key = asked.order[0]?.by ?? '_id';
  const last = {
    ...asked,
    selection: { ...asked.selection, predicates: [...asked.selection.predicates, without] },
  };
  const [rest] = explainSteps({ ...last, total: false }, [{ kind: 'sort', source: undefined }]);
  if (rest === undefined) return { plan: kind, summary, steps };
  const unfilled = steps.map((each) => ({ ...each, otherwise: 'the page is not full' }));
  return {
    plan: kind,
    summary,
    steps: [
      ...unfilled,
      { ...rest, does: `Read resources without a value of ${key}, which come last, by their ids.` },
    ],
  };
}

function countStep(asked: Asked, source: Source | undefined): ExplainedStep {
  const binds = new Binds();
  const sql = total(asked.selection, source, binds);
  return { ...ledBy(asked.selection, source), does: 'Count the matches.', sql, values: binds.values };
}

function explainSteps(asked: Asked, steps: readonly Step[]): ExplainedStep[] {
  return steps.map((step, at) => {
    const binds = new Binds();
    const sql = stepStatement(asked, step, binds);
    const next = at === steps.length - 1 ? undefined : otherwise(asked, step);
    return {
      ...described(asked, step),
      ...(next === undefined ? {} : { otherwise: next }),
      sql,
      values: binds.values,
    };
  });
}

/** Returns the conditions by which a step finds rows, and the conditions that are checked for each row. */
export function splitConditions(asked: Pick<Asked, 'selection' | 'order'>, step: Step): Conditions {
  switch (step.kind) {
    case 'sort':
    case 'sort-entries':
      return ledBy(asked.selection, step.source);
    case 'walk-resources':
      return alongResources(asked);
    case 'walk-values':
      return alongValues(asked, step.path);
  }
}

function described(asked: Asked, step: Step): Omit<ExplainedStep, 'sql' | 'values'> {
  const { order, total: counts, limit } = asked;
  const conditions = splitConditions(asked, step);
  const by = order.map(({ by: name, descending }) => `${descending ? '-' : ''}${name}`).join(', ');
  const end = `${counts ? ', and count them' : ''}. Then read up to ${limit} resources by their ids.`;
  switch (step.kind) {
    case 'sort':
      return {
        ...conditions,
        does: `Find ${fewOr(step.most)}matches, sort them by ${by}${end}`,
      };
    case 'sort-entries':
      return {
        ...conditions,
        does: `Read the entries of the matches and sort them by ${by}, which the entries hold${end}`,
      };
    case 'walk-resources':
      return {
        ...conditions,
        does: `Walk along the resources in the order of ${by}${passing(step.most)}, and take those that match${end}`,
      };
    case 'walk-values':
      return {
        ...conditions,
        does: `Walk along the values of ${order[0]?.by ?? ''} in their order${passing(step.path.most)}, and take those that match${end}`,
      };
  }
}

const fewOr = (most: number | undefined): string => (most === undefined ? 'all ' : `up to ${most} `);
const passing = (most: number | undefined): string => (most === undefined ? '' : `, past ${most} at most`);

function otherwise({ limit }: Asked, step: Step): string | undefined {
  if (step.kind === 'sort-entries') return undefined;
  if (step.kind === 'sort')
    return step.most === undefined
      ? undefined
      : `there are more than ${step.most}${step.remembered === true ? ', which is remembered for ten minutes' : ''}`;
  const left =
    step.promising === undefined ? '' : ` (the one after it, when fewer than ${step.promising} match)`;
  return `fewer than ${limit} match${left}`;
}

/** How a step finds rows. */
type Conditions = Pick<ExplainedStep, 'by' | 'from' | 'checks'>;

/** Returns how a source's rows are found, and what is checked for each row. */
export function ledBy(selection: Selection, source: Source | undefined): Conditions {
  const { predicates, record, type } = selection;
  if (source === undefined) {
    const leads = isNarrow(selection)
      ? predicates.filter(
          ({ keyed, keys, rows }) => (keyed === true && keys === undefined) || rows !== undefined,
        )
      : [];
    const inRecord = record === undefined ? [] : [`Patient/${record}`];
    const from = leads.map(nameTable);
    const home = record === undefined ? 'resources.resource_by_id' : 'resources.resource_of_record';
    return {
      by: [...inRecord, ...askedBy(leads)],
      from: unique(record === undefined && from.length > 0 ? from : [home, ...from]),
      checks: listChecks(predicates, leads),
    };
  }
  if (source.kind === 'keys') {
    const leads = predicates.filter(
      ({ keys, implied, values }) => keys !== undefined || (implied !== undefined && values === undefined),
    );
    const inRecord = record === undefined ? [] : [`Patient/${record}`];
    return {
      by: [...inRecord, ...askedBy(leads)],
      from: ['search.entry_keys'],
      checks: listChecks(predicates, leads),
    };
  }
  const also =
    source.of.recorded === true ? predicates.filter(({ recorded }) => recorded === true) : [source.of];
  const by = askedBy(also);
  return {
    by: by.length > 0 ? by : [record === undefined ? type : `Patient/${record}`],
    from: source.kind === 'values' ? valuesFrom(source.values) : [nameTable(source.of)],
    checks: listChecks(predicates, also),
  };
}

function alongResources({ selection, order }: Pick<Asked, 'selection' | 'order'>): Conditions {
  if (isNarrow(selection)) return ledBy(selection, undefined);
  const recorded = order[0]?.by === '_lastUpdated';
  const leads = recorded ? selection.predicates.filter((each) => each.recorded === true) : [];
  return {
    by: askedBy(leads),
    from: [recorded ? 'resources.resource_of_tenant' : 'resources.resource_by_id'],
    checks: listChecks(selection.predicates, leads),
  };
}

function alongValues({ selection }: Pick<Asked, 'selection'>, path: Path): Conditions {
  const along = conditionsOn(path.place, selection.predicates);
  const { token, record } = path.implied;
  const implied = selection.predicates.filter(
    (each) => (token !== undefined && each.keys?.join() === token) || isInRecord(each, record),
  );
  const leads = [...implied, ...along];
  const { table } = path.place;
  const column = path.of?.[0]?.[0];
  const suffix = column === 'about_record' ? 'in_record' : column === 'about' ? 'about' : SORTED[table];
  return {
    by: askedBy(leads),
    from: [`search.${table}_${suffix}`],
    checks: listChecks(selection.predicates, leads),
  };
}

/** The names of the indexes that are sorted by value, by table. */
const SORTED: Readonly<Record<string, string>> = { period: 'by_low', quantity: 'by_low', string: 'by_value' };

function valuesFrom({ table, by, span }: NonNullable<Predicate['values']>): string[] {
  const about = by === 'about';
  const name = `search.${table}_${about ? 'about' : SORTED[table]}`;
  return span === undefined ? [name] : [name, `search.${table}_${about ? 'about_wide' : 'wide'}`];
}

/** Returns the table that is read for a predicate that names rows. */
function nameTable({ recorded, inRecords, rows }: Predicate): string {
  if (recorded === true) return 'resources.resource_of_tenant';
  if (inRecords !== undefined) return 'resources.resource_of_record';
  return rows === undefined ? 'resources.resource_pkey' : 'search.entry_keys';
}

function listChecks(predicates: readonly Predicate[], leads: readonly Predicate[]): Check[] {
  return predicates
    .filter((each) => !leads.includes(each))
    .flatMap((each) => askedBy([each]).map((condition) => ({ condition, in: checkedIn(each) })));
}

function checkedIn({ keys, without, values, ofEntry }: Predicate): string {
  if (values !== undefined) return `search.${values.table}_of`;
  return keys !== undefined || without !== undefined || ofEntry === true
    ? 'search.entry'
    : 'resources.resource';
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];
