/**
 * SNOMED CT's semantic tags: the words in parentheses at the end of a fully specified name, which say to which hierarchy the
 * concept belongs (SNOMED CT Editorial Guide, "Semantic tag"). Includes tags that exist only in earlier releases.
 */
export const SNOMED_TAGS: ReadonlySet<string> = new Set([
  ...['disorder', 'finding', 'situation', 'context-dependent category', 'event'],
  ...['procedure', 'regime/therapy', 'observable entity', 'function'],
  ...['body structure', 'cell', 'cell structure', 'morphologic abnormality'],
  ...['substance', 'product', 'product name', 'medicinal product', 'medicinal product form', 'clinical drug'],
  ...[
    'real clinical drug',
    'packaged clinical drug',
    'real medicinal product',
    'dose form',
    'basic dose form',
  ],
  ...['administration method', 'disposition', 'intended site', 'release characteristic', 'transformation'],
  ...['state of matter', 'unit of presentation', 'supplier', 'role', 'number'],
  ...['organism', 'specimen', 'physical object', 'physical force', 'environment', 'environment / location'],
  ...['geographic location', 'person', 'ethnic group', 'racial group', 'religion/philosophy', 'life style'],
  ...['occupation', 'social concept', 'family', 'record artifact', 'administrative concept'],
  ...['assessment scale', 'staging scale', 'tumor staging', 'qualifier value', 'attribute'],
  ...['navigational concept', 'inactive concept', 'special concept', 'namespace concept', 'link assertion'],
  ...['linkage concept', 'metadata', 'core metadata concept', 'foundation metadata concept'],
  ...['OWL metadata concept', 'SNOMED RT+CTV3'],
]);
