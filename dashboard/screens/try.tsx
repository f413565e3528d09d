/** Sends any request of the interfaces as the person, and shows how a program would send it. */

import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Answer, send, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Badge, Button, Field, Head, Problem } from '../parts/parts.tsx';
import { Answered, contentType, Program } from '../parts/program.tsx';
import { PLACE } from '../place.ts';
import { isSearch } from '../search/query.ts';
import { account } from '../session.ts';
import { say } from '../texts/texts.ts';

/** An operation of the OpenAPI document. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly example: string | undefined;
}

/** The parts of the document that are used. */
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
  const [method, setMethod] = useState('GET');
  const [path, setPath] = useState(query.path ?? '/fhir/R4/Patient?_count=5');
  const [body, setBody] = useState('');
  const operations = useLoaded(readOperations, []);
  const sending = useAct(
    (request: { readonly method: string; readonly path: string; readonly body: string }) =>
      send(
        here,
        {
          method: request.method,
          path: withProject(request.path, here.project),
          ...(request.body === '' ? {} : { body: request.body }),
        },
        request.body === '' ? {} : { 'Content-Type': contentType(request.method, request.path) },
      ),
  );
  const [answer, setAnswer] = useState<Answer>();
  const takesBody = method !== 'GET' && method !== 'DELETE';
  const base = account.value?.installation.base_url ?? '';
  const call = useMemo(
    () => ({ method, url: base + withProject(path, here.project), body: takesBody ? body : '', path }),
    [method, path, body, base, here.project],
  );
  return (
    <>
      <Head title={say('try.title')} about={say('try.says')}>
        <a class="button" href={withQuery(pathOf(here, '/search'), { path: isSearch(path) ? path : '' })}>
          {say('search.title')}
        </a>
      </Head>
      <form
        class="panel"
        onSubmit={async (event) => {
          event.preventDefault();
          const answered = await sending.run({ method, path, body: takesBody ? body : '' });
          if (answered !== undefined) setAnswer(answered);
        }}
      >
        <Field name="operation" label={say('try.operation')}>
          {(attributes) => (
            <select
              {...attributes}
              value=""
              onChange={({ currentTarget }) => {
                const chosen = operations.value?.[Number(currentTarget.value)];
                currentTarget.value = '';
                if (chosen === undefined) return;
                setMethod(chosen.method);
                setPath(chosen.path);
                setBody(chosen.example ?? '');
              }}
            >
              <option value="">{say('try.operation.choose')}</option>
              {(operations.value ?? []).map((operation, at) => (
                <option key={`${operation.method} ${operation.path}`} value={String(at)}>
                  {operation.method} {operation.path} – {operation.summary}
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
          <Button type="submit" tone="primary" busy={sending.isRunning}>
            {say('try.send')}
          </Button>{' '}
          <Badge tone={here.environment}>{say(`environment.${here.environment}`)}</Badge>
        </p>
      </form>
      <Problem failure={sending.failure} />
      {answer === undefined ? null : <Answered answer={answer} />}
      <Program call={call} />
    </>
  );
}

/** Reads what can be asked: the interfaces behind the gateway. */
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

/** Fills in the project's id; other ids have to be put in by the person. */
function withProject(path: string, project: string): string {
  return path.replace('{project_id}', project);
}
