/** A person's decision on a nova: that it is another one, is not after all, is none, or is one again. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { get, type Page } from "../api";
import { go } from "../hooks";
import { Choice, Field, Trouble } from "../parts";
import { NAME } from "./review";

const ACTIONS = [
  ["MERGE", "It is another nova, which is known"],
  ["SPLIT", "It is not the nova that it was merged into"],
  ["DEPRECATE", "It is no nova"],
  ["RESTORE", "It is a nova after all"],
] as const;

const FOLLOWS: Record<string, string> = {
  MERGE: "All that belongs to it moves to the other nova: names, spectra, measurements and publications. It can be taken back.",
  SPLIT: "What was its own comes back to it.",
  DEPRECATE: "It is listed no more, and nothing is fetched for it. What there is of it stays.",
  RESTORE: "It is listed again.",
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Known {
  nova_id: string;
  primary_name: string;
}

/** The one nova of this name or id; else what to say. */
async function named(text: string): Promise<Known | string> {
  if (UUID.test(text)) return get<Known>(`/novae/${text}`);
  const { items } = await get<Page<Known>>("/novae", { name: text });
  const [only] = items;
  if (only === undefined) return `No nova is known as ${text}.`;
  return items.length === 1 ? only : `The name may mean ${items.map((one) => one.primary_name).join(" or ")}: say which.`;
}

export function Curate({ nova, name, merged }: { nova: string; name: string; merged: boolean }): JSX.Element {
  const [action, setAction] = useState(merged ? "SPLIT" : "MERGE");
  const [into, setInto] = useState("");
  const [wrong, setWrong] = useState("");
  const [reason, setReason] = useState("");
  const [who, setWho] = useState(() => sessionStorage.getItem(NAME) ?? "");
  const [key] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  const send = (event: Event): void => {
    event.preventDefault();
    setWrong("");
    void act("curate", async () => {
      const other = action === "MERGE" ? await named(into.trim()) : null;
      if (typeof other === "string" || other?.nova_id === nova) {
        setWrong(typeof other === "string" ? other : `That is ${name} itself.`);
        return;
      }
      sessionStorage.setItem(NAME, who);
      const run = await sendAs<{ job_run_id: string }>("/workflows/curate_nova/executions", {
        method: "POST",
        key: `${key}-${action}-${other?.nova_id ?? ""}`,
        body: { nova_id: nova, action, reason: reason.trim(), decided_by: who.trim(), ...(other === null ? {} : { into: other.nova_id }) },
      });
      go("runs", run.job_run_id);
    });
  };
  return (
    <form class="review panel" onSubmit={send}>
      <h2>Your decision on {name}</h2>
      <Choice label="Decision" value={action} options={ACTIONS} onChange={setAction} />
      {action === "MERGE" ? (
        <Field label="The other nova, by any name" required value={into} onInput={setInto} placeholder="V1324 Sco" />
      ) : null}
      {wrong === "" ? null : (
        <p class="error" role="alert">
          {wrong}
        </p>
      )}
      <Field label="Your name" required value={who} onInput={setWho} />
      <Field label="Why, for those who come after" required value={reason} onInput={setReason} />
      <p class="good">
        <strong>What will happen:</strong> {FOLLOWS[action]}
      </p>
      {problem === null ? null : <Trouble of={problem} />}
      <button type="submit" disabled={busy !== ""}>
        {busy === "" ? "Decide" : "Sending …"}
      </button>
    </form>
  );
}
