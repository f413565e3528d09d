/** fhirpath.js, loaded when first needed: few requests do, and loading it takes a sixteenth of a start. */
import { createRequire } from 'node:module';
import type Fhirpath from 'fhirpath';
import type { Model } from 'fhirpath';

const require = createRequire(import.meta.url);

/** The engine, and its model of R4. */
export interface Engine {
  readonly fhirpath: typeof Fhirpath;
  readonly model: Model;
}

let engine: Engine | undefined;

/** Loads it, once. */
export function loadEngine(): Engine {
  engine ??= { fhirpath: require('fhirpath'), model: require('fhirpath/fhir-context/r4') };
  return engine;
}
