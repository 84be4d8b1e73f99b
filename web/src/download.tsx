/** Files to take away: asked for as whoever looks at the page, which a plain link would not be. */

import type { JSX } from "preact";
import type { Query } from "./api";
import { getFile } from "./api";
import { useDoing } from "./access";
import { Trouble } from "./parts";

/** Give the browser something to save. */
export function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function Download({
  path,
  query = {},
  name,
  children,
}: {
  path: string;
  query?: Query;
  name: string;
  children: string;
}): JSX.Element {
  const { busy, problem, act } = useDoing();
  const take = (): Promise<boolean> => act("take", async () => save(await getFile(path, query), name));
  return (
    <>
      <button type="button" class="small" disabled={busy !== ""} onClick={() => void take()}>
        {busy === "" ? children : "Loading …"}
      </button>
      {problem === null ? null : <Trouble of={problem} again={() => void take()} />}
    </>
  );
}
