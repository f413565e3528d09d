/** A table of any length: only the pages of rows near the screen are in the document. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Column, TableFrame, tableRows, type Widths } from './parts.tsx';

/** How far from the screen rows are kept, and further ones are asked for. */
const NEAR = '600px';

/**
 * A table that loads further pages during scrolling.
 * @param pages each of them stays the same array while its rows are the same, and so do the columns
 * @param onEnd asks for the next page; undefined after the last
 */
export function LongTable<Row>({
  label,
  pages,
  onEnd,
  ...shown
}: {
  readonly label: string;
  readonly pages: readonly (readonly Row[])[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly onEnd: (() => void) | undefined;
}) {
  const end = useRef<HTMLDivElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const widths = useWidths(table, pages.length > 0, shown.columns);
  const ask = useRef(onEnd);
  ask.current = onEnd;
  useEffect(() => whenNear(end.current, (isNear) => isNear && ask.current?.()), [pages.length]);
  const count = pages.reduce((sum, rows) => sum + rows.length, 0);
  // The header is the first row.
  let first = 2;
  return (
    <>
      <TableFrame
        label={label}
        columns={shown.columns}
        rowCount={onEnd === undefined ? count + 1 : -1}
        widths={widths}
        table={table}
      >
        {pages.map((rows, n) => {
          const at = first;
          first += rows.length;
          return <Page key={n} {...shown} rows={rows} first={at} />;
        })}
      </TableFrame>
      <div ref={end} />
    </>
  );
}

/**
 * Returns the widths that the first rows give the columns, again after the window has another size or the columns show
 * something else. Without fixed ones the browser compares all rows whenever a page comes or goes.
 */
function useWidths(
  table: { readonly current: HTMLTableElement | null },
  hasRows: boolean,
  shown: readonly unknown[],
): Widths | undefined {
  const [widths, set] = useState<Widths>();
  const [sizes, setSizes] = useState(0);
  useEffect(() => {
    if (!hasRows) return;
    set(undefined);
    // Once the rows are painted by themselves.
    const timer = setTimeout(() => {
      const { current } = table;
      if (current === null) return;
      // A part of a pixel less would wrap a word.
      const read = (each: Element): number => each.getBoundingClientRect().width;
      const whole = read(current);
      set([...current.querySelectorAll('th')].map((each) => (100 * read(each)) / whole));
    });
    return () => clearTimeout(timer);
  }, [hasRows, shown, sizes]);
  useEffect(() => {
    const count = (): void => setSizes((before) => before + 1);
    addEventListener('resize', count);
    return () => removeEventListener('resize', count);
  }, []);
  return widths;
}

/** A page of rows. Far from the screen, one empty row of the same height replaces them. */
function Page<Row>({
  first,
  ...shown
}: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly first: number;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [gap, setGap] = useState<number>();
  // The same nodes: only pages with other rows are compared.
  const cells = useMemo(() => tableRows(shown, first), [shown.rows, shown.columns, first]);
  useEffect(
    () => whenNear(body.current, (isNear) => setGap(isNear ? undefined : body.current?.offsetHeight)),
    [],
  );
  return (
    <tbody ref={body}>
      {gap === undefined ? (
        cells
      ) : (
        <tr>
          <td colSpan={shown.columns.length} style={{ blockSize: `${gap}px`, padding: 0 }} />
        </tr>
      )}
    </tbody>
  );
}

function whenNear(element: Element | null, tell: (isNear: boolean) => void): (() => void) | undefined {
  if (element === null) return undefined;
  const observer = new IntersectionObserver(
    (entries) => {
      // Several frames may be told at once: the last one counts.
      const last = entries.at(-1);
      if (last !== undefined) tell(last.isIntersecting);
    },
    { rootMargin: NEAR },
  );
  observer.observe(element);
  return () => observer.disconnect();
}
