import { rowsOf } from './rows.ts';

/** Rules L: who may be updating. */
export const slotMutants = [
  ...rowsOf(
    'executor.ts',
    ['fencing', 'leaders'],
    [
      [
        'L1',
        'takes no slot before a start',
        "const swapped = await this.#swap('take', starts, run);",
        "const swapped: Swapped = 'done';",
      ],
      ['L1', 'writes the spec though the slot was refused', "if (swapped !== 'done') return ['moved'];", ''],
      [
        'L1',
        'writes the spec before it takes the slot',
        "const swapped = await this.#swap('take', starts, run);",
        "await this.#each(starts, run, (start) => this.#write(start, run.signal));\n    const swapped = await this.#swap('take', starts, run);",
      ],
      [
        'L1',
        'reads the shadow again after the swap',
        'return this.#each(starts, run, (start) => this.#write(start, run.signal));',
        'return this.#each(starts, run, async (start) => { const read = await this.#ports.shadows.get(start.shadow, run.signal); return this.#write({ ...start, resourceVersion: read!.metadata.resourceVersion }, run.signal); });',
      ],
      [
        'L2',
        'sends a refused spec again on what it reads then',
        'if (!isDefinite(error)) this.#ports.ledger.doubt(command.shadow);',
        'if (error instanceof ConflictError) { const read = await this.#ports.shadows.get(command.shadow, signal); await writeSpec(this.#ports, { ...command, resourceVersion: read!.metadata.resourceVersion }, signal); return `done`; }',
      ],
      [
        'L4',
        'takes a write of unknown outcome as failed',
        'if (!isDefinite(error)) this.#ports.ledger.doubt(command.shadow);',
        '',
      ],
      [
        'M8',
        'deletes a shadow whatever it has become',
        'await ports.shadows.delete(shadow, { uid, resourceVersion }, signal);',
        'await ports.shadows.delete(shadow, { uid }, signal);',
      ],
    ],
  ),
  ...rowsOf(
    'executor.ts',
    ['refused-writes'],
    [
      ['L4', 'doubts what was refused', 'if (!isDefinite(error)) this.#ports', 'this.#ports'],
      [
        'L4',
        'takes the slot of a write that may still land for one that nobody needs',
        "if (result === 'late') this.#ports.ledger.doubt(target);",
        '',
      ],
      [
        'L9',
        'asks for more while something for the node is under way',
        "if (this.#latecomers.blocks(target)) return 'late';",
        '',
      ],
      ['L9', 'asks again at once for what was not taken', 'this.#refusals.add(command, error);', ''],
    ],
  ),
  ...rowsOf(
    'plan/gates.ts',
    ['plan/withheld', 'refused-writes'],
    [['L9', 'keeps the place of a start that is not taken', "withheld.refused('start', node.shadowName)", 'undefined']],
  ),
  ...rowsOf(
    'refusals.ts',
    ['refusals'],
    [
      [
        'L9',
        'lets a fleet that is refused ask all at once',
        'Math.max(restedAt, now + alike.size * SPACING_MS)',
        'restedAt',
      ],
    ],
  ),
  ...rowsOf(
    'executor.ts',
    ['stale-caches'],
    [
      [
        'L3',
        'gives back the slots of nodes that refused it',
        "frees.filter((_, index) => may[index] === 'done')",
        'frees',
      ],
    ],
  ),
  ...rowsOf(
    'actions/ports.ts',
    ['leaders'],
    [
      [
        'L1',
        'writes the spec on whatever version there is',
        'metadata: { resourceVersion, ...annotations }, spec }',
        'metadata: { ...annotations }, spec }',
      ],
    ],
  ),
  ...rowsOf(
    'actions/ports.ts',
    ['leaders', 'fencing', 'plan/recovery'],
    [
      [
        'L6',
        'does not remember what it has written',
        'expectations.written(shadow, written.metadata.resourceVersion);',
        '',
      ],
    ],
  ),
  ...rowsOf(
    'slots/entries.ts',
    ['slots/entries'],
    [
      ['L1', 'changes nothing where the slot is already listed', 'starts: (before?.starts ?? 0) + 1', 'starts: 1'],
      ['L1', 'forgets when the update of a slot began', 'since: before ? before.since : now', 'since: now'],
      [
        'L3',
        'gives back the slot of another node of the name',
        'a.shadow === b.shadow && a.nodeUid === b.nodeUid',
        'a.shadow === b.shadow',
      ],
    ],
  ),
  ...rowsOf(
    'slots/ledger.ts',
    ['slots/ledger', 'stale-caches', 'fencing', 'leaders'],
    [
      [
        'L1',
        'swaps slots that the plan was not made on',
        'if (formatEntries(found) !== formatEntries(this.#entries)) {',
        'if (formatEntries(found) === undefined) {',
      ],
      [
        'L1',
        'overwrites whatever the Lease has become',
        'metadata: { ...lease.metadata, annotations } }',
        "metadata: { ...lease.metadata, resourceVersion: '', annotations } }",
      ],
      [
        'L1',
        'takes slots without holding the Lease',
        'if (lease?.spec?.holderIdentity !== this.#options.identity)',
        'if (!lease)',
      ],
      [
        'L1',
        'takes a list that it cannot read for an empty one',
        'if (entries) return entries;',
        'return entries ?? [];',
      ],
      ['L4', 'takes slots that it finds for settled', "?? 'unknown'", "?? 'settled'"],
      ['L4', 'remembers in a new term what it knew of slots', 'this.#entries = [];\n    this.#writes = new Map();', ''],
      [
        'L4',
        'remembers what it knew of a slot that somebody else took',
        'if (!known.has(JSON.stringify(entry))) this.#writes.delete(entry.nodeUid);',
        '',
      ],
      ['L4', 'doubts no slot', "if (entry.shadow === shadow) this.#writes.set(entry.nodeUid, 'unknown');", ''],
    ],
  ),
  ...rowsOf(
    'controller.ts',
    ['leaders'],
    [['L4', 'begins a term with what it knew in the last', 'this.#ledger.reset();', '']],
  ),
  ...rowsOf(
    'actions/slots.ts',
    ['fencing', 'leaders', 'stale-caches'],
    [
      [
        'L4',
        'bumps with a value that changes nothing',
        '[BUMPED_ANNOTATION]: another(annotations?.[BUMPED_ANNOTATION])',
        "[BUMPED_ANNOTATION]: '1'",
      ],
      [
        'L4',
        'does not count a shadow that is gone as bumped',
        "ledger.note(nodeUid, 'gone');\n    return 'done';",
        "return 'done';",
      ],
      [
        'L3(1b)',
        'gives back the slot of a node that only the cache does not show',
        "slot.because === 'node-gone' || ",
        '',
      ],
      [
        'L3(1c)',
        'gives back the slot of a shadow that only the cache does not show',
        'if (await ownShadow(ports, slot, signal)) return false;',
        '',
      ],
      [
        'L3(1c)',
        'gives back the slot while the agent runs',
        "return !(await agentRuns(ports, nodeNameOf(slot.shadow) ?? '', signal));",
        'return true;',
      ],
      [
        'L3(2)',
        'gives back the slot of a node that bears marks',
        ' || readMarks(node)) return false;',
        ') return false;',
      ],
      ['L3(2)', 'does not tell the node', 'await ports.nodes.patch(name, releasedPatch(node), signal);', ''],
      [
        'L3(2)',
        'tells the node whatever it has become',
        'metadata: { resourceVersion, annotations: { [RELEASED_ANNOTATION]',
        'metadata: { annotations: { [RELEASED_ANNOTATION]',
      ],
      [
        'L3(2)',
        'tells the node with a value that changes nothing',
        '[RELEASED_ANNOTATION]: another(annotations?.[RELEASED_ANNOTATION])',
        "[RELEASED_ANNOTATION]: '1'",
      ],
    ],
  ),
  ...rowsOf(
    'actions/live.ts',
    ['stale-caches', 'views'],
    [['B4', 'takes the shadow of a former node for this one’s', 'belongsTo(found, nodeUid) ?', 'found ?']],
  ),
  ...rowsOf(
    'identity.ts',
    ['identity'],
    [
      ['L5', 'keeps its identity over a restart', '_${randomUUID()}', ''],
      [
        'L5',
        'takes a holder in another pod for dead',
        'holder.startsWith(`${MY_POD_NAME}_`)',
        'holder.startsWith(MY_POD_NAME)',
      ],
    ],
  ),
  {
    rule: 'L5',
    without: 'a takeover drops what else stands on the Lease',
    file: 'runtime/kube/lease.ts',
    find: '? await leases.update({ ...lease, spec }, signal)',
    replace: '? await leases.update({ metadata: { ...lease.metadata, annotations: {} }, spec }, signal)',
    tests: ['test/kube/lease.test.ts'],
  },
];
