/** Converts the specimen's description (SPM; OBR-15 before version 2.5) to Specimens: https://hl7.org/fhir/R4/specimen.html */

import type { JsonObject } from '#src/shared/json/json.ts';
import { present } from '../v1/elements.ts';
import { conceptIn } from './codes.ts';
import type { Segment } from './hl7v2/message.ts';
import { type Draft, joinKey, makeIdentifier } from './labs.ts';
import { listed, timeIn } from './observation.ts';
import type { Order } from './orders.ts';
import type { Reading } from './reading.ts';
import { isAfter } from './times.ts';

/**
 * Returns the specimens of an order.
 * @param order the order's key
 */
export function makeSpecimens({ obr, specimens }: Order, order: string, reading: Reading): Draft[] {
  if (specimens.length > 0) return specimens.map((spm, at) => ofSpm(spm, `${order}/${at + 1}`, reading));
  return obr === undefined || obr.part(15) + obr.part(15, 1, 2) === '' ? [] : [ofObr(obr, order, reading)];
}

function ofSpm(spm: Segment, nth: string, reading: Reading): Draft {
  const { sender } = reading;
  const number = spm.part(2, 2) || spm.part(2);
  const key = number === '' ? nth : joinKey('specimen', sender, number);
  const [from, to] = [1, 2].map((part) => timeIn(spm, 17, reading, spm.part(17, part)));
  return draft(spm, key, number, reading, {
    ...present({ type: conceptIn(spm.first(4), sender), receivedTime: timeIn(spm, 18, reading) }),
    ...collected(from, to, conceptIn(spm.first(8), sender)),
    ...listed(
      'condition',
      [...spm.all(24), ...spm.all(21)]
        .map((one) => conceptIn(one, sender))
        .filter((one) => one !== undefined),
    ),
  });
}

/** Returns the specimen in OBR-15, `source&text&system^additive^text^site&text&system^…`: each component is a separate code. */
function ofObr(obr: Segment, order: string, reading: Reading): Draft {
  const concept = (component: number): JsonObject | undefined => {
    const code = obr.part(15, component);
    const text = obr.part(15, component, 2) || code;
    return text === '' ? undefined : { text };
  };
  return draft(obr, `${order}/specimen`, '', reading, {
    ...present({ type: concept(1), receivedTime: timeIn(obr, 14, reading) }),
    ...collected(timeIn(obr, 7, reading), undefined, concept(4)),
  });
}

function collected(
  from: string | undefined,
  to: string | undefined,
  site: JsonObject | undefined,
): JsonObject {
  const when =
    from !== undefined && to !== undefined && isAfter(to, from)
      ? { collectedPeriod: { start: from, end: to } }
      : present({ collectedDateTime: from ?? to });
  const collection = { ...when, ...present({ bodySite: site }) };
  return Object.keys(collection).length === 0 ? {} : { collection };
}

function draft(at: Segment, key: string, number: string, { subject }: Reading, members: JsonObject): Draft {
  return {
    type: 'Specimen',
    key,
    place: at.place,
    resource: {
      resourceType: 'Specimen',
      identifier: [makeIdentifier(key), ...(number === '' ? [] : [{ value: number }])],
      subject: { reference: subject },
      ...members,
    },
  };
}
