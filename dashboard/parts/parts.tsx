/** Components that screens are built from. */
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Failure, signInPath } from '../api.ts';
import type { Loaded } from '../load.ts';
import { say, sayAgo, sayMoment, type TextKey } from '../texts/texts.ts';
import { urgentNeeds } from '../urgent-needs.ts';

/** A button. `tone` says how prominent it is, or that it ends something. */
export function Button({
  tone = 'plain',
  busy = false,
  ...rest
}: Omit<JSX.IntrinsicElements['button'], 'size'> & {
  readonly tone?: 'primary' | 'plain' | 'danger' | 'link';
  readonly busy?: boolean;
}) {
  return (
    <button
      type="button"
      {...rest}
      class={`button ${tone} ${rest.class ?? ''}`}
      aria-busy={busy}
      disabled={busy || rest.disabled === true}
    />
  );
}

/** Says why something failed. */
export function Problem({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined) return null;
  const { status, message, requestId, headers } = failure;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{status === 0 ? say('problem.offline') : message}</strong>
      </p>
      {status === 401 ? <SignInAgain refused={headers} /> : null}
      {requestId === '' ? null : (
        <p class="quiet">
          {say('problem.request')} <code>{requestId}</code>
        </p>
      )}
    </div>
  );
}

/** A link to the sign-in page in a new tab, so that what the person has entered here stays. */
export function SignInAgain({ refused }: { readonly refused: Headers | undefined }) {
  return (
    <p>
      <a href={signInPath(refused)} target="_blank" rel="noopener">
        {say('problem.signIn')}
      </a>
    </p>
  );
}

/**
 * Shows what was loaded: at first a placeholder, and an error if there is nothing to show. Data that may be outdated is
 * dimmed.
 */
export function Shown<T>({
  of,
  children,
}: {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (of.value === undefined)
    return of.failure === undefined ? (
      <p class="loading quiet" aria-live="polite">
        {say('loading')}
      </p>
    ) : (
      <>
        <Problem failure={of.failure} />
        <Button onClick={() => void of.reload()}>{say('again')}</Button>
      </>
    );
  if (of.failure === undefined) return <>{children(of.value)}</>;
  return (
    <>
      <Problem failure={of.failure} />
      <p class="note warned">
        {say('problem.stale', { moment: sayMoment(new Date(of.at ?? 0).toISOString()) })}
      </p>
      <div class="stack stale">{children(of.value)}</div>
    </>
  );
}

/** A screen's header: its name, a sentence about it, and its actions. */
export function Head({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const { value: urgent } = urgentNeeds;
  useEffect(() => {
    document.title = `${urgent === 0 ? '' : `(${urgent}) `}${title} – Annal`;
  }, [title, urgent]);
  return (
    <header class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {about === undefined ? null : <p class="quiet">{about}</p>}
      </div>
      {children === undefined ? null : <div class="acts">{children}</div>}
    </header>
  );
}

/** A form field, with its name, a hint, and any error. */
export function Field({
  label,
  hint,
  failure,
  name,
  children,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly failure?: Failure | undefined;
  /** The member of the request that the field sets. */
  readonly name: string;
  readonly children: (attributes: {
    readonly id: string;
    readonly name: string;
    readonly 'aria-describedby': string;
    readonly 'aria-invalid': boolean;
  }) => ComponentChildren;
}) {
  const id = useId();
  const wrong = failure?.fields.find(
    ({ field }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
  );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, name, 'aria-describedby': `${id}-hint`, 'aria-invalid': wrong !== undefined })}
      <p id={`${id}-hint`} class={wrong === undefined ? 'quiet' : 'wrong'}>
        {wrong?.message ?? hint}
      </p>
    </div>
  );
}

/** The element that had the focus before the open dialog. */
let opener: HTMLElement | undefined;

/** A dialog over the screen. Escape closes it, and the focus then returns to its previous place. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    // A dialog that replaces another one returns to what opened the first.
    if (before instanceof HTMLElement && before !== document.body) opener = before;
    current?.showModal();
    return () => {
      current?.close();
      // The browser returns the focus only if the dialog is still in the document.
      if (document.querySelector('dialog[open]') !== null) return;
      const next = opener?.isConnected ? opener : document.querySelector<HTMLElement>('main h1');
      next?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="close" aria-label={say('close')} onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** Asks for confirmation before something is ended. `says`: what will stop working. */
export function Confirm({
  title,
  says,
  act,
  busy,
  failure,
  keep,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly says: ComponentChildren;
  /** The button's text: the action, never "OK". */
  readonly act: string;
  readonly busy: boolean;
  readonly failure: Failure | undefined;
  /** The text of the button that changes nothing. */
  readonly keep?: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="says">{says}</div>
      <Problem failure={failure} />
      <footer>
        <Button onClick={onClose}>{keep ?? say('cancel')}</Button>
        <Button tone="danger" busy={busy} onClick={onConfirm}>
          {act}
        </Button>
      </footer>
    </Dialog>
  );
}

/** Text that can be copied. */
export function Copied({ text, label }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Button
      class="copy"
      aria-label={isCopied ? say('copied') : (label ?? say('copy'))}
      onClick={async ({ currentTarget }) => {
        if (!(await copyText(text, currentTarget))) return;
        setCopied(true);
        setTimeout(() => setCopied(false), 2_000);
      }}
    >
      {isCopied ? say('copied') : say('copy')}
    </Button>
  );
}

/**
 * Copies text; returns false if the browser doesn't let the page do that. Over HTTP, only localhost has a clipboard; on other
 * hosts, a field beside the button is selected and copied.
 */
async function copyText(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'away';
    beside.after(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    beside.focus();
    return isCopied;
  }
}

/** Code with a button that copies it. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="code">
      <Copied text={text} />
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </div>
  );
}

/** An instant: how long ago it was, with the exact time on hover. */
export function Ago({ at, none }: { readonly at: string | null; readonly none?: TextKey }) {
  if (at === null) return <span class="quiet">{say(none ?? 'never')}</span>;
  return (
    <time dateTime={at} title={sayMoment(at)}>
      {sayAgo(at)}
    </time>
  );
}

/** Shows a value that can be read only this once, such as a secret. */
export function ShownOnce({
  title,
  says,
  text,
  onClose,
  children,
}: {
  readonly title: string;
  readonly says: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        <strong>{says}</strong>
      </p>
      <Code text={text} label={title} />
      {children}
      <footer>
        <Button tone="primary" onClick={onClose}>
          {say('keys.made.kept')}
        </Button>
      </footer>
    </Dialog>
  );
}

/** A short state. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: 'plain' | 'good' | 'warn' | 'bad' | 'sandbox' | 'production';
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Shown instead of an empty list, and says what to do next. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers are aligned to the end of their cell. */
  readonly isNumber?: boolean;
  /**
   * On a phone, this column is left out if the row's first cell links to the rest. In a table with stacked rows, it is placed
   * below the other columns.
   */
  readonly isWide?: boolean;
}

/** What a table shows. */
export interface Rows<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** A table that scrolls by itself on narrow screens. `isStacked`: on a phone, each row is a block with all its cells. */
export function Table<Row>({
  label,
  isStacked = false,
  ...shown
}: Rows<Row> & { readonly label: string; readonly isStacked?: boolean }) {
  return (
    <TableFrame label={label} columns={shown.columns} isStacked={isStacked}>
      <tbody>{tableRows(shown)}</tbody>
    </TableFrame>
  );
}

/**
 * Returns the reference for an element that gets the focus if the focused control in it disappears: a row that was revoked,
 * for example. If the element itself disappears, the page's heading gets the focus.
 */
function useKeptFocus(): RefObject<HTMLElement | null> {
  const element = useRef<HTMLElement>(null);
  const hadFocus = element.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (hadFocus && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  });
  useLayoutEffect(
    () => () => {
      if (element.current?.contains(document.activeElement) === true)
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    },
    [],
  );
  return element;
}

/** Column widths that a table keeps, whatever its rows: in %, 0 for a hidden column. */
export type Widths = readonly number[];

/**
 * A table without its rows.
 * @param rowCount the number of rows, if not all of them are in the document
 * @param widths by default, the rows determine the widths
 */
export function TableFrame<Row>({
  label,
  columns,
  rowCount,
  isStacked = false,
  widths,
  table,
  children,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rowCount?: number;
  readonly isStacked?: boolean;
  readonly widths?: Widths | undefined;
  readonly table?: RefObject<HTMLTableElement | null>;
  readonly children: ComponentChildren;
}) {
  return (
    <section
      ref={useKeptFocus()}
      class={isStacked ? 'table stacked' : 'table'}
      aria-label={label}
      tabIndex={0}
    >
      <table
        {...asRole('table')}
        {...(table === undefined ? {} : { ref: table })}
        {...(rowCount === undefined ? {} : { 'aria-rowcount': rowCount })}
        class={widths === undefined ? '' : 'fixed'}
      >
        <thead {...asRole('rowgroup')}>
          <tr {...asRole('row')}>
            {columns.map(({ title, isNumber, isWide }, n) => (
              <th
                key={title}
                scope="col"
                {...asRole('columnheader')}
                class={cellClass(isNumber, isWide)}
                style={widths === undefined ? {} : { inlineSize: `${widths[n]}%` }}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </section>
  );
}

/**
 * Returns a table's rows.
 * @param first the first row's number, if not all rows are in the document
 */
export function tableRows<Row>({ columns, rows, keyOf }: Rows<Row>, first?: number): ComponentChildren {
  return rows.map((row, n) => (
    <tr key={keyOf(row)} {...asRole('row')} {...(first === undefined ? {} : { 'aria-rowindex': first + n })}>
      {columns.map(({ title, cell, isNumber, isWide }) => (
        <td key={title} {...asRole('cell')} data-title={title} class={cellClass(isNumber, isWide)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  ));
}

/** Restores the role of a table part, which is lost if the part is laid out as a block. */
function asRole(role: 'table' | 'rowgroup' | 'row' | 'columnheader' | 'cell') {
  return { role } as const;
}

function cellClass(isNumber = false, isWide = false): string {
  return `${isNumber ? 'number ' : ''}${isWide ? 'wide' : ''}`;
}
