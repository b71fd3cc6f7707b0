#!/usr/bin/env node
import {startSmall} from './idle-memory.ts';

// Before anything else is loaded: what a start leaves behind is mostly garbage.
startSmall();
const {main} = await import('./main.ts');
await main(process.argv.slice(2));
