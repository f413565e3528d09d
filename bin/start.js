#!/usr/bin/env node
// `npm start`: the service.
import { settleHeap } from './heap.js';
import { load } from './program.js';

settleHeap();
await load('service');
