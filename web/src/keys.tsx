/** What single keys do: j and k go through a list, o opens the source, / searches, ? explains. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

const ID = "keys";

const KEYS = [
  ["j", "the next of a list"],
  ["k", "the one before"],
  ["Enter", "open it"],
  ["o", "open its source in a tab of its own"],
  ["/", "into the search field"],
  ["?", "this help"],
] as const;

export function openHelp(): void {
  const dialog = document.getElementById(ID);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

/** The entries of the list on the page: each is where its first link is. */
function entries(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("main .articles > li, main tbody > tr")];
}

function step(by: number): void {
  const all = entries();
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  next?.querySelector<HTMLElement>("a[href], button")?.focus();
}

function openSource(): void {
  const here = entries().find((one) => one.contains(document.activeElement)) ?? document.querySelector("main");
  here?.querySelector<HTMLAnchorElement>('a[target="_blank"]')?.click();
}

function pressed(event: KeyboardEvent): void {
  const at = event.target;
  const writes = at instanceof HTMLElement && (at.matches("input, select, textarea") || at.isContentEditable);
  if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null) return;
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "o") openSource();
  else if (event.key === "/") document.querySelector<HTMLElement>('main [role="search"] input')?.focus();
  else if (event.key === "?") openHelp();
  else return;
  event.preventDefault();
}

export function useKeys(): void {
  useEffect(() => {
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

export function Help(): JSX.Element {
  return (
    <dialog id={ID} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={(event) => event.currentTarget.closest("dialog")?.close()}>
        Close
      </button>
    </dialog>
  );
}
