/** What is used of a terminal's input. */
export interface Keyboard {
  setRawMode(isRaw: boolean): unknown;
  on(event: 'data', listener: (keys: Buffer | string) => void): unknown;
}

/** What keys do that a terminal which passes on each key does not do by itself, and `q`. */
export interface KeyActions {
  readonly quit: () => void;
  readonly interrupt: () => void;
  /** Calls back once the program goes on. */
  readonly suspend: (onContinue: () => void) => void;
}

const CTRL_C = '\u0003';
const CTRL_Z = '\u001A';

/** Acts on keys as they are pressed, for as long as the program runs. */
export function listenToKeys(keyboard: Keyboard, { quit, interrupt, suspend }: KeyActions): void {
  keyboard.setRawMode(true);
  keyboard.on('data', (keys) => {
    const pressed = keys.toString();
    if (pressed.includes(CTRL_C)) interrupt();
    else if (/^q/i.test(pressed)) quit();
    else if (pressed.includes(CTRL_Z)) {
      keyboard.setRawMode(false);
      suspend(() => keyboard.setRawMode(true));
    }
  });
}
