/** Computes chart axes, with ticks at round numbers. Pure. */

/** The numbers on an axis, from the first label to the last. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  /** Number of decimal places needed for the ticks. */
  readonly digits: number;
}

/** Possible steps between ticks, as multiples of a power of ten. */
const STEPS = [1, 2, 5, 10];
/** Smaller spans are treated as zero, because axes can't show more digits. */
const SMALLEST = 1e-12;
/** Approximate number of steps on an axis. */
const COUNT = 4;

/**
 * Returns the axis for values between two numbers. Its ticks enclose the values, and the step between ticks is 1, 2 or 5 times
 * a power of ten.
 */
export function axisFor(least: number, most: number): Axis {
  const isSpan = most - least > SMALLEST;
  const around = Math.abs(most) * 0.2;
  const span = isSpan ? most - least : around > SMALLEST ? around : 1;
  const [from, to] = isSpan ? [least, most] : [least - span / 2, most + span / 2];
  const power = 10 ** Math.floor(Math.log10(span / COUNT));
  const step = (STEPS.find((each) => each * power >= span / COUNT) ?? 10) * power;
  const [first, last] = [Math.floor(from / step + TINY), Math.ceil(to / step - TINY)];
  const digits = Math.max(0, Math.min(20, -Math.floor(Math.log10(step) + TINY)));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toFixed(digits)),
  );
  return { low: ticks[0] ?? from, high: ticks.at(-1) ?? to, ticks, digits };
}

/** The largest fraction of a step that is attributed to binary rounding errors. */
const TINY = 1e-9;
