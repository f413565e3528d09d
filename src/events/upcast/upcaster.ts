/** The data of an event, as parsed from its JSON text. */
export type EventData = Readonly<Record<string, unknown>>;

/** Turns the data of one version of an event type into those of the next. Pure; looks at nothing but these data. */
export type Upcaster = (data: EventData) => EventData;
