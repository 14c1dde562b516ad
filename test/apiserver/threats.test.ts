import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

type Held = readonly [file: string, test: string];

/** The tests that hold each threat of docs/security.md to its answer. */
const HELD: Readonly<Record<string, readonly Held[]>> = {
  "an agent's token, stolen, for another node or an earlier one of that name": [
    ['auth/authenticator.test.ts', 'a stolen token, used for another node'],
    ['auth/authenticator.test.ts', 'a good token with the UID of another node of that name, also when it is known'],
  ],
  'a token of another namespace, another service account, no pod, a pod that is no agent, or for another audience': [
    ['auth/authenticator.test.ts', 'a pod of the same name and account in another namespace'],
    ['auth/authenticator.test.ts', 'another service account of our namespace, with a pod that calls itself an agent'],
    ['auth/authenticator.test.ts', 'a pod of the agents’ account that is no agent'],
    ['auth/authenticator.test.ts', 'a token that is bound to no pod'],
    ['auth/authenticator.test.ts', 'a token for another audience'],
  ],
  'an expired token; the token of a deleted pod': [
    ['auth/authenticator.test.ts', 'an expired token'],
    ['auth/authenticator.test.ts', 'the token of a deleted pod, within ten seconds'],
  ],
  'the token of an ended pod': [['auth/authenticator.test.ts', 'a pod that has ended']],
  'a token from before the node was replaced': [
    ['auth/authenticator.test.ts', 'is known on a Node that was made anew under its name, while its pod is there'],
    ['rules.test.ts', 'is not created for a node that is gone, though its token is still good'],
  ],
  'tokens cannot be reviewed': [['security.test.ts', 'with %s nobody is let in, also who was known ten seconds ago']],
  "a flood of made-up tokens, also from an agent's own address, or from many": [
    [
      'auth/authenticator.test.ts',
      'costs no more reviews at a time than one address may have, and 503 beyond those that may wait',
    ],
    ['auth/authenticator.test.ts', 'keeps no agent of another address waiting, and none that was known before'],
    ['auth/authenticator.test.ts', 'from many addresses costs at most half of the connections for requests'],
  ],
  "a flood of tokens that could be no agent's": [
    ['auth/authenticator.test.ts', 'costs nothing where its tokens could never be an agent’s'],
  ],
  'headers that impersonate, or come twice; a path as node name': [
    ['security.test.ts', 'names a node as a path, or itself in headers that others believe, is not believed'],
    ['http.test.ts', 'is JSON with a reason, for every route and caller'],
  ],
  'headers above 16 KiB; TLS below 1.2; plain HTTP': [
    ['http.test.ts', 'comes from the connection for headers that are too large, and for TLS below 1.2'],
    ['security.test.ts', 'speaks no TLS gets nothing'],
  ],
  'a handshake that never ends; slow headers; a slow body': [
    ['security.test.ts', 'never finishes its handshake is cut off'],
    ['security.test.ts', 'sends its headers slowly is cut off'],
    ['security.test.ts', 'sends its body slowly is cut off'],
  ],
  'two lengths for one body (request smuggling); requests sent ahead of their answers': [
    ['security.test.ts', 'states the length of its body in two ways is refused'],
    ['security.test.ts', 'sends requests without waiting for answers is cut off at once, and has one begun at most'],
  ],
  'any number of connections': [
    [
      'security.test.ts',
      'comes when there are as many as memory allows has room at the cost of the address with the most',
    ],
    [
      '../lib/http.test.ts',
      'a probe is answered however many connections others hold, and as few as are needed are kept',
    ],
  ],
  'a huge body': [
    [
      'security.test.ts',
      'sends a huge body is answered 413, and 401 before anything of it is read where nobody knows it',
    ],
  ],
  'an agent that asks for much at once': [
    ['http.test.ts', 'a node has a few requests under way, and a place again for each caller who has gone'],
  ],
  'a caller who leaves before authentication ends': [
    ['http.test.ts', 'a request that is aborted before its token is reviewed does nothing: no node is cordoned'],
  ],
  'many large bodies or answers at once, sent or read slowly, on any route': [
    ['stalled-conversions.test.ts', 'are answered at once, however many others stall while they are sent or read'],
    ['stalled-conversions.test.ts', 'of one address are ended for those of others, and not the other way round'],
    [
      'turns.test.ts',
      'an answer counts until it is read: the next request of the connection waits for that, and another one ends it',
    ],
  ],
  'many conversions that take long': [
    ['stalled-conversions.test.ts', 'take turns by address: one of another does not wait for all that came before it'],
  ],
  'JSON of more values, or nested deeper, than memory and stack hold': [
    [
      'conversion.test.ts',
      'are not parsed where they hold more values than memory does, also in what v1 keeps of v2: %s',
    ],
    ['conversion.test.ts', 'are not parsed where they are nested deeper than an answer can be'],
    ['http.test.ts', 'is 400 with the reason for a body that is nested deeper than it can be read'],
  ],
  'a conversion of anything at all': [['conversion.test.ts', 'whatever comes in, a review goes out']],
  'a write of v1 with made-up fields of v2': [
    ['older-clients.test.ts', 'a client that makes up the annotation gets a shadow that says what v1 says'],
  ],
  'an unexpected error': [['http.test.ts', 'for an error that nobody expected says nothing of the inside']],
  'tokens in logs': [['security.test.ts', 'no token, and nothing of a body, is in any log line, whatever is refused']],
  'a log that strangers fill': [
    ['security.test.ts', 'a flood of refusals, and a request as long as it may be, leave the log short'],
  ],
  'paths that multiply the metrics': [['http.test.ts', 'ping answers, and metrics count by route template']],
  'a late status of an agent that has slept': [
    ['late-status.test.ts', '%s brings back neither a record of a reboot nor an old count of failures'],
  ],
  'an agent that drains out of turn': [['rules.test.ts', 'while spec is %s']],
  "an agent's token without a certificate": [
    ['mtls.test.ts', 'a good token without a certificate, or with one of another CA, is refused'],
  ],
};

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** What keeps a test from running, or others beside it. */
const NOT_RUN = /\b(test|it|describe)(\.\w+)*\.(skip|todo|only|failing)\b|^\s*[xf](test|it|describe)[(.]/m;

/** Why a test holds nothing. */
function fault([file, name]: Held): string | undefined {
  const text = read(file);
  const skipped = NOT_RUN.exec(text);
  if (skipped) return `${file} does not run all of its tests: ${skipped[0]}`;
  // A test, or a table of them, is declared under the name, which a mere mention of it is not.
  const declared = new RegExp(
    String.raw`(\btest|\](?: as const)?\))\(\s*'${name.replaceAll(/[^\w\s]/g, String.raw`\$&`)}',`,
  );
  return declared.test(text) ? undefined : `${file} declares no test of this name: ${name}`;
}

test('every threat in docs/security.md is held by tests, and no other is', () => {
  const [, section = ''] = /^## Threats\n(.*?)^## /ms.exec(read('../../docs/security.md')) ?? [];
  const threats = Array.from(section.matchAll(/^\| (.+?) \| .+ \|$/gm), ([, threat]) => threat).slice(2);
  expect(threats).toEqual(Object.keys(HELD));
});

test('every test that holds a threat is declared and runs', () => {
  expect(
    Object.values(HELD)
      .flat()
      .flatMap((held) => fault(held) ?? []),
  ).toEqual([]);
});

test('a threat is not held by a name that is only mentioned', () => {
  expect(fault(['threats.test.ts', 'a name'])).toContain('declares no test');
});
