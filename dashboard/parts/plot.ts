/** The parts that all charts share: theme colours, axes in UTC, and the page width. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** The theme's colours and lines. */
export interface PlotStyle {
  /** Returns the value of a CSS variable. */
  readonly colour: (variable: string) => string;
  readonly axis: uPlot.Axis;
}

/**
 * Draws a chart into an element, at the element's width.
 * @param describe returns the chart's options in the theme's colours
 */
export function drawPlot(
  element: HTMLElement,
  height: number,
  data: uPlot.AlignedData,
  describe: (style: PlotStyle) => Omit<uPlot.Options, 'width' | 'height'>,
): { readonly plot: uPlot; readonly remove: () => void } {
  const style = getComputedStyle(element);
  const colour = (variable: string): string => style.getPropertyValue(variable).trim();
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line') },
    ticks: { stroke: colour('--line') },
  };
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      ...describe({ colour, axis }),
    },
    data,
    element,
  );
  const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
  resized.observe(element);
  const remove = (): void => {
    resized.disconnect();
    plot.destroy();
  };
  return { plot, remove };
}
