/** Shows a JSON Schema as nested lists of its members. */
import { type Html, html } from '#src/shared/html.ts';
import { renderInline } from './markdown.ts';
import type { Reference, Schema } from './reference.ts';

/** Maximum nesting of named schemas that are shown in full. Of deeper ones, only the names are shown. */
const DEEPEST = 3;

/** Shows the schemas of one document. */
export class SchemaView {
  /** @param named contains the schemas that other schemas refer to */
  constructor(private readonly named: Pick<Reference, 'schema'>) {}

  /** Returns a body's schema: its type and its members. */
  show(schema: Schema): Html {
    return html`<p class="type">${this.#type(schema)}</p>
${this.#inside(schema, [])}`;
  }

  /** Describes a value's type in a few words. */
  describeType(schema: Schema): Html {
    return this.#type(schema);
  }

  /** Returns the members of an object, the members of a list's items, or the alternatives. */
  #inside(schema: Schema, above: readonly string[]): Html {
    const { $ref, properties, items, additionalProperties, anyOf, oneOf } = schema;
    if ($ref !== undefined) {
      const name = nameIn($ref);
      const known = this.named.schema(name);
      if (known === undefined || above.includes(name) || above.length >= DEEPEST) return html``;
      return this.#inside(known, [...above, name]);
    }
    if (properties !== undefined) {
      const required = new Set(schema.required ?? []);
      const members = Object.entries(properties).map(([name, member]) =>
        this.#member(name, member, required.has(name), above),
      );
      return html`<ul class="members">
${members}</ul>`;
    }
    if (items !== undefined) return this.#inside(items, above);
    if (typeof additionalProperties === 'object') return this.#inside(additionalProperties, above);
    const alternatives = (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
    const [only] = alternatives;
    if (only !== undefined && alternatives.length === 1) return this.#inside(only, above);
    return html`${alternatives.map(
      (each) => html`<p class="quiet small">Either ${this.#type(each)}</p>
${this.#inside(each, above)}`,
    )}`;
  }

  #member(name: string, schema: Schema, isRequired: boolean, above: readonly string[]): Html {
    const inside = this.#inside(schema, above);
    const nested =
      inside.text.trim() === ''
        ? html``
        : html`<details><summary>Members of <code>${name}</code></summary>
${inside}</details>`;
    const description =
      schema.description === undefined
        ? html``
        : html`<p class="says">${renderInline(schema.description)}</p>
`;
    return html`<li class="member"><p><code class="name">${name}</code> <span class="type">${this.#type(schema)}</span>${isRequired ? html` <span class="required">required</span>` : html``}</p>
${description}${nested}</li>
`;
  }

  #type(schema: Schema): Html {
    const { $ref, items, anyOf, oneOf, const: constant, enum: values } = schema;
    if ($ref !== undefined) return html`${nameIn($ref)}`;
    if (constant !== undefined) return html`<code>${printed(constant)}</code>`;
    if (values !== undefined) return joined(values.map((each) => html`<code>${printed(each)}</code>`));
    const alternatives = anyOf ?? oneOf;
    if (alternatives !== undefined) return joined(alternatives.map((each) => this.#type(each)));
    const types = [schema.type ?? []].flat();
    const words = types.map((type) =>
      type === 'array' && items !== undefined ? html`list of ${this.#type(items)}` : html`${type}`,
    );
    const limits = listLimits(schema).map((limit) => html`, ${limit}`);
    return html`${words.length === 0 ? 'any JSON' : joined(words)}${limits}`;
  }
}

function listLimits(schema: Schema): string[] {
  const { format, minimum, maximum, maxLength, maxItems, default: preset } = schema;
  const range =
    minimum === undefined && maximum === undefined
      ? []
      : [
          `${minimum === undefined ? 'up to' : minimum}${minimum !== undefined && maximum !== undefined ? ' to ' : minimum === undefined ? ' ' : ' or more'}${maximum ?? ''}`,
        ];
  return [
    ...(format === undefined ? [] : [format]),
    ...range,
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(preset === undefined ? [] : [`default ${printed(preset)}`]),
  ];
}

function joined(parts: readonly Html[]): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html` or ${part}`))}`;
}

function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
