/** Types for the parts of terminology resources that the service reads. https://hl7.org/fhir/R4/terminology-module.html */

/** A concept in a code system, with its children. */
export interface Concept {
  readonly code: string;
  readonly display?: string;
  readonly definition?: string;
  readonly property?: readonly ConceptProperty[];
  readonly concept?: readonly Concept[];
}

export interface ConceptProperty {
  readonly code: string;
  readonly valueCode?: string;
  readonly valueString?: string;
  readonly valueBoolean?: boolean;
}

interface Canonical {
  readonly id?: string;
  readonly url: string;
  readonly version?: string;
  readonly name?: string;
  readonly title?: string;
  readonly status: string;
  readonly description?: string;
  readonly copyright?: string;
}

/** https://hl7.org/fhir/R4/codesystem.html */
export interface CodeSystem extends Canonical {
  readonly resourceType: 'CodeSystem';
  readonly caseSensitive?: boolean;
  readonly valueSet?: string;
  readonly hierarchyMeaning?: string;
  readonly content: 'not-present' | 'example' | 'fragment' | 'complete' | 'supplement';
  readonly count?: number;
  readonly concept?: readonly Concept[];
}

/** A condition on concepts: https://hl7.org/fhir/R4/valueset.html#filters */
export interface Filter {
  readonly property: string;
  readonly op: string;
  readonly value: string;
}

/** One include or exclude in a value set. */
export interface Part {
  readonly system?: string;
  readonly version?: string;
  readonly concept?: readonly { readonly code: string; readonly display?: string }[];
  readonly filter?: readonly Filter[];
  readonly valueSet?: readonly string[];
}

/** https://hl7.org/fhir/R4/valueset.html */
export interface ValueSet extends Canonical {
  readonly resourceType: 'ValueSet';
  readonly compose?: {
    readonly inactive?: boolean;
    readonly include: readonly Part[];
    readonly exclude?: readonly Part[];
  };
  readonly expansion?: { readonly contains?: readonly Contained[] };
}

/** A code in an expansion that was sent instead of a definition. */
export interface Contained {
  readonly system?: string;
  readonly version?: string;
  readonly code?: string;
  readonly display?: string;
  readonly contains?: readonly Contained[];
}

/** https://hl7.org/fhir/R4/conceptmap.html */
export interface ConceptMap extends Canonical {
  readonly resourceType: 'ConceptMap';
  readonly sourceUri?: string;
  readonly sourceCanonical?: string;
  readonly targetUri?: string;
  readonly targetCanonical?: string;
  readonly group?: readonly MapGroup[];
}

/** One pair of code systems in a map. */
export interface MapGroup {
  readonly source?: string;
  readonly target?: string;
  readonly element: readonly {
    readonly code?: string;
    readonly display?: string;
    readonly target?: readonly {
      readonly code?: string;
      readonly display?: string;
      readonly equivalence: string;
      readonly comment?: string;
    }[];
  }[];
  readonly unmapped?: {
    readonly mode: 'provided' | 'fixed' | 'other-map';
    readonly code?: string;
    readonly display?: string;
  };
}
