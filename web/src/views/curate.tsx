/** A person's decision on a nova: that it is another one, is not after all, is none, or is one again. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs } from "../access";
import { get, type Page } from "../api";
import { go } from "../hooks";
import { Choice, Field } from "../parts";
import { DecisionForm, type DecidedBy } from "./decide";

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
  const send = async (by: DecidedBy, key: (body: object) => string): Promise<string | void> => {
    const other = action === "MERGE" ? await named(into.trim()) : null;
    if (typeof other === "string") return other;
    if (other?.nova_id === nova) return `That is ${name} itself.`;
    const body = { nova_id: nova, action, ...by, ...(other === null ? {} : { into: other.nova_id }) };
    const run = await sendAs<{ job_run_id: string }>("/workflows/curate_nova/executions", { method: "POST", key: key(body), body });
    go("runs", run.job_run_id);
  };
  return (
    <DecisionForm title={`Your decision on ${name}`} follows={FOLLOWS[action]} send={send}>
      <Choice label="Decision" value={action} options={ACTIONS} onChange={setAction} />
      {action === "MERGE" ? (
        <Field label="The other nova, by any name" required value={into} onInput={setInto} placeholder="V1324 Sco" />
      ) : null}
    </DecisionForm>
  );
}
