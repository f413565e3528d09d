/** Sends any request of the interfaces as the person, and shows how a program would send it. */

import { useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Answer, send } from '../api.ts';
import { useProject } from '../here.ts';
import { indent } from '../indent.ts';
import { useAct, useLoaded } from '../load.ts';
import { Badge, Button, Code, Field, Head, Problem } from '../parts/parts.tsx';
import { PLACE } from '../place.ts';
import { account } from '../session.ts';
import { say } from '../texts/texts.ts';
import { Status, sayMs } from './requests.tsx';

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
      <Head title={say('try.title')} about={say('try.says')} />
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
      <section class="panel">
        <h2>{say('try.program')}</h2>
        <h3>curl</h3>
        <Code text={printCurl(call)} label="curl" />
        <h3>TypeScript</h3>
        <Code text={printTypeScript(call)} label="TypeScript" />
      </section>
    </>
  );
}

function Answered({ answer }: { readonly answer: Answer }) {
  const id = answer.headers.get('Service-Request-Id') ?? '';
  return (
    <section class="panel" aria-live="polite">
      <h2>
        {say('try.answer')} <Status status={answer.status} />{' '}
        <span class="quiet">
          {sayMs(answer.ms)} · <code>{id}</code>
        </span>
      </h2>
      {answer.text === '' ? (
        <p class="quiet">{say('try.empty')}</p>
      ) : (
        <Code text={indent(answer.text)} label={say('try.answer')} />
      )}
    </section>
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

function contentType(method: string, path: string): string {
  if (method === 'PATCH' && path.startsWith('/fhir/')) return 'application/json-patch+json';
  return path.startsWith('/fhir/') ? 'application/fhir+json' : 'application/json';
}

/** A request as a program sends it. */
interface Sent {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly body: string;
}

/** Quotes a text for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function printCurl({ method, url, path, body }: Sent): string {
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} -H "Authorization: Bearer $ANNAL_KEY"`,
    ...(body === '' ? [] : [`-H 'Content-Type: ${contentType(method, path)}'`, `-d ${quote(body)}`]),
    quote(url),
  ];
  return parts.join(' \\\n  ');
}

function printTypeScript({ method, url, path, body }: Sent): string {
  const lines = [
    `const answer = await fetch(${JSON.stringify(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    '  headers: {',
    "    Authorization: 'Bearer ' + process.env.ANNAL_KEY,",
    ...(body === '' ? [] : [`    'Content-Type': ${JSON.stringify(contentType(method, path))},`]),
    '  },',
    ...(body === '' ? [] : [`  body: ${JSON.stringify(body)},`]),
    '});',
    'console.log(answer.status, await answer.json());',
  ];
  return lines.join('\n');
}
