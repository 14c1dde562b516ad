import { type Memory, newsIn, NOTHING } from '../../runtime/controller/telling/notifications/memory.ts';
import { StateStore } from '../../runtime/controller/telling/notifications/state.ts';
import type { NotifierFactory } from '../../runtime/controller/telling/notifier.ts';

/** Remembers what there is to tell as a notifier does, and tells nobody: to whom is read from files, which know no virtual time. */
export const remembering: NotifierFactory = (parts) => {
  let memory: Memory = NOTHING;
  let uid: string | undefined;
  const store = new StateStore(parts, () => memory);
  return {
    observe(statements) {
      if (uid === undefined) return;
      const { told } = newsIn(statements, memory.told, { uid, now: parts.clock.now() });
      if (told === memory.told) return;
      memory = { ...memory, told };
      store.note();
    },
    async lead(signal) {
      uid = undefined;
      const recalled = await store.recall(signal);
      if (!recalled || signal.aborted) return;
      ({ uid, memory } = recalled);
      await store.keep(signal);
      await store.flush();
    },
  };
};
