/**
 * Builds a FHIR search, explains its cost, runs it as the signed-in person, and shows the results as a table. Its state is
 * kept in the URL.
 */
import { type ComponentChildren, Fragment } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Answer, ApiError, openRecords, send, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Badge, Button, Field, Head, Problem, Shown } from '../parts/parts.tsx';
import { Program } from '../parts/program.tsx';
import { Choice, Conditions, SortKeys } from '../search/conditions.tsx';
import { explainCost } from '../search/cost.ts';
import { readTypes, type SearchType, type Statement } from '../search/parameters.ts';
import {
  joinKey,
  printQuery,
  type Query,
  readQuery,
  readValue,
  withoutEmpty,
  withValue,
} from '../search/query.ts';
import { Results } from '../search/results.tsx';
import { account } from '../session.ts';
import { say, type TextKey } from '../texts/texts.ts';

const KEPT: ReadonlySet<string> = new Set(['_count', '_total', '_summary']);
const TOTALS = ['none', 'estimate'] as const;
const SUMMARIES = ['true', 'text', 'data', 'count'] as const;

/** Returns the screen. */
export function Search() {
  const here = useProject();
  const types = useLoaded(
    async (signal) => {
      const { text } = await openRecords(here).send('GET', '/fhir/R4/metadata', undefined, { signal });
      return readTypes(JSON.parse(text) as Statement);
    },
    [here.project, here.environment],
  );
  return (
    <>
      <Head title={say('search.title')} about={say('search.says')} />
      <Shown of={types}>
        {(known) => <Builder key={`${here.project} ${here.environment}`} types={known} />}
      </Shown>
    </>
  );
}

function Builder({ types }: { readonly types: readonly SearchType[] }) {
  const here = useProject();
  const { query: page, route } = useLocation();
  const query = readQuery(page.path ?? '');
  // When Enter is pressed, the field changes and the form is submitted before the screen is rendered again.
  const latest = useRef(query);
  latest.current = query;
  const change = (next: Query): void => {
    latest.current = next;
    route(withQuery(pathOf(here, '/search'), { path: printQuery(next) }), true);
  };
  const [shown, show] = useState<Answer>();
  const searching = useAct(async (path: string) => {
    const answer = await send(here, { method: 'GET', path }, {});
    show(answer);
    if (answer.status !== 200) throw new ApiError(answer.status, answer.headers, answer.text);
    return answer;
  });
  const type = types.find(({ name }) => name === query.type);
  const path = printQuery(withoutEmpty(query));
  /** A different type has different parameters; the record and the parameters that all searches have in common are kept. */
  const ofType = (name: string): Query => {
    const { isInRecord = false } = types.find((each) => each.name === name) ?? {};
    const isKept = (part: string) =>
      KEPT.has(part) || (isInRecord && (part === 'patient' || part === '_asOf'));
    return { type: name, parts: query.parts.filter((part) => isKept(joinKey(part))) };
  };
  /** Returns the field for a part that has a field of its own: a list if there are choices, otherwise a text field. */
  const own = (
    name: string,
    label: TextKey,
    { of, hint, example = '' }: { of?: readonly string[]; hint?: ComponentChildren; example?: string } = {},
  ) => {
    const set = (value: string): void => change(withValue(query, name, value));
    const value = readValue(query, name);
    return (
      <Field name={`http.${name}`} label={say(label)} hint={hint} failure={searching.failure}>
        {(attributes) =>
          of === undefined ? (
            <input
              {...attributes}
              value={value}
              placeholder={example}
              autocomplete="off"
              onInput={({ currentTarget }) => set(currentTarget.value)}
            />
          ) : (
            <Choice {...attributes} value={value} none={example} of={of} onChoose={set} />
          )
        }
      </Field>
    );
  };
  const sorts = (type?.parameters ?? []).flatMap(({ name, isSortable }) =>
    isSortable ? [name, `-${name}`] : [],
  );
  const patients = <a href={pathOf(here, '/patients')}>{say('search.record.find')}</a>;
  return (
    <>
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          void searching.run(printQuery(withoutEmpty(latest.current)));
        }}
      >
        <div class="fields">
          <Field name="type" label={say('search.type')}>
            {(attributes) => (
              <Choice
                {...attributes}
                value={query.type}
                of={types.map(({ name }) => name)}
                onChoose={(name) => change(ofType(name))}
              />
            )}
          </Field>
          {type?.isInRecord === true ? own('patient', 'search.record', { hint: patients }) : null}
          {readValue(query, '_asOf') !== '' || isOneRecord(query, type)
            ? own('_asOf', 'search.asOf', { example: '2026-03-01T08:00:00Z' })
            : null}
        </div>
        {type === undefined ? null : (
          <Conditions query={query} type={type} types={types} failure={searching.failure} onChange={change} />
        )}
        <div class="fields">
          <Field name="http._sort" label={say('search.sort')} failure={searching.failure}>
            {(attributes) => (
              <SortKeys
                attributes={attributes}
                value={readValue(query, '_sort')}
                of={sorts}
                none={query.type === 'Provenance' ? '-recorded' : '_id'}
                onChange={(keys) => change(withValue(query, '_sort', keys))}
              />
            )}
          </Field>
          {own('_count', 'search.count', { example: '50' })}
          {own('_total', 'search.total', { of: TOTALS, example: 'accurate' })}
          {own('_summary', 'search.summary', { of: SUMMARIES, example: 'false' })}
        </div>
        <p class="built">
          <span class="method">GET</span> <code>{path}</code>
        </p>
        <p>
          <Button type="submit" tone="primary" busy={searching.isRunning}>
            {say('search')}
          </Button>{' '}
          <a class="button plain" href={withQuery(pathOf(here, '/try'), { path })}>
            {say('try.title')}
          </a>{' '}
          <Badge tone={here.environment}>{say(`environment.${here.environment}`)}</Badge>
        </p>
      </form>
      <Problem failure={searching.failure} />
      {shown === undefined ? null : (
        <Results answer={shown} isBusy={searching.isRunning} onPage={(page) => void searching.run(page)} />
      )}
      {type === undefined ? null : <Costs query={query} type={type} />}
      <Program
        call={{
          method: 'GET',
          url: (account.value?.installation.base_url ?? '') + path,
          headers: {},
          body: '',
        }}
      />
    </>
  );
}

/** Returns true if a search is limited to exactly one record. */
function isOneRecord(query: Query, type: SearchType | undefined): boolean {
  return type?.isInRecord === true && /^[^,]+$/.test(readValue(query, 'patient'));
}

/** Explains what a search reads, and why each of its parts is fast or slow. */
function Costs({ query, type }: { readonly query: Query; readonly type: SearchType }) {
  const { lead, parts } = explainCost(query, type);
  return (
    <section class="panel" aria-label={say('search.cost')}>
      <h2>{say('search.cost')}</h2>
      <p>
        <strong>{say(`search.cost.${lead}`)}</strong> {say('search.cost.limit')}
      </p>
      <dl>
        {parts.map(({ text, kind }) => (
          <Fragment key={text}>
            <dt>
              <code>{text}</code>
            </dt>
            <dd>{say(`search.cost.${kind}`)}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
