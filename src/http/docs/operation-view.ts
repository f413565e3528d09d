/** Shows an operation: its purpose, inputs and responses, with a form that sends the request. */
import { type Html, html } from '#src/shared/html.ts';
import { ID_OF_URL } from '../openapi/fhir-examples.ts';
import { renderInline, renderMarkdown } from './markdown.ts';
import type { Media, Operation, Parameter, Schema } from './reference.ts';
import type { SchemaView } from './schema-view.ts';

const FORM = 'application/x-www-form-urlencoded';

/**
 * Returns an operation without its title. HTML ids begin with the operation's id, so that a page can show several operations.
 * @param baseUrl where requests are sent, without a trailing slash
 * @param root the service's path on its host, without a trailing slash
 */
export function operationPart(
  operation: Operation,
  schemas: SchemaView,
  baseUrl: string,
  root: string,
): Html {
  const { operationId: id, method, path, description } = operation;
  return html`<article class="operation" id="operation-${id}">
<div class="stack prose">${renderMarkdown(description, (href) => href)}
<p>${credentialText(operation)}</p></div>
<form class="request stack" data-method="${method}" data-url="${baseUrl}${path}" data-credential="${credentialKind(operation)}" data-own-id="${ID_OF_URL}">
<h3>Request</h3>
${parametersPart(operation, schemas)}${bodyPart(operation)}${headersPart(operation, schemas)}${credentialField(operation)}<p class="buttons"><button class="button" disabled>Send</button></p>
<div class="curl stack" hidden><h4>As a command</h4>
<pre tabindex="0" role="group" aria-label="curl command"><code></code></pre></div>
<div class="answer stack" role="status" hidden></div>
</form>
${bodySchemas(operation, schemas)}${answersPart(operation, schemas, root)}
</article>`;
}

/** Returns the kind of credential that a form asks for; an empty string for none. */
function credentialKind({ security }: Operation): '' | 'identity' | 'key' {
  if (security.length === 0) return '';
  return security.some((each) => 'idToken' in each) ? 'identity' : 'key';
}

function credentialText({ security }: Operation): Html {
  const [names, last] = [nameCredentials(security).slice(0, -1), nameCredentials(security).at(-1)];
  if (last === undefined) return html`Takes no credential.`;
  const before = names.map((name, index) => html`${index === 0 ? '' : ', '}${name}`);
  return html`Takes ${before}${names.length === 0 ? '' : ' or '}${last}.`;
}

function nameCredentials(security: Operation['security']): readonly Html[] {
  return security.flatMap((each) => {
    if ('apiKey' in each)
      return [html`an API key of a project (<code>Authorization: Bearer</code> or <code>X-Api-Key</code>)`];
    if ('idToken' in each) return [html`an ID token of a person`];
    if ('patientGrant' in each) return [html`the access token of a patient’s grant`];
    const [scope] = Object.values(each)[0] ?? [];
    return 'clientCredentials' in each
      ? [html`an application’s own access token with <code>${scope ?? ''}</code>`]
      : [];
  });
}

function credentialField(operation: Operation): Html {
  const kind = credentialKind(operation);
  if (kind === '') return html``;
  const id = `${operation.operationId}-credential`;
  const label = kind === 'identity' ? 'ID token' : 'API key or access token';
  return html`<div class="param"><label for="${id}">${label}</label>
<p class="says" id="${id}-says">Kept by this page until you leave it.</p>
<input type="password" id="${id}" name="credential" autocomplete="off" spellcheck="false" aria-describedby="${id}-says"></div>
`;
}

function parametersPart(operation: Operation, schemas: SchemaView): Html {
  const fieldset = (place: 'path' | 'query', title: string): Html => {
    const fields = fieldsIn(operation, place, schemas);
    return fields.length === 0
      ? html``
      : html`<fieldset><legend>${title}</legend>
${fields}</fieldset>
`;
  };
  return html`${fieldset('path', 'In the path')}${fieldset('query', 'In the query')}`;
}

/** Returns the headers, collapsed, because none of them is needed to try out a request. */
function headersPart(operation: Operation, schemas: SchemaView): Html {
  const fields = fieldsIn(operation, 'header', schemas);
  if (fields.length === 0) return html``;
  return html`<details><summary>Headers (${fields.length})</summary>
<fieldset><legend class="visually-hidden">Headers</legend>
${fields}</fieldset></details>
`;
}

function fieldsIn(operation: Operation, place: Parameter['in'], schemas: SchemaView): readonly Html[] {
  return operation.parameters
    .filter((each) => each.in === place)
    .map((each) => field(operation, each, schemas));
}

function field({ operationId }: Operation, parameter: Parameter, schemas: SchemaView): Html {
  const { name, in: place, required, description, schema } = parameter;
  const id = `${operationId}-${place}-${name}`;
  const isMap = schema.type === 'object';
  const says = [description, isMap ? 'Written as `name=value&name=value`.' : ''].join(' ').trim();
  const described = says === '' ? html`` : html` aria-describedby="${id}-says"`;
  const mark = required ? html` <span class="required">required</span>` : html``;
  return html`<div class="param"><label for="${id}"><code class="name">${name}</code> <span class="type">${schemas.describeType({ ...schema, ...(listChoices(schema) === undefined ? {} : { enum: undefined, type: 'one of a list' }) })}</span>${mark}</label>
${
  says === ''
    ? html``
    : html`<p class="says" id="${id}-says">${renderInline(says)}</p>
`
}${control(id, parameter, described, isMap)}</div>
`;
}

function control(id: string, parameter: Parameter, described: Html, isMap: boolean): Html {
  const { name, in: place, required, schema } = parameter;
  const preset = parameter.example ?? schema.default;
  const value = preset === undefined ? '' : isMap ? formText(preset) : String(preset);
  const attributes = html`id="${id}" data-name="${name}" data-in="${place}"${isMap ? html` data-map` : html``}${required ? html` required` : html``}${described}`;
  const choices = listChoices(schema);
  if (choices === undefined)
    return html`<input ${attributes} value="${value}" autocomplete="off" spellcheck="false">`;
  const options = [...(required ? [] : ['']), ...choices].map(
    (each) => html`<option${each === value ? html` selected` : html``}>${each}</option>`,
  );
  return html`<select ${attributes}>${options}</select>`;
}

/** Returns the values that a parameter can have, if they are enumerated. */
function listChoices({ type, enum: values }: Schema): readonly string[] | undefined {
  return type === 'boolean' ? ['false', 'true'] : values?.map(String);
}

function bodyPart({ operationId, requestBody }: Operation): Html {
  const kinds = Object.entries(requestBody?.content ?? {}).flatMap(([type, media]) =>
    listExamples(media, type).map(([label, text]) => ({ type, label, text })),
  );
  if (kinds.length === 0) return html``;
  const id = `${operationId}-body`;
  const choice =
    kinds.length === 1
      ? html``
      : html`<label class="name" for="${id}-kind">Form of the body</label>
<select id="${id}-kind" name="kind">${kinds.map(({ type, label }, at) => html`<option value="${at}">${type}${label === '' ? '' : `: ${label}`}</option>`)}</select>
`;
  const bodies = kinds.map(({ type, text }, at) => {
    const attributes = html`id="${id}-${at}" name="body" data-type="${type}" data-kind="${at}"`;
    const control =
      type === '*/*'
        ? html`<input type="file" ${attributes}>`
        : html`<textarea ${attributes} rows="${Math.min(16, Math.max(3, text.split('\n').length))}" spellcheck="false">${text}</textarea>`;
    return html`<div class="body"><label for="${id}-${at}">As ${type === '*/*' ? 'a file' : html`<code>${type}</code>`}</label>
${control}</div>
`;
  });
  return html`<fieldset><legend>Body</legend>
${choice}${bodies}</fieldset>
`;
}

/** Returns the texts that prefill the body, each with its name if there are several. */
function listExamples({ example, examples }: Media, type: string): readonly (readonly [string, string])[] {
  const print = (value: unknown): string => {
    if (typeof value === 'string') return value.replaceAll('\r', '\n');
    return type === FORM ? formText(value) : JSON.stringify(value, null, 2);
  };
  if (examples !== undefined)
    return Object.entries(examples).map(([name, { value }]) => [name, print(value)]);
  return [['', example === undefined ? '' : print(example)]];
}

function formText(value: unknown): string {
  const entries = Object.entries(value ?? {}).map(([name, each]) => [name, String(each)]);
  return new URLSearchParams(entries).toString();
}

function bodySchemas({ requestBody }: Operation, schemas: SchemaView): Html {
  const shown = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
    schema === undefined
      ? []
      : [
          html`<details><summary>Members of the body, <code>${type}</code></summary>
${schemas.show(schema)}</details>
`,
        ],
  );
  return html`${shown}`;
}

function answersPart({ answers }: Operation, schemas: SchemaView, root: string): Html {
  const successes = answers
    .filter(({ status }) => Number(status) < 400)
    .map(({ status, description, content }) => {
      const [first] = Object.entries(content);
      const says = html`<span class="status">${status}</span> ${renderInline(description)}`;
      const schema = first?.[1].schema;
      if (first === undefined || schema === undefined)
        return html`<li>${says}</li>
`;
      return html`<li><details><summary>${says} <code>${first[0]}</code></summary>
${schemas.show(schema)}</details></li>
`;
    });
  const faults = answers
    .filter(({ status }) => Number(status) >= 400)
    .map(({ status, description }) => {
      const [, type] = /^`(\w+)`/.exec(description) ?? [];
      return type === undefined
        ? html`<li><span class="status">${status}</span> ${renderInline(description)}</li>`
        : html`<li class="fault-type"><a href="${root}/docs/errors#${type}">${status} ${type}</a></li>`;
    });
  return html`<div class="stack answers"><h3>Answers</h3>
<ul class="plain">
${successes}</ul>
${
  faults.length === 0
    ? html``
    : html`<details><summary>Errors</summary>
<ul class="faults">
${faults}</ul></details>`
}</div>`;
}
