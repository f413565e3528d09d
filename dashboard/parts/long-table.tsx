/** A table of any length: only the pages of rows near the visible area are in the document. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Column, TableFrame, tableRows, type Widths } from './parts.tsx';

/** The distance from the visible area within which rows are kept and further rows are requested. */
const NEAR = '600px';

/**
 * A table that loads further pages while the person scrolls.
 * @param pages each page must remain the same array while its rows are the same; the same applies to the columns
 * @param onEnd requests the next page; undefined after the last page
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
 * Returns the column widths that result from the first rows; measures them again when the window's size or the columns change.
 * Without fixed widths, the browser would compare all rows whenever a page is added or removed.
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
    // Measures after the rows have been painted with their own widths.
    const timer = setTimeout(() => {
      const { current } = table;
      if (current === null) return;
      // Rounded up: if a column were a fraction of a pixel narrower, a word would wrap.
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

/** A page of rows. Far from the visible area, one empty row of the same height replaces them. */
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
  // Keeps the same nodes, so that only pages whose rows have changed are compared.
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
      // Several entries may be reported at once: the last one is the current one.
      const last = entries.at(-1);
      if (last !== undefined) tell(last.isIntersecting);
    },
    { rootMargin: NEAR },
  );
  observer.observe(element);
  return () => observer.disconnect();
}
