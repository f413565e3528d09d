import { concept, type SearchTable, to } from '#test/support/search/table.ts';

const at = (effectiveDateTime: string) => ({
  status: 'final',
  subject: to('Patient/@p'),
  code: concept('urn:own', 'border'),
  effectiveDateTime,
});

/** Days begin at midnight UTC unless an offset is given, and a time means the same in every time zone. */
export const dateBorders: SearchTable = {
  topic: 'dates at the borders of days, months and zones',
  type: 'Observation',
  resources: {
    P: at('2024-03-01T00:30:00+02:00'),
    Q: at('2024-02-29T23:59:59.999Z'),
    R: at('2024-03-01T00:00:00Z'),
    S: at('2024-02-29T20:00:00-05:00'),
    T: at('2024-02'),
    U: at('2024-02-29'),
    V: at('2024-12-31T23:30:00-01:00'),
    W: at('2024-12-31T23:30:00+01:00'),
  },
  cases: [
    ['date=2024-02-29', 'PQU'],
    ['date=2024-03-01', 'RS'],
    ['date=2024-02', 'PQTU'],
    ['date=2024', 'PQRSTUW'],
    ['date=2025', 'V'],
    ['date=2025-01-01', 'V'],
    ['date=2024-12-31', 'W'],
    ['date=2024-02-29T22:30:00Z', 'P'],
    ['date=2024-02-29T17:30:00-05:00', 'P'],
    ['date=2024-02-29T22:30Z', 'P'],
    ['date=2024-03-01T01:00:00Z', 'S'],
    ['date=2024-03-01T00:00:00Z', 'R'],
    ['date=2024-02-29T23:59:59Z', 'Q'],
    ['date=2024-02-29T23:59:59.999Z', 'Q'],
    ['date=ge2024-03-01T00:00:00Z&date=lt2024-03-02', 'RS'],
    ['date=gt2024-02-29&date=lt2024-06', 'RS'],
    ['date=lt2024-02-29T23:59:59.999Z', 'PTU'],
    ['date=sa2024-02', 'RSVW'],
    ['date=eb2024-03', 'PQTU'],
    ['date=eb2024-02-29', ''],
    ['date=ne2024-02&date=lt2024-04', 'RS'],
    ['date=ge2024-12-31T22:30:00Z', 'VW'],
    ['date=gt2024-12-31T22:30:00Z', 'V'],
    ['date=ge2024-02-29T22:30:00Z&date=le2024-02-29T22:30:00Z', 'PTU'],
  ],
};

/**
 * Dates are stored to the microsecond. A more precise date lies somewhere within its microsecond, so any other date in the
 * same microsecond is treated as both before and after it.
 */
export const fineDates: SearchTable = {
  topic: 'dates finer than a microsecond',
  type: 'Observation',
  resources: {
    X: at('2031-01-01T00:00:00.123456Z'),
    Y: at('2031-01-01T00:00:00.1234567Z'),
    Z: at('2031-01-01T00:00:00.123457Z'),
    w: at('2031-01-01T00:00:00.123455999999999999Z'),
  },
  cases: [
    ['date=2031-01-01T00:00:00.1234567Z', 'XY'],
    ['date=lt2031-01-01T00:00:00.1234567Z&date=ge2031', 'XYw'],
    ['date=le2031-01-01T00:00:00.1234567Z&date=ge2031', 'XYw'],
    ['date=gt2031-01-01T00:00:00.1234567Z', 'XYZ'],
    ['date=ge2031-01-01T00:00:00.1234567Z', 'XYZ'],
    ['date=sa2031-01-01T00:00:00.1234567Z', 'Z'],
    ['date=eb2031-01-01T00:00:00.1234567Z&date=ge2031', 'w'],
    ['date=lt2031-01-01T00:00:00.1234560Z&date=ge2031', 'w'],
  ],
};
