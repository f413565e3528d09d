/** Whose record it is. */
import { Badge } from '../../parts/parts.tsx';
import { say, sayDate, sayMoment } from '../../texts/texts.ts';
import type { Overview } from './record-place.ts';

/** The patient's names, birth date, age, sex, identifiers and death. */
export function Banner({
  overview: { patient, position },
  isWhole,
}: {
  readonly overview: Overview;
  /** True if the overview is the part to be printed. */
  readonly isWhole: boolean;
}) {
  const { birth_date, age, gender_text, identifiers, died, other_names, id } = patient;
  return (
    <div class="identity">
      <p class="said">
        {birth_date === null ? null : (
          <span>
            {say('record.born', { day: sayDate(birth_date) })}
            {age === null ? '' : `, ${age}`}
          </span>
        )}
        {gender_text === null ? null : <span>{gender_text}</span>}
        {died === null ? null : <Badge tone="bad">{died.text}</Badge>}
        {other_names.map((other) => (
          <span key={other} class="quiet">
            {say('record.also', { name: other })}
          </span>
        ))}
      </p>
      <details class="small screen">
        <summary>{say('record.identifiers')}</summary>
        <ul>
          {identifiers.map(({ system, value, kind }) => (
            <li key={`${system}|${value}`}>
              {kind === null ? null : `${kind}: `}
              <code>{value}</code> <span class="quiet">{system}</span>
            </li>
          ))}
          <li>
            {say('record.id')}: <code>{id}</code>
          </li>
          {position === null ? null : (
            <li>
              {say('record.position', { versions: position.versions, at: sayMoment(position.recorded) })}
            </li>
          )}
        </ul>
      </details>
      <p class="paper small">{[...identifiers.map(sayNumber), `${say('record.id')}: ${id}`].join(' · ')}</p>
      {isWhole ? <p class="paper small">{say('record.scope')}</p> : null}
    </div>
  );
}

/** Returns one of the patient's identifiers, with its type if it has one. */
function sayNumber({ value, kind }: Overview['patient']['identifiers'][number]): string {
  return kind === null ? value : `${kind}: ${value}`;
}

/** The header on each printed page. */
export function RunningHead({ overview: { patient, as_of } }: { readonly overview: Overview }) {
  const { name, birth_date, died, identifiers } = patient;
  return (
    <p class="paper running">
      <strong>{name}</strong>
      {birth_date === null ? '' : ` · ${say('record.born', { day: sayDate(birth_date) })}`}
      {died === null ? '' : ` · ${died.text}`}
      {identifiers.map((each) => ` · ${sayNumber(each)}`).join('')} ·{' '}
      {say('record.printed', { at: sayMoment(as_of) })}
    </p>
  );
}
