/** All tables. */
import type { SearchTable } from '#test/support/search/table.ts';
import { allergyIntolerances } from './allergy-intolerance.ts';
import { carePlans } from './care-plan.ts';
import { careTeams } from './care-team.ts';
import { codeSystems } from './code-system.ts';
import { conceptMaps } from './concept-map.ts';
import { conditions } from './condition.ts';
import { containedAlone, containedInRequests } from './contained.ts';
import { dateBorders, fineDates } from './date-borders.ts';
import { devices } from './device.ts';
import { diagnosticReports } from './diagnostic-report.ts';
import { documentReferences } from './document-reference.ts';
import { encounters } from './encounter.ts';
import { goals } from './goal.ts';
import { immunizations } from './immunization.ts';
import { locations } from './location.ts';
import { longTexts, sortedTokens } from './long-texts.ts';
import { medications } from './medication.ts';
import { medicationRequests } from './medication-request.ts';
import { medicationStatements } from './medication-statement.ts';
import { observationComposites } from './observation-composites.ts';
import { observationElements } from './observation-elements.ts';
import { observationUnits } from './observation-units.ts';
import { observationValues } from './observation-values.ts';
import { organizations } from './organization.ts';
import { patients } from './patient.ts';
import { practitioners } from './practitioner.ts';
import { practitionerRoles } from './practitioner-role.ts';
import { procedures } from './procedure.ts';
import { provenances } from './provenance.ts';
import { relatedPersons } from './related-person.ts';
import { specimens } from './specimen.ts';
import { valueSets } from './value-set.ts';

/** All tables, which are loaded into one database. */
export const TABLES: readonly SearchTable[] = [
  allergyIntolerances,
  carePlans,
  careTeams,
  codeSystems,
  conceptMaps,
  conditions,
  containedAlone,
  containedInRequests,
  dateBorders,
  devices,
  diagnosticReports,
  documentReferences,
  encounters,
  fineDates,
  goals,
  immunizations,
  locations,
  longTexts,
  medications,
  medicationRequests,
  medicationStatements,
  observationComposites,
  observationElements,
  observationUnits,
  observationValues,
  organizations,
  patients,
  practitioners,
  practitionerRoles,
  procedures,
  provenances,
  relatedPersons,
  sortedTokens,
  specimens,
  valueSets,
];
