/** How V8 keeps the service's memory: set by the launcher, before the program is loaded. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Below so many bytes of heap V8 by itself lets it grow less than we would. */
const LARGE_HEAP = 1_500_000_000;

/** Settings of the heap for a process that answers requests without end; to be made before there is work. */
export function settleHeap() {
  // On a machine with much memory V8 lets the heap grow to four times what lives before it collects all of it: 440 MB
  // resident under transactions. To 1.8 times: 295 MB, for a twentieth of the time of a long record's summary; twice takes
  // 325 MB, 1.6 times 280 MB and a quarter of that time.
  if (getHeapStatistics().heap_size_limit > LARGE_HEAP) setFlagsFromString('--heap-growing-percent=80');
  // V8 takes the rows of answers for long-lived ones after a while, and puts them among old objects at once. From there
  // they keep their texts, though nobody holds them, until all of the heap is collected: 67 kB of a search's page, which is
  // all of it. Without that 5 kB, and an eighth of a search's time less, most of it in collecting.
  setFlagsFromString('--no-allocation-site-pretenuring');
}
