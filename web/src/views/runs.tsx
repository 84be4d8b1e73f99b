/** What ran: job runs, and the attempts of one as a timeline. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { duration } from "../format";
import { go, hashOf, useGet, useList, useWatch, type Place } from "../hooks";
import { Chip, Choice, Empty, Facts, Heading, More, Shown, Table, Time } from "../parts";
import { StartAgain, StartAny } from "./start";

export interface Run {
  job_run_id: string;
  workflow_name: string;
  subject: string | null;
  nova_id: string | null;
  status: string;
  outcome: string | null;
  started_at: string;
  ended_at: string | null;
  error_type: string | null;
  error_message: string | null;
  correlation_id: string;
  lost: boolean;
  /** What it was started with; null for runs of an older version, a text where it was longer than is kept. */
  input: unknown;
}

interface Attempt {
  task_name: string;
  attempt_no: number;
  status: string;
  error_type: string | null;
  error_message: string | null;
  duration_ms: number | null;
  created_at: string;
}

const STATUS: Record<string, string> = { RUNNING: "plain", STARTED: "warn", SUCCEEDED: "positive", FAILED: "negative" };
const FILTERS = [
  ["", "any"],
  ["RUNNING", "running"],
  ["SUCCEEDED", "succeeded"],
  ["FAILED", "failed"],
] as const;

export function Runs({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Listed place={place} /> : <One id={place.id} />;
}

export function Outcome({ run }: { run: Run }): JSX.Element {
  const held = run.outcome === "QUARANTINED";
  return (
    <Chip kind={run.lost || held ? "warn" : (STATUS[run.status] ?? "plain")}>
      {run.lost ? "lost" : (run.outcome ?? run.status).toLowerCase().replaceAll("_", " ")}
    </Chip>
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What a run is about, by a name that a person knows: an id says nothing to one. */
function Subject({ run }: { run: Run }): JSX.Element {
  const subject = run.subject ?? "";
  if (subject === "") return <>–</>;
  if (subject === run.nova_id) return <a href={hashOf("novae", subject)}>the nova</a>;
  if (UUID.test(subject)) return run.nova_id === null ? <>{subject}</> : <a href={hashOf("novae", run.nova_id)}>a spectrum</a>;
  return <span title={subject}>{subject.split("/").pop()}</span>;
}

export function RunTable({ runs }: { runs: Run[] }): JSX.Element {
  return (
    <Table
      caption="Runs of workflows, newest first"
      rows={runs}
      rowKey={(run) => run.job_run_id}
      columns={[
        { name: "Began", of: (run) => <Time at={run.started_at} /> },
        { name: "Workflow", of: (run) => <a href={hashOf("runs", run.job_run_id)}>{run.workflow_name}</a> },
        { name: "Of", of: (run) => <Subject run={run} /> },
        { name: "Outcome", of: (run) => <Outcome run={run} /> },
        { name: "Took", of: (run) => duration(took(run)), right: true },
      ]}
    />
  );
}

function took(run: Run): number | null {
  return run.ended_at === null ? null : new Date(run.ended_at).getTime() - new Date(run.started_at).getTime();
}

/** Runs of the last day that failed come first: they are what one looks for. */
function FailedLately(): JSX.Element | null {
  const failed = useGet<{ items: Run[] }>("/job-runs", { status: "FAILED", limit: 5 });
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const lately = (failed.value?.items ?? []).filter((run) => run.started_at >= since);
  return lately.length === 0 ? null : (
    <section aria-labelledby="failed-title">
      <h2 id="failed-title">Failed within a day</h2>
      <ul class="mentions">
        {lately.map((run) => (
          <li key={run.job_run_id}>
            <a href={hashOf("runs", run.job_run_id)}>{run.workflow_name.replaceAll("_", " ")}</a> <Time at={run.started_at} />:{" "}
            <span class="error">{run.error_message}</span>
          </li>
        ))}
      </ul>
      <h2>All runs</h2>
    </section>
  );
}

function Listed({ place }: { place: Place }): JSX.Element {
  const status = place.query.get("status") ?? "";
  const workflow = place.query.get("workflow") ?? "";
  const starting = place.query.get("start") !== null;
  const list = useList<Run>("/job-runs", { status, workflow });
  const known = useGet<{ items: { workflow_name: string }[] }>("/workflows");
  const shown = list.value ?? [];
  // As long as one has not asked for more, what runs is watched.
  useWatch(list, shown.length <= 20 && shown.some((run) => run.status === "RUNNING" && !run.lost), 5);
  const names = [...new Set([...(known.value?.items ?? []).map((one) => one.workflow_name), ...(workflow === "" ? [] : [workflow])])].sort();
  return (
    <>
      <Heading title="Runs" tab={`Runs${status === "" ? "" : `, ${status.toLowerCase()}`}`}>
        Every execution of a workflow, with what became of it.
      </Heading>
      <div class="filters">
        <Choice label="Status" value={status} options={FILTERS} onChange={(value) => go("runs", "", { status: value, workflow })} />
        <Choice
          label="Workflow"
          value={workflow}
          options={[["", "any"], ...names.map((name) => [name, name.replaceAll("_", " ")] as const)]}
          onChange={(value) => go("runs", "", { status, workflow: value })}
        />
        <button type="button" onClick={list.again}>
          Look again
        </button>
        {starting ? null : (
          <a class="button" href={hashOf("runs", "", { status, workflow, start: "1" })}>
            Start a workflow
          </a>
        )}
      </div>
      {starting ? <StartAny /> : null}
      {status === "" && workflow === "" ? <FailedLately /> : null}
      <Shown of={list}>
        {(runs) =>
          runs.length === 0 ? (
            <Empty>
              {status === "" && workflow === "" ? "Nothing has run." : "No such run."} <a href={hashOf("runs", "", { start: "1" })}>Start a workflow</a>
            </Empty>
          ) : (
            <RunTable runs={runs} />
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

/** What the classes of errors mean to a person, and what they do. */
const MEANS: readonly (readonly [RegExp, string])[] = [
  [/Unavailable|Busy|Retryable|Timeout|Throttl|Contended|Contested|Late$|NoAuthorityAnswered|LockHeld/, "Somebody else was not able to answer. It was tried again; if it failed for good, start it later."],
  [/Rejected|Refused/, "An archive or a server refused the question. Read its answer; asking again does not help."],
  [/InvalidInput|NotApproved|NoSuch/, "What was given is wrong, or names what is not there. Start it again with the right input."],
  [/NothingUsable|NotA|BadDocument|DamagedArchive|TooLarge|NoPosition/, "What was received cannot be used. Asking again brings the same; look at it yourself."],
  [/Held|Quarantine/, "Only a person can decide it: it waits in the quarantine."],
];

function meaning(error: string | null): string {
  return MEANS.find(([pattern]) => pattern.test(error ?? ""))?.[1] ?? "";
}

function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Run & { attempts: Attempt[]; attempts_left_out: boolean }>(`/job-runs/${encodeURIComponent(id)}`);
  useWatch(answer, answer.value?.status === "RUNNING" && !answer.value.lost, 2);
  return (
    <Shown of={answer} heading="Run">
      {(run) => (
        <>
          <Heading title={`${run.workflow_name.replaceAll("_", " ")}${run.subject === null ? "" : ` of ${run.subject}`}`} />
          {run.error_message ? (
            <div class="problem">
              <p>
                <strong>{run.error_message}</strong>
              </p>
              <p>{meaning(run.error_type)}</p>
            </div>
          ) : null}
          <div role="status">
            <Facts
              of={[
                ["Outcome", <Outcome run={run} />],
                ["Began", <Time at={run.started_at} exact />],
                ["Took", run.ended_at === null ? "it is under way" : duration(took(run))],
                ["Correlation", <code>{run.correlation_id}</code>],
                ...(run.nova_id ? [["Nova", <a href={hashOf("novae", run.nova_id)}>{run.subject ?? "the nova"}</a>] as const] : []),
                ...(run.outcome === "QUARANTINED" ? [["Next", <a href={hashOf("quarantine")}>decide it in the quarantine</a>] as const] : []),
                ...(run.error_type ? [["Kind of error", <code>{run.error_type}</code>] as const] : []),
              ]}
            />
          </div>
          <Given run={run} />
          <h2>Attempts</h2>
          {run.attempts.length === 0 ? (
            <Empty>{run.status === "RUNNING" ? "It begins …" : "None."}</Empty>
          ) : (
            <Timeline run={run} attempts={run.attempts} />
          )}
        </>
      )}
    </Shown>
  );
}

/** What a run was started with, and the way to do it once more. */
function Given({ run }: { run: Run }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  if (typeof run.input !== "object" || run.input === null) return null;
  const given = Object.entries(run.input).filter(([name]) => name !== "correlation_id" && !name.startsWith("AWS_"));
  return (
    <>
      <h2>What it was started with</h2>
      {given.length === 0 ? <Empty>Nothing.</Empty> : <Facts of={given.map(([name, value]) => [name.replaceAll("_", " "), plain(value)] as const)} />}
      {run.status === "RUNNING" ? null : open ? (
        <StartAgain name={run.workflow_name} input={Object.fromEntries(given)} />
      ) : (
        <p>
          <button type="button" onClick={() => setOpen(true)}>
            Start it again
          </button>
        </p>
      )}
    </>
  );
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Timeline({ run, attempts }: { run: Run; attempts: Attempt[] }): JSX.Element {
  const begun = new Date(run.started_at).getTime();
  const ends = attempts.map((a) => new Date(a.created_at).getTime() + (a.duration_ms ?? 0));
  const end = Math.max(begun + 1, run.ended_at === null ? 0 : new Date(run.ended_at).getTime(), ...ends);
  const share = (time: number): number => (100 * (time - begun)) / (end - begun);
  return (
    <ol class="timeline">
      {attempts.map((attempt) => {
        const from = new Date(attempt.created_at).getTime();
        const width = Math.max(0.5, share(from + (attempt.duration_ms ?? 0)) - share(from));
        return (
          <li key={`${attempt.created_at} ${attempt.task_name} ${attempt.attempt_no}`}>
            <p>
              <strong>{attempt.task_name}</strong> <span class="soft">attempt {attempt.attempt_no}</span>{" "}
              <Chip kind={STATUS[attempt.status] ?? "plain"}>
                {attempt.status === "STARTED" ? "started, never ended" : attempt.status.toLowerCase()}
              </Chip>{" "}
              <span class="soft">
                after {duration(from - begun)}, {duration(attempt.duration_ms)}
              </span>
            </p>
            <div class="lane" aria-hidden="true">
              <span
                class={STATUS[attempt.status] ?? "plain"}
                style={{ marginLeft: `${Math.min(share(from), 99.5)}%`, width: `${width}%` }}
              />
            </div>
            {attempt.error_message ? (
              <p class="error">
                {attempt.error_message} <span class="soft">{meaning(attempt.error_type)}</span>
              </p>
            ) : null}
          </li>
        );
      })}
    </ol>
  );
}
