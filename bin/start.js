#!/usr/bin/env node
// `npm start`: the service.
import { load } from './program.js';

await load('service');
