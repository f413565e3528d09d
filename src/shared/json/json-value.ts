/** JSON values, kept separate from their parser because scripts on pages also load this module. */
import { isLosslessNumber, type LosslessNumber } from 'lossless-json';

/** A JSON value. Numbers that JavaScript would print differently (`1.50`, 20 digits) are `LosslessNumber`s. */
export type Json = null | boolean | number | string | LosslessNumber | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Returns whether a value is a number, either plain or with its literal. */
export function isNumber(value: unknown): value is number | LosslessNumber {
  return typeof value === 'number' || isLosslessNumber(value);
}

/** Returns a copy of an object without the given members. */
export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** Returns whether a value is a JSON object (not an array, null or a number). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
