/** An event's data, as parsed from its JSON text. */
export type EventData = Readonly<Record<string, unknown>>;

/** Converts the data of an event type from one version to the next. Pure: the result depends only on the data. */
export type Upcaster = (data: EventData) => EventData;
