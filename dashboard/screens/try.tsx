/** Sends any request to the interfaces as the signed-in person, and shows how a program would send it. */

import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Answer, send, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Badge, Button, Confirm, Field, Head, Problem } from '../parts/parts.tsx';
import { Answered, contentType, Program } from '../parts/program.tsx';
import { PLACE } from '../place.ts';
import { isSearch } from '../search/query.ts';
import { account } from '../session.ts';
import { say, sayCount } from '../texts/texts.ts';

/** An operation in the OpenAPI document. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly example: string | undefined;
}

/** The parts of the OpenAPI document that are used here. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationPart>>>>;
}

interface OperationPart {
  readonly summary?: string;
  readonly requestBody?: {
    readonly content?: Readonly<
      Record<
        string,
        {
          readonly example?: unknown;
          readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
        }
      >
    >;
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Returns the screen. */
export function Try() {
  const here = useProject();
  const { query } = useLocation();
  const [method, setMethod] = useState<string>(METHODS.find((each) => each === query.method) ?? 'GET');
  const [path, setPath] = useState(query.path ?? '/fhir/R4/Patient?_count=5');
  const [body, setBody] = useState('');
  const operations = useLoaded(async () => {
    const read = await readOperations();
    const asked = read.find((each) => each.method === method && each.path === path);
    setBody((written) => (written === '' ? (asked?.example ?? '') : written));
    return read;
  }, []);
  // A page that links here may already have filled in parts of the path.
  const [parts, setParts] = useState<Readonly<Record<string, string>>>(query);
  const [headers, setHeaders] = useState('');
  const [isAsked, ask] = useState(false);
  const takesBody = method !== 'GET' && method !== 'DELETE';
  // The page that linked here promised a completed form, so the form can't be sent empty while the example is loading.
  const isFilling = takesBody && query.path !== undefined && body === '' && operations.isLoading;
  const base = account.value?.installation.base_url ?? '';
  const named = namesIn(withProject(path, here.project));
  const call = useMemo(() => {
    const filled = fillParts(withProject(path, here.project), parts);
    const sent = takesBody ? body : '';
    const content = sent === '' ? {} : { 'Content-Type': contentType(method, path) };
    return {
      path: filled,
      program: { method, url: base + filled, headers: { ...content, ...readHeaders(headers) }, body: sent },
    };
  }, [method, path, parts, headers, body, base, here.project]);
  const sending = useAct(({ path: to, program }: typeof call) =>
    send(
      here,
      { method: program.method, path: to, ...(program.body === '' ? {} : { body: program.body }) },
      program.headers,
    ),
  );
  const [answer, setAnswer] = useState<Answer>();
  const sendNow = async (): Promise<void> => {
    ask(false);
    const answered = await sending.run(call);
    if (answered !== undefined) setAnswer(answered);
  };
  const follow = (next: string): void => {
    setMethod('GET');
    setPath(next);
    setAnswer(undefined);
  };
  return (
    <>
      <Head title={say('try.title')} about={say('try.says')}>
        <a class="button" href={withQuery(pathOf(here, '/search'), { path: isSearch(path) ? path : '' })}>
          {say('search.title')}
        </a>
      </Head>
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          if (method === 'DELETE') ask(true);
          else void sendNow();
        }}
      >
        <Field name="operation" label={say('try.operation')}>
          {(attributes) => (
            <select
              {...attributes}
              value={String(
                operations.value?.findIndex((each) => each.method === method && each.path === path) ?? -1,
              )}
              onChange={({ currentTarget }) => {
                const chosen = operations.value?.[Number(currentTarget.value)];
                if (chosen === undefined) return;
                setMethod(chosen.method);
                setPath(chosen.path);
                setBody(chosen.example ?? '');
              }}
            >
              <option value="-1">{say('try.operation.choose')}</option>
              {(operations.value ?? []).map((operation, at) => (
                <option key={`${operation.method} ${operation.path}`} value={String(at)}>
                  {operation.method} {operation.path} – {operation.summary.replaceAll('`', '')}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div class="line">
          <Field name="method" label={say('try.method')}>
            {(attributes) => (
              <select
                {...attributes}
                value={method}
                onChange={({ currentTarget }) => setMethod(currentTarget.value)}
              >
                {METHODS.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            )}
          </Field>
          <Field name="path" label={say('try.path')}>
            {(attributes) => (
              <input
                {...attributes}
                value={path}
                required
                onInput={({ currentTarget }) => setPath(currentTarget.value)}
              />
            )}
          </Field>
        </div>
        {named.length === 0 ? null : (
          <div class="stack">
            {named.map((name) => (
              <Field
                key={name}
                name={name}
                label={name}
                hint={
                  name === 'patient_id' ? (
                    <a href={pathOf(here, '/patients')}>{say('search.record.find')}</a>
                  ) : undefined
                }
              >
                {(attributes) => (
                  <input
                    {...attributes}
                    required
                    value={parts[name] ?? ''}
                    onInput={({ currentTarget: { value } }) => setParts({ ...parts, [name]: value })}
                  />
                )}
              </Field>
            ))}
          </div>
        )}
        <details>
          <summary>{say('try.headers')}</summary>
          <Field name="headers" label={say('try.headers.label')} hint={say('try.headers.hint')}>
            {(attributes) => (
              <textarea
                {...attributes}
                rows={3}
                spellcheck={false}
                value={headers}
                onInput={({ currentTarget }) => setHeaders(currentTarget.value)}
              />
            )}
          </Field>
        </details>
        {takesBody ? (
          <Field name="body" label={say('try.body')}>
            {(attributes) => (
              <textarea
                {...attributes}
                rows={10}
                spellcheck={false}
                value={body}
                onInput={({ currentTarget }) => setBody(currentTarget.value)}
              />
            )}
          </Field>
        ) : null}
        <p>
          <Button type="submit" tone="primary" busy={sending.isRunning || isFilling}>
            {say('try.send')}
          </Button>{' '}
          <Badge tone={here.environment}>{say(`environment.${here.environment}`)}</Badge>
        </p>
      </form>
      <Problem failure={sending.failure} />
      {answer === undefined ? null : (
        <>
          <Answered answer={answer} />
          <Follow answer={answer} base={base} onFollow={follow} />
        </>
      )}
      <Program call={call.program} />
      {isAsked ? (
        <Confirm
          title={say('try.delete')}
          says={
            <p>
              <code>DELETE {call.path}</code>
            </p>
          }
          act={say('try.delete')}
          busy={sending.isRunning}
          failure={undefined}
          onClose={() => ask(false)}
          onConfirm={() => void sendNow()}
        />
      ) : null}
    </>
  );
}

/** Reads the available operations, which are those of the interfaces behind the gateway. */
async function readOperations(): Promise<readonly Operation[]> {
  const answer = await fetch(`${PLACE.base}/openapi.json`);
  const { paths } = (await answer.json()) as Document;
  return Object.entries(paths).flatMap(([path, operations]) =>
    /^\/(?:v1|fhir\/R4|admin)(?:\/|$)/.test(path)
      ? Object.entries(operations).flatMap(([method, operation]) =>
          METHODS.some((each) => each === method.toUpperCase())
            ? [
                {
                  method: method.toUpperCase(),
                  path,
                  summary: operation.summary ?? '',
                  example: exampleOf(operation),
                },
              ]
            : [],
        )
      : [],
  );
}

function exampleOf({ requestBody }: OperationPart): string | undefined {
  const [content] = Object.values(requestBody?.content ?? {});
  const example = content?.example ?? Object.values(content?.examples ?? {})[0]?.value;
  return example === undefined ? undefined : JSON.stringify(example, null, 2);
}

/** Fills in the project's id. */
function withProject(path: string, project: string): string {
  return path.replace('{project_id}', project);
}

/** Returns the names of the path parts that still have to be filled in. */
function namesIn(path: string): string[] {
  return [...new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))];
}

function fillParts(path: string, parts: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = parts[name] ?? '';
    return value === '' ? whole : encodeURIComponent(value);
  });
}

/** Reads headers, one per line: `If-Match: W/"1"`. Lines in any other form are ignored. */
function readHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line): [string, string][] => {
      const [, name = '', value = ''] = /^\s*([\w-]+)\s*:\s*(.*\S)\s*$/.exec(line) ?? [];
      return name === '' ? [] : [[name, value]];
    }),
  );
}

/** The maximum number of paths to offer. */
const MOST_PATHS = 30;

/** Offers links to the resources and next pages to which a response refers. */
function Follow({
  answer,
  base,
  onFollow,
}: {
  readonly answer: Answer;
  readonly base: string;
  readonly onFollow: (path: string) => void;
}) {
  const paths = useMemo(() => pathsIn(answer.text, base), [answer.text, base]);
  if (paths.length === 0) return null;
  return (
    <details class="panel">
      <summary>{sayCount('try.follow', paths.length)}</summary>
      <ul class="follow">
        {paths.map((path) => (
          <li key={path}>
            <Button tone="link" onClick={() => onFollow(path)}>
              <code>{path}</code>
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Returns the paths that occur in JSON text, each once. */
function pathsIn(text: string, base: string): string[] {
  const strings = text.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  const paths = strings.flatMap((quoted) => {
    const value = quoted.slice(1, -1).replaceAll('\\/', '/');
    if (value.startsWith(`${base}/`)) return [value.slice(base.length)];
    return /^[A-Z][A-Za-z]+\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\/_history\/\d+)?$/.test(value)
      ? [`/fhir/R4/${value}`]
      : [];
  });
  return [...new Set(paths)].filter((path) => /^\/(?:v1|fhir\/R4|admin)\//.test(path)).slice(0, MOST_PATHS);
}
