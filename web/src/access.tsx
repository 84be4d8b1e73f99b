/** The dialog in which a token is entered. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { keepToken, token } from "./api";

const ID = "access";

export function openAccess(): void {
  const dialog = document.getElementById(ID);
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

export function Access(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [value, setValue] = useState(token);
  const save = (event: Event): void => {
    event.preventDefault();
    keepToken(value.trim());
    dialog.current?.close();
    // Every view asks again as who we are now.
    location.reload();
  };
  return (
    <dialog id={ID} ref={dialog} aria-labelledby="access-title">
      <form onSubmit={save}>
        <h2 id="access-title">Access</h2>
        <p>
          Reading may need a token, deciding and starting always do. An operator makes one:{" "}
          <code>sourcebook token create NAME --scope write</code>. It is kept in this tab only.
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
