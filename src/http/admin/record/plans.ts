/** Shows a record's care plans and goals, worded as in the timeline. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { happened, newestFirst } from '#src/clinical/reading/dates.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { hasModifier, isIdea, withdrawnAs } from '#src/clinical/reading/status.ts';
import { first, objects, text } from '#src/fhir/parts.ts';
import { timelineWords } from '#src/v1/timeline.ts';
import { capital } from '../../pages/capital.ts';
import { dateText } from '../../reading/day-text.ts';
import type { KnownLine } from '../../reading/known-lines.ts';
import { whenText } from '../../reading/known-words.ts';
import { splitStates, statesText } from '../../reading/summary-words.ts';
import { type LinesPlace, type OverviewView, sayNone, viewLine } from './overview-view.ts';

/** The differences between care plans and goals. */
const KINDS = {
  care_plan: {
    type: 'CarePlan',
    status: 'status',
    /** Statuses of plans that have ended, or that never took effect. */
    over: ['revoked', 'completed'],
    /** Statuses of plans that aren't in effect yet. */
    ideas: [],
    title: 'things.careplan',
    past: 'past.plans',
    none: 'health.noplans',
  },
  goal: {
    type: 'Goal',
    status: 'lifecycleStatus',
    over: ['completed', 'cancelled', 'rejected'],
    ideas: ['proposed', 'planned'],
    title: 'things.goal',
    past: 'past.goals',
    none: 'health.nogoals',
  },
} as const;

type PlanKind = keyof typeof KINDS;

/** Maximum number of activities listed by name; the entry itself contains all of them. */
const NAMED = 12;

/** Returns a plan's activities (CarePlan.activity), each with its status and time if given. */
function sayActivities({ say, known }: LinesPlace, { value }: ClinicalEntry): string[] {
  const said = objects(value.activity).flatMap(({ detail, reference }) => {
    const { code, description, status, scheduledString } = first(detail) ?? {};
    const name = known.name(code) ?? text(description) ?? text(first(reference)?.display);
    if (name === undefined || status === 'entered-in-error') return [];
    const state = findCodeWord(say.lang, 'planStatus', text(status) ?? '');
    const more = [state, text(scheduledString)].filter((part) => part !== undefined && part !== '');
    return [more.length === 0 ? name : `${name} (${more.join(`${say('shl.comma')} `)})`];
  });
  const rest = said.length - NAMED;
  const named = rest > 0 ? [...said.slice(0, NAMED), `+ ${rest}`] : said;
  return named.length === 0 ? [] : [say.list(named)];
}

/**
 * Returns a plan's status. If the person has died and the plan hadn't ended, the text says that this was its status before
 * death.
 */
function sayState({ say, known }: LinesPlace, state: string, isOver: boolean): string {
  return known.person.died === undefined || isOver ? state : say('known.ofdeceased', { state });
}

function errorWords(say: LinesPlace['say'], value: ClinicalEntry['value']): string[] {
  return withdrawnAs(value) === undefined
    ? []
    : [findCodeWord(say.lang, 'planStatus', 'entered-in-error') ?? ''];
}

/** Returns the date by which a goal is to be reached. */
function sayGoal({ say }: LinesPlace, { value }: ClinicalEntry): string[] {
  const due = objects(value.target).flatMap(({ dueDate }) => text(dueDate) ?? []);
  return due.map((date) => say('days.until', { day: dateText(say, date) }));
}

/**
 * Formats the care plans or the goals, with those in progress first.
 * @param entries with names for their codes
 */
export function viewPlans(
  place: LinesPlace,
  kind: PlanKind,
  entries: readonly ClinicalEntry[],
): OverviewView['care_plans'] {
  const { say } = place;
  const { type: own, status: element, over, ideas, title: heading, past: counted, none } = KINDS[kind];
  const plans = entries.filter(({ type }) => type === own);
  const stated = plans.filter(({ value }) => withdrawnAs(value) === undefined && !hasModifier(value));
  const lines = stated
    .map((entry) => ({ entry, dated: happened(entry) }))
    .sort(newestFirst)
    .map(({ entry, dated }) => {
      const { title, summary } = timelineWords(kind, entry.value);
      const { states, rest } = splitStates(say, kind, summary);
      const status = text(entry.value[element]);
      const isEnded = over.some((each) => each === status);
      const line: KnownLine = {
        title,
        badges: states.length === 0 ? [] : [['plain', sayState(place, statesText(say, states), isEnded)]],
        details: [
          ...(rest === null ? [] : [rest]),
          ...(kind === 'goal' ? sayGoal(place, entry) : sayActivities(place, entry)),
          whenText(say, dated, entry),
        ],
        sources: [{ entry, says: [] }],
        status,
        dated,
        periods: [],
      };
      const isOver = isEnded || place.known.person.died !== undefined;
      return {
        line,
        isOver,
        isIdea: !isOver && (isIdea(entry.value.intent) || ideas.some((each) => each === status)),
        isNoted: entry.partOfAi !== 'no',
      };
    });
  const facts = lines.filter(({ isNoted }) => !isNoted);
  const view = (each: (typeof lines)[number]) => viewLine(place, each.line);
  const [now, planned, past] = [
    facts.filter((each) => !each.isOver && !each.isIdea),
    facts.filter((each) => each.isIdea),
    facts.filter(({ isOver }) => isOver),
  ];
  const past_text = past.length === 0 ? '' : say(counted, { n: past.length });
  return {
    title: capital(say, say(heading)),
    absent: [],
    now: now.flatMap(view),
    planned: planned.flatMap(view),
    past: past.flatMap(view),
    past_text,
    none: sayNone(say, say(none), now.length, past_text, planned.length),
    unverified: lines.filter(({ isNoted }) => isNoted).flatMap(view),
    left_out: plans
      .filter((each) => !stated.includes(each))
      .map(({ type, id, version, value }) => ({
        title: timelineWords(kind, value).title,
        text: [timelineWords(kind, value).title, ...errorWords(say, value)].join(': '),
        since: null,
        why: withdrawnAs(value) ?? 'modified',
        resource: `${type}/${id}`,
        version,
      })),
  };
}
