/** Resource events of an earlier version: the header is upcast, while the resource stays as it was written. */
import { expect } from 'chai';
import { z } from 'zod';
import { CATALOG } from '#src/events/catalog.ts';
import { decode, HEADERS } from '#src/events/codec.ts';
import { UPCASTERS } from '#src/events/upcast/upcast.ts';

const ID = '01999999-0000-7000-8000-000000000001';
/** Spaces, a decimal, and text that looks like a header. Parsing and printing the resource would change them. */
const BODY = '{ "resourceType":"Patient","x":1.50,"y":",\\"resource\\":{}" ,"resource":{}}';
const V1 = `{"resource_type":"Patient","resource_id":"${ID}","version":1`;
const TYPES = ['ResourceCreated', 'ResourceUpdated', 'ResourceDeleted'] as const;
type Type = (typeof TYPES)[number];

const dataOf = (type: Type, header: string): string =>
  type === 'ResourceDeleted' ? `${header}}` : `${header},"resource":${BODY}}`;
const eventOf = (type: Type) => ({
  type,
  resourceType: 'Patient',
  resourceId: ID,
  version: 1,
  ...(type === 'ResourceDeleted' ? {} : { body: BODY }),
});

/** Runs the given work while a type has a simulated version 2, whose header also has a `reason`. */
function withVersion2(type: Type, steps: object, work: () => void): void {
  const { version, data } = CATALOG[type];
  const forms = HEADERS[type];
  const [first] = forms;
  const second =
    /^\{"resource_type":"(\w+)","resource_id":"([0-9a-f-]{36})","version":(\d+),"reason":"\w+"(?:,"resource":|\}$)/;
  Object.assign(CATALOG[type], { version: 2, data: data.extend({ reason: z.string() }) });
  Object.assign(HEADERS, { [type]: [first, second] });
  Object.assign(UPCASTERS, steps);
  try {
    work();
  } finally {
    Object.assign(CATALOG[type], { version, data });
    Object.assign(HEADERS, { [type]: forms });
    Reflect.deleteProperty(UPCASTERS, type);
  }
}

describe('headers of resource events', () => {
  for (const type of TYPES) {
    it(`are read as version 1 and as a later one: ${type}`, () => {
      const seen: unknown[] = [];
      const step = (header: object) => {
        seen.push(header);
        return { ...header, reason: 'unknown' };
      };
      withVersion2(type, { [type]: [step] }, () => {
        expect(decode(type, 1, dataOf(type, V1))).to.deep.equal(eventOf(type));
        expect(seen).to.deep.equal([{ resource_type: 'Patient', resource_id: ID, version: 1 }]);
        expect(decode(type, 2, dataOf(type, `${V1},"reason":"import"`))).to.deep.equal(eventOf(type));
        expect(seen).to.have.length(1);
      });
      expect(decode(type, 1, dataOf(type, V1))).to.deep.equal(eventOf(type));
    });

    it(`are refused without the upcast member, and in the form of another version: ${type}`, () => {
      const lacking = (header: object) => header;
      withVersion2(type, { [type]: [lacking] }, () => {
        expect(() => decode(type, 1, dataOf(type, V1))).to.throw(z.ZodError, 'reason');
        expect(() => decode(type, 2, dataOf(type, V1))).to.throw(TypeError, `${type} version 2`);
        expect(() => decode(type, 1, dataOf(type, `${V1},"reason":"import"`))).to.throw(
          TypeError,
          `${type} version 1`,
        );
        for (const version of [0, 3, 1.5])
          expect(() => decode(type, version, dataOf(type, V1))).to.throw(TypeError, `version ${version}`);
      });
    });
  }
});
