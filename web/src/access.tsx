/** The dialog in which a token is entered, also in the middle of something else. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { keepToken, Problem, send, token, type Sending } from "./api";

const ID = "access";
let waiting: ((given: boolean) => void)[] = [];

export function openAccess(): void {
  const dialog = document.getElementById(ID);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

/** Ask for a token; what is on the page stays as it is. Answers whether one was given. */
function asked(): Promise<boolean> {
  openAccess();
  return new Promise((resolve) => waiting.push(resolve));
}

/**
 * Send something, and where a token is wanted ask for it and send the same again.
 * @throws Problem when the server says no, or says nothing.
 */
export async function sendAs<T>(path: string, sending: Sending): Promise<T> {
  for (;;) {
    try {
      return await send<T>(path, sending);
    } catch (error) {
      if (!(error instanceof Problem) || !error.wantsToken || !(await asked())) throw error;
    }
  }
}

export interface Doing {
  problem: Problem | null;
  /** What is under way, by the name it was given; "" for nothing. */
  busy: string;
  /** Do something and keep what went wrong; answers whether it worked. */
  act: (name: string, work: () => Promise<void>) => Promise<boolean>;
  clear: () => void;
}

/** What a form or a row of buttons is doing. */
export function useDoing(): Doing {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState("");
  const act = async (name: string, work: () => Promise<void>): Promise<boolean> => {
    setBusy(name);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, String(error)));
      return false;
    } finally {
      setBusy("");
    }
  };
  return { problem, busy, act, clear: () => setProblem(null) };
}

export function Access(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [value, setValue] = useState(token);
  const given = useRef(false);
  const save = (event: Event): void => {
    event.preventDefault();
    given.current = value.trim() !== "";
    keepToken(value.trim());
    dialog.current?.close();
  };
  const closed = (): void => {
    const waiters = waiting;
    waiting = [];
    for (const resolve of waiters) resolve(given.current);
    given.current = false;
  };
  return (
    <dialog id={ID} ref={dialog} aria-labelledby="access-title" onClose={closed}>
      <form onSubmit={save}>
        <h2 id="access-title">Access</h2>
        <p>
          Reading may need a token; changing, deciding and starting always do. It is kept in this tab only, and nothing that
          you have entered is lost.
        </p>
        <p>
          An operator makes one with <code>sourcebook token create NAME --scope write</code>, sees all with{" "}
          <code>sourcebook token list</code>, and ends one with <code>sourcebook token revoke ID</code>.
        </p>
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            autocomplete="off"
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <p class="buttons">
          <button type="submit">Use it</button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </p>
      </form>
    </dialog>
  );
}
