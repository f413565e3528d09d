/**
 * Puts examples where generators, mock servers and Postman look for them: next to the schema of a body or parameter (OpenAPI
 * 3.1.1, Media Type Object and Parameter Object).
 */
import { isPart } from './nullable.ts';
import { addParameterExample } from './parameter-examples.ts';
import type { Part } from './schemas.ts';

/**
 * Returns the paths, with an example added to each JSON or form body for which there is one, and to each required parameter.
 */
export function addExamples(
  paths: Readonly<Record<string, Part>>,
  schemas: Part,
): Readonly<Record<string, Part>> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          isPart(operation) ? illustrate(operation, path, schemas) : operation,
        ]),
      ),
    ]),
  );
}

function illustrate(operation: Part, path: string, schemas: Part): Part {
  const { parameters, requestBody } = operation;
  return {
    ...operation,
    ...(Array.isArray(parameters)
      ? {
          parameters: parameters.map((each: Part) => addParameterExample(each, path)),
        }
      : {}),
    ...(isPart(requestBody) && isPart(requestBody.content)
      ? {
          requestBody: {
            ...requestBody,
            content: Object.fromEntries(
              Object.entries(requestBody.content).map(([type, media]) => [
                type,
                isPart(media) ? raiseExample(media, schemas) : media,
              ]),
            ),
          },
        }
      : {}),
  };
}

/** Moves the example of a schema, of its alternatives or of a form's fields to the media type. */
function raiseExample(media: Part, schemas: Part): Part {
  const { schema } = media;
  if ('example' in media || 'examples' in media || !isPart(schema)) return media;
  const { examples, ...bare } = schema;
  if (Array.isArray(examples)) return { schema: bare, example: examples[0] };
  if (Array.isArray(schema.anyOf)) {
    const named = schema.anyOf.flatMap((each: Part) => {
      const name = String(each.$ref).split('/').at(-1) ?? '';
      const component = schemas[name];
      const [value] = isPart(component) && Array.isArray(component.examples) ? component.examples : [];
      return value === undefined ? [] : [[name, { value }]];
    });
    return named.length === 0 ? media : { ...media, examples: Object.fromEntries(named) };
  }
  if (!isPart(schema.properties)) return media;
  const fields = Object.entries(schema.properties).flatMap(([name, field]) =>
    isPart(field) && 'example' in field ? [[name, field.example]] : [],
  );
  return fields.length === 0 ? media : { ...media, example: Object.fromEntries(fields) };
}
