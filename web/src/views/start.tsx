/** Starting workflows: what each takes is asked of the API, and what is started is watched in its run. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { go, useGet, type Answer } from "../hooks";
import type { Page } from "../api";
import { Choice, Field, Opened, Shown, Trouble } from "../parts";

interface Wanted {
  type?: string;
  description?: string;
  enum?: string[];
}

interface Workflow {
  workflow_name: string;
  input: { properties?: Record<string, Wanted>; required?: string[] };
}

function plain(name: string): string {
  return name.replaceAll("_", " ");
}

/** Start a workflow and go to its run. */
async function start(workflow: string, body: Record<string, unknown>, key: string): Promise<void> {
  const run = await sendAs<{ job_run_id: string }>(`/workflows/${workflow}/executions`, { method: "POST", body, key });
  go("runs", run.job_run_id);
}

export function StartNova({ name }: { name: string }): JSX.Element {
  const [typed, setTyped] = useState(name);
  const [key] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        void act("start", () => start("initialize_nova", { candidate_name: typed.trim() }, `${key}-${typed.trim().length}`));
      }}
    >
      <h2>Add a nova</h2>
      <p class="soft">The archives are asked what the name is; you see the run. What they do not know for sure comes to the quarantine.</p>
      <div class="filters">
        <Field wide label="Any name of it" required value={typed} onInput={setTyped} placeholder="V1324 Sco" />
        <button type="submit" disabled={busy !== ""}>
          {busy === "" ? "Start" : "Starting …"}
        </button>
      </div>
      {problem === null ? null : <Trouble of={problem} />}
    </form>
  );
}

/** Buttons for what can be started with a nova alone. */
export function StartFor({ nova, name }: { nova: string; name: string }): JSX.Element {
  return (
    <Opened summary={`Start a workflow for ${name}`}>
      <Buttons nova={nova} />
    </Opened>
  );
}

function Buttons({ nova }: { nova: string }): JSX.Element {
  const known: Answer<Page<Workflow>> = useGet<Page<Workflow>>("/workflows");
  const [key] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  return (
    <Shown of={known}>
      {({ items }) => (
        <>
          <p class="buttons">
            {items
              .filter((one) => (one.input.required ?? []).join() === "nova_id")
              .map((one) => (
                <button
                  key={one.workflow_name}
                  type="button"
                  disabled={busy !== ""}
                  onClick={() => void act(one.workflow_name, () => start(one.workflow_name, { nova_id: nova }, `${key}-${one.workflow_name}`))}
                >
                  {busy === one.workflow_name ? "Starting …" : plain(one.workflow_name)}
                </button>
              ))}
          </p>
          {problem === null ? null : <Trouble of={problem} />}
        </>
      )}
    </Shown>
  );
}

/** Any workflow of the stack, with the fields that it takes. */
export function StartAny(): JSX.Element {
  const known = useGet<Page<Workflow>>("/workflows");
  const [chosen, setChosen] = useState("");
  return (
    <section class="panel" aria-labelledby="start-title">
      <h2 id="start-title">Start a workflow</h2>
      <Shown of={known}>
        {({ items }) => {
          const workflow = items.find((one) => one.workflow_name === chosen);
          return (
            <>
              <Choice
                label="Workflow"
                value={chosen}
                options={[["", "choose one"], ...items.map((one) => [one.workflow_name, plain(one.workflow_name)] as const)]}
                onChange={setChosen}
              />
              {workflow === undefined ? null : <Inputs key={chosen} workflow={workflow} />}
            </>
          );
        }}
      </Shown>
    </section>
  );
}

/** The same workflow once more, with the input that a run had, to be mended first where it was wrong. */
export function StartAgain({ name, input }: { name: string; input: Record<string, unknown> }): JSX.Element {
  const known = useGet<Page<Workflow>>("/workflows");
  const given = Object.entries(input).map(([field, value]) => [field, Array.isArray(value) ? value.join(", ") : String(value)] as const);
  return (
    <Shown of={known}>
      {({ items }) => {
        const workflow = items.find((one) => one.workflow_name === name);
        return workflow === undefined ? (
          <p class="soft">This stack cannot start it by itself.</p>
        ) : (
          <Inputs workflow={workflow} first={Object.fromEntries(given)} />
        );
      }}
    </Shown>
  );
}

function Inputs({ workflow, first = {} }: { workflow: Workflow; first?: Record<string, string> }): JSX.Element {
  const [given, setGiven] = useState(first);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  const needed = new Set(workflow.input.required ?? []);
  const fields = Object.entries(workflow.input.properties ?? {}).filter(([name]) => name !== "correlation_id");
  const change = (name: string, value: string): void => {
    setGiven({ ...given, [name]: value });
    setKey(crypto.randomUUID());
  };
  const body = Object.fromEntries(
    fields
      .filter(([name]) => (given[name] ?? "").trim() !== "")
      .map(([name, field]) => {
        const text = (given[name] ?? "").trim();
        return [name, field.type === "array" ? text.split(",").map((one) => one.trim()) : text];
      }),
  );
  return (
    <form
      class="review"
      onSubmit={(event) => {
        event.preventDefault();
        void act("start", () => start(workflow.workflow_name, body, key));
      }}
    >
      {fields.map(([name, field]) => (
        <Field
          key={name}
          label={`${plain(name)}${needed.has(name) ? "" : " (may stay empty)"}`}
          required={needed.has(name)}
          value={given[name] ?? ""}
          onInput={(value) => change(name, value)}
          hint={`${field.description ?? ""}${field.type === "array" ? " Several with commas." : ""}`}
        />
      ))}
      {problem === null ? null : <Trouble of={problem} />}
      <button type="submit" disabled={busy !== ""}>
        {busy === "" ? "Start" : "Starting …"}
      </button>
    </form>
  );
}
