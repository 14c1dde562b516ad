import { text } from 'node:stream/consumers';
import type { Request } from '../repositories/protocol.ts';
import { readRepository } from '../repositories/read.ts';

/** Reads one repository, as the controller asks on standard input, and ends: what a library keeps in memory is nobody's then. */
const request = JSON.parse(await text(process.stdin)) as Request;
process.stdout.write(JSON.stringify(await readRepository(request, { env: process.env })));
