/** The record at a glance: allergies, medicines, problems and abnormal results first. */
import { Fragment } from 'preact';
import { Badge } from '../../parts/parts.tsx';
import { say, sayCount, type TextKey } from '../../texts/texts.ts';
import { Bars } from './bars.tsx';
import type { Line, Overview, RecordPlace } from './record-place.ts';
import { Abnormal, Results } from './results.tsx';

type List = Overview['allergies'];

/** The reason why an entry isn't in any list. */
const WHY: Readonly<Record<string, TextKey>> = {
  modified: 'record.why.modified',
  'withdrawn by an AI': 'record.why.ai',
};

/** Returns the part. */
export function Glance({ overview, place }: { readonly overview: Overview; readonly place: RecordPlace }) {
  const { allergies, medicines, problems, vaccinations, care_plans, goals, procedures, visits, too_large } =
    overview;
  return (
    <div class="glance">
      <TooLarge resources={too_large} place={place} />
      <ListPart list={allergies} place={place} id="allergies" />
      <ListPart list={medicines} place={place} id="medicines">
        <Bars list={medicines} until={overview.as_of} place={place} />
      </ListPart>
      <ListPart list={problems} place={place} id="problems" />
      <Abnormal results={overview.results} place={place} />
      <ListPart list={vaccinations} place={place} id="vaccinations" />
      <ListPart list={care_plans} place={place} id="care-plans" isPrinted={false} />
      <ListPart list={goals} place={place} id="goals" isPrinted={false} />
      <Results results={overview.results} place={place} />
      <Newest events={procedures} place={place} />
      <Newest events={visits} place={place} />
      <Counts overview={overview} />
    </div>
  );
}

/** The maximum number of past medicines to print, newest first, as on the patient's own page. */
const MOST_PAST = 50;

/** One list of the clinical reading. */
function ListPart({
  list,
  place,
  id,
  isPrinted = true,
  children,
}: {
  readonly list: List;
  readonly place: RecordPlace;
  readonly id: string;
  readonly isPrinted?: boolean;
  readonly children?: preact.ComponentChildren;
}) {
  const { title, absent, now, planned, past, past_text, none, unverified, left_out } = list;
  return (
    <section class={`panel list ${id} ${isPrinted ? '' : 'screen'}`} aria-labelledby={id}>
      <h2 id={id}>
        {title} {now.length === 0 ? null : <span class="quiet number">{now.length}</span>}
      </h2>
      {none === null ? null : <p class="quiet">{none}</p>}
      {/* A statement that there is none doesn't come before what is there. */}
      <Lines lines={now} place={place} />
      <Lines lines={absent} place={place} />
      <Lines lines={planned} place={place} />
      {children}
      {past.length === 0 ? null : (
        <>
          {id === 'medicines' ? (
            <div class="paper">
              <h3>{past_text}</h3>
              <Lines lines={past.slice(0, MOST_PAST)} place={place} />
            </div>
          ) : (
            <p class="paper small">{say('record.notPrinted', { past: past_text })}</p>
          )}
          <details class="screen">
            <summary>{past_text}</summary>
            <Lines lines={past} place={place} />
          </details>
        </>
      )}
      <LeftOut left={left_out} place={place} />
      <Unverified lines={unverified} place={place} />
    </section>
  );
}

/** The newest events of one kind, with a link to all of them. */
function Newest({
  events: { title, kind, newest, unverified, total, none },
  place,
}: {
  readonly events: Overview['procedures'];
  readonly place: RecordPlace;
}) {
  const shown = newest.length + unverified.length;
  return (
    <section class={`panel list ${kind} screen`} aria-labelledby={kind}>
      <h2 id={kind}>
        {title} {total === 0 ? null : <span class="quiet number">{total}</span>}
      </h2>
      {none === null ? null : <p class="quiet">{none}</p>}
      <ul class="lines">
        {newest.map((event) => (
          <li key={event.resource}>
            <p>
              <strong>{event.text}</strong> <span class="quiet">{event.when}</span>
            </p>
            <Origin line={event} place={place} />
          </li>
        ))}
      </ul>
      <Unverified lines={unverified} place={place} />
      {total <= shown ? null : (
        <p>
          <a href={place.path({ part: 'timeline', kind })}>{sayCount('record.all', total)}</a>
        </p>
      )}
    </section>
  );
}

/**
 * Entries that are left out of the list. Entries that may still be true are shown as a warning; refuted entries stay visible,
 * because somebody may have relied on them; other withdrawn entries are collapsed.
 */
function LeftOut({ left, place }: { readonly left: List['left_out']; readonly place: RecordPlace }) {
  const refuted = left.filter(({ why }) => why === 'refuted');
  const mistaken = left.filter(({ why }) => why === 'entered in error');
  const others = left.filter((each) => !refuted.includes(each) && !mistaken.includes(each));
  const entries = (of: List['left_out']) => (
    <ul class="bullets">
      {of.map(({ text, why, resource, version }) => (
        <li key={resource}>
          {WHY[why] === undefined ? text : `${text} (${say(WHY[why])})`} ·{' '}
          <a href={place.entryPath(resource, version)}>{say('record.version', { version })}</a>
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {others.length === 0 ? null : (
        <div class="note warned">
          <p>{sayCount('record.leftOut', others.length)}</p>
          {entries(others)}
        </div>
      )}
      {refuted.length === 0 ? null : <div class="small quiet">{entries(refuted)}</div>}
      {mistaken.length === 0 ? null : (
        <details class="screen small">
          <summary>{sayCount('record.withdrawn', mistaken.length)}</summary>
          {entries(mistaken)}
        </details>
      )}
    </>
  );
}

/** Entries that an AI wrote and nobody has confirmed. */
export function Unverified({
  lines,
  place,
}: {
  readonly lines: readonly Pick<Line, 'text' | 'resource' | 'version' | 'author' | 'source' | 'key'>[];
  readonly place: RecordPlace;
}) {
  if (lines.length === 0) return null;
  return (
    <div class="note unverified">
      <h3>
        {say('record.ai')} <Badge tone="warn">{say('record.unverified')}</Badge>
      </h3>
      <ul class="lines">
        {lines.map((line) => (
          <li key={line.resource}>
            {line.text}
            <Origin line={line} place={place} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Lines({ lines, place }: { readonly lines: readonly Line[]; readonly place: RecordPlace }) {
  if (lines.length === 0) return null;
  return (
    <ul class="lines">
      {lines.map((line) => (
        <li key={line.resource}>
          <p>
            <strong>{line.title}</strong>{' '}
            {line.badges.map(({ tone, text }) => (
              <Fragment key={text}>
                <Badge tone={tone}>{text}</Badge>{' '}
              </Fragment>
            ))}
          </p>
          {line.details.length === 0 ? null : <p class="details">{line.details.join(' · ')}</p>}
          <Origin line={line} place={place} />
          {line.others.length === 0 ? null : (
            <details class="small screen">
              <summary>{sayCount('record.others', line.others.length)}</summary>
              <ul class="bullets">
                {line.others.map(({ text, resource, version }) => (
                  <li key={resource}>
                    {text} ·{' '}
                    <a href={place.entryPath(resource, version)}>{say('record.version', { version })}</a>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Returns who made an entry or, for an import without a name, the key that the import used. */
export function sayAuthor({ type, name, type_text }: Line['author'], key: string | null): string {
  if (name !== null) return name;
  return key === null || type !== 'import' ? type_text : `${type_text} · ${say('record.key', { key })}`;
}

/** Who entered a line, its source, and its exact version. */
export function Origin({
  line: { author, source, key, resource, version },
  place,
}: {
  readonly line: Pick<Line, 'author' | 'source' | 'key' | 'resource' | 'version'>;
  readonly place: RecordPlace;
}) {
  const said = [sayAuthor(author, key), ...(source === null ? [] : [source])];
  return (
    <p class="origin small quiet">
      {said.join(' · ')} ·{' '}
      <a href={place.entryPath(resource, version)}>
        {say('record.version', { version })}
        <span class="away"> {resource}</span>
      </a>
    </p>
  );
}

function TooLarge({
  resources,
  place,
}: {
  readonly resources: readonly string[];
  readonly place: RecordPlace;
}) {
  if (resources.length === 0) return null;
  return (
    <div class="note warned">
      <p>{sayCount('record.tooLarge', resources.length)}</p>
      <ul>
        {resources.map((resource) => (
          <li key={resource}>
            <a href={place.entryPath(resource)}>{resource}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Counts({ overview: { counts } }: { readonly overview: Overview }) {
  return (
    <details class="panel screen counts">
      <summary>
        {sayCount(
          'record.counts',
          counts.reduce((sum, { count }) => sum + count, 0),
        )}
      </summary>
      <dl>
        {counts.map(({ type, count }) => (
          <>
            <dt key={type}>
              <code>{type}</code>
            </dt>
            <dd>{count}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}
