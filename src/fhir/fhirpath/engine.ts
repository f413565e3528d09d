/** Loads fhirpath.js when first needed, because few requests use it and loading it takes a sixteenth of the startup time. */
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

/** Returns the engine; the first call loads it. */
export function loadEngine(): Engine {
  engine ??= { fhirpath: require('fhirpath'), model: require('fhirpath/fhir-context/r4') };
  return engine;
}
