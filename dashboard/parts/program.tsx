/** A response as received, and the same request as programs send it. */
import type { Answer } from '../api.ts';
import { indent } from '../indent.ts';
import { Status, sayMs } from '../screens/requests.tsx';
import { say } from '../texts/texts.ts';
import { Code, SignInAgain } from './parts.tsx';

/** The response: its status, time, id and content. */
export function Answered({ answer }: { readonly answer: Answer }) {
  const id = answer.headers.get('Service-Request-Id') ?? '';
  return (
    <section class="panel" aria-live="polite">
      <h2>
        {say('try.answer')} <Status status={answer.status} />{' '}
        <span class="quiet">
          {sayMs(answer.ms)} · <code>{id}</code>
        </span>
      </h2>
      {answer.status === 401 ? <SignInAgain refused={answer.headers} /> : null}
      {answer.text === '' ? (
        <p class="quiet">{say('try.empty')}</p>
      ) : (
        <Code text={indent(answer.text)} label={say('try.answer')} />
      )}
    </section>
  );
}

/** The request as curl and TypeScript code. */
export function Program({ call }: { readonly call: Sent }) {
  return (
    <section class="panel">
      <h2>{say('try.program')}</h2>
      <h3>curl</h3>
      <Code text={printCurl(call)} label="curl" />
      <h3>TypeScript</h3>
      <Code text={printTypeScript(call)} label="TypeScript" />
    </section>
  );
}

/** Returns the media type of a request's content. */
export function contentType(method: string, path: string): string {
  if (method === 'PATCH' && path.startsWith('/fhir/')) return 'application/json-patch+json';
  return path.startsWith('/fhir/') ? 'application/fhir+json' : 'application/json';
}

/** A request as a program sends it. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  /** All headers other than the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: none. */
  readonly body: string;
}

/** Quotes text for use in a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes text as a TypeScript template literal, which keeps its lines readable. */
function quoteTemplate(text: string): string {
  return `\`${text.replace(/[\\`]|\$(?=\{)/g, '\\$&')}\``;
}

function printCurl({ method, url, headers, body }: Sent): string {
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} -H "Authorization: Bearer $ANNAL_KEY"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === '' ? [] : [`-d ${quote(body)}`]),
    quote(url),
  ];
  return parts.join(' \\\n  ');
}

function printTypeScript({ method, url, headers, body }: Sent): string {
  const lines = [
    `const answer = await fetch(${JSON.stringify(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    '  headers: {',
    "    Authorization: 'Bearer ' + process.env.ANNAL_KEY,",
    ...Object.entries(headers).map(([name, value]) => `    '${name}': ${JSON.stringify(value)},`),
    '  },',
    ...(body === '' ? [] : [`  body: ${quoteTemplate(body)},`]),
    '});',
    method === 'DELETE' ? 'console.log(answer.status);' : 'console.log(answer.status, await answer.json());',
  ];
  return lines.join('\n');
}
