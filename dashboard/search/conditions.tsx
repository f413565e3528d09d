/** The conditions in a search: adding, changing and removing them. */
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { Button, Field } from '../parts/parts.tsx';
import { say } from '../texts/texts.ts';
import type { Parameter, SearchType } from './parameters.ts';
import { joinKey, type Part, type Query, splitKey, splitPrefix } from './query.ts';

/** Parts that have a field of their own when they have no modifier. */
const OWN: ReadonlySet<string> = new Set(['_asOf', '_sort', '_count', '_total', '_summary']);
/** Prefixes and their meanings. */
const PREFIXES = { eq: '=', ne: '≠', gt: '>', ge: '≥', lt: '<', le: '≤', sa: '', eb: '', ap: '≈' } as const;
/** Example values by parameter type. */
const EXAMPLES: Readonly<Record<string, string>> = {
  token: 'system|code',
  reference: 'Patient/…',
  date: '2026-03-01',
  quantity: '5.4|http://unitsofmeasure.org|mg',
  uri: 'https://…',
  composite: 'a$b',
  special: '52.52|13.40|10|km',
};

/** A list to choose from. A value that comes from elsewhere is added to the list. */
export function Choice({
  value,
  of,
  none,
  write = (each) => each,
  onChoose,
  ...attributes
}: {
  readonly value: string;
  readonly of: readonly string[];
  /** The text for an empty value; if undefined, a value must be chosen. */
  readonly none?: string;
  readonly write?: (each: string) => string;
  readonly onChoose: (value: string) => void;
  readonly [attribute: string]: unknown;
}) {
  const all = value === '' || of.includes(value) ? of : [value, ...of];
  return (
    <select {...attributes} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {none === undefined ? null : <option value="">{none}</option>}
      {all.map((each) => (
        <option key={each} value={each}>
          {write(each)}
        </option>
      ))}
    </select>
  );
}

/** The maximum number of sort keys that can be chosen. */
const MOST_KEYS = 3;

/** The sort keys: each further key orders the resources that are equal by all earlier keys. */
export function SortKeys({
  attributes,
  value,
  none,
  of,
  onChange,
}: {
  /** Attributes for the control of the first key. */
  readonly attributes: object;
  /** `-date,code`; empty for the service's own order. */
  readonly value: string;
  readonly none: string;
  readonly of: readonly string[];
  readonly onChange: (value: string) => void;
}) {
  const keys = value === '' ? [] : value.split(',');
  const shown = keys.length < MOST_KEYS ? [...keys, ''] : keys;
  return (
    <>
      {shown.map((key, at) => (
        <Choice
          key={at}
          {...(at === 0 ? attributes : { 'aria-label': say('search.sort.then') })}
          value={key}
          none={at === 0 ? none : say('search.sort.then')}
          of={of}
          onChoose={(chosen) =>
            onChange(
              keys
                .toSpliced(at, 1, chosen)
                .filter((each) => each !== '')
                .join(','),
            )
          }
        />
      ))}
    </>
  );
}

/** Returns the names of the chains that start at a type: `patient.family`, `subject:Patient.family`. */
function listChains(of: SearchType, types: readonly SearchType[]): string[] {
  return of.parameters.flatMap(({ name, type, modifiers }) => {
    if (type !== 'reference') return [];
    const targets = types.filter((each) => modifiers.includes(each.name));
    return targets.flatMap((target) =>
      target.parameters
        .filter((each) => !each.name.startsWith('_'))
        .map((each) => `${name}${targets.length === 1 ? '' : `:${target.name}`}.${each.name}`),
    );
  });
}

/** The list of conditions. */
export function Conditions({
  query,
  type,
  types,
  failure,
  onChange,
}: {
  readonly query: Query;
  readonly type: SearchType;
  /** Includes the types to which chains lead. */
  readonly types: readonly SearchType[];
  readonly failure: Failure | undefined;
  readonly onChange: (next: Query) => void;
}) {
  const chains = useMemo(() => listChains(type, types), [type, types]);
  const list = useRef<HTMLFieldSetElement>(null);
  /** The control to focus next: the control of a new condition, or the list after a condition was removed. */
  const focused = useRef('');
  useLayoutEffect(() => {
    if (focused.current === '') return;
    const controls = list.current?.querySelectorAll<HTMLElement>(focused.current);
    focused.current = '';
    controls?.[controls.length - 1]?.focus();
  });
  const isOwn = (part: Part): boolean =>
    part.modifier === '' && (OWN.has(part.name) || (type.isInRecord && part.name === 'patient'));
  const replace = (at: number, ...by: readonly Part[]): void =>
    onChange({ ...query, parts: query.parts.toSpliced(at, 1, ...by) });
  return (
    <fieldset ref={list} class="conditions">
      <legend>{say('search.conditions')}</legend>
      <datalist id={CHAINS}>
        {chains.map((chain) => (
          <option key={chain} value={chain} />
        ))}
      </datalist>
      {query.parts.map((part, at) =>
        isOwn(part) ? null : (
          <Condition
            key={at}
            part={part}
            type={type}
            failure={failure}
            onChange={(next) => replace(at, next)}
            onRemove={() => {
              focused.current = '.add';
              replace(at);
            }}
          />
        ),
      )}
      <Choice
        class="add"
        aria-label={say('search.add')}
        value=""
        none={say('search.add')}
        of={[...type.parameters.map(({ name }) => name), '_include', '_revinclude', CHAIN]}
        write={(name) => (name === CHAIN ? say('search.add.chain') : name)}
        onChoose={(name) => {
          focused.current = '.next';
          const part = { name: name === CHAIN ? '' : name, modifier: '', value: '' };
          onChange({ ...query, parts: [...query.parts, part] });
        }}
      />
    </fieldset>
  );
}

/** The list used for completing the names of chains. */
const CHAINS = 'search-chains';
/** The entry in the list of names for a chain whose name the person types. */
const CHAIN = '…';

function Condition({
  part,
  type,
  failure,
  onChange,
  onRemove,
}: {
  readonly part: Part;
  readonly type: SearchType;
  readonly failure: Failure | undefined;
  readonly onChange: (next: Part) => void;
  readonly onRemove: () => void;
}) {
  const { name, modifier, value } = part;
  const isUnnamed = joinKey(part) === '';
  const parameter = findParameter(part, type);
  const [prefix, rest] = parameter?.hasPrefix === true ? splitPrefix(value) : ['', value];
  const values =
    modifier === 'missing' ? ['true', 'false'] : name === '_include' ? type.includes : type.revIncludes;
  return (
    <div class="condition">
      <Field
        name={`http.${joinKey(part)}`}
        label={parameter === undefined ? say('search.other') : name}
        hint={parameter?.documentation}
        failure={failure}
      >
        {(attributes) => (
          <div class="parts">
            {parameter === undefined ? (
              <input
                key={joinKey(part)}
                class={isUnnamed ? 'next' : ''}
                aria-label={say('name')}
                defaultValue={joinKey(part)}
                placeholder="patient.family"
                list={CHAINS}
                onChange={({ currentTarget }) => onChange({ ...splitKey(currentTarget.value.trim()), value })}
              />
            ) : parameter.modifiers.length === 0 ? null : (
              <Choice
                aria-label={say('search.modifier', { name })}
                value={modifier}
                none={say('search.modifier.none')}
                of={parameter.modifiers}
                write={(each) => `:${each}`}
                onChoose={(chosen) =>
                  onChange({ name, modifier: chosen, value: chosen === 'missing' ? 'true' : value })
                }
              />
            )}
            {parameter?.hasPrefix === true && modifier === '' ? (
              <Choice
                aria-label={say('search.prefix', { name })}
                value={prefix}
                none="="
                of={Object.keys(PREFIXES)}
                write={(each) => `${each} ${PREFIXES[each as keyof typeof PREFIXES]}`}
                onChoose={(chosen) => onChange({ ...part, value: chosen + rest })}
              />
            ) : null}
            {modifier === 'missing' || name === '_include' || name === '_revinclude' ? (
              <Choice
                {...attributes}
                class={isUnnamed ? 'value' : 'value next'}
                value={value}
                none=""
                of={values}
                onChoose={(chosen) => onChange({ ...part, value: chosen })}
              />
            ) : (
              <input
                {...attributes}
                class={isUnnamed ? 'value' : 'value next'}
                value={rest}
                placeholder={EXAMPLES[parameter?.type ?? '']}
                autocomplete="off"
                onInput={({ currentTarget }) => onChange({ ...part, value: prefix + currentTarget.value })}
              />
            )}
            <Button aria-label={say('search.remove', { name: joinKey(part) })} onClick={onRemove}>
              ×
            </Button>
          </div>
        )}
      </Field>
    </div>
  );
}

/** Returns a part's parameter; undefined for a chain, and for anything else that isn't in the type's list. */
function findParameter({ name, modifier }: Part, type: SearchType): Parameter | undefined {
  const isInclusion = name === '_include' || name === '_revinclude';
  const found = isInclusion
    ? { name, type: 'special', modifiers: ['iterate'], hasPrefix: false, isSortable: false }
    : type.parameters.find((each) => each.name === name);
  return found === undefined || modifier === '' || found.modifiers.includes(modifier) ? found : undefined;
}
