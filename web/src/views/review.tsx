/** A decision: its fields, what follows from it, and what then became of it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { hashOf, useGet, useWatch } from "../hooks";
import { Chip, Choice, Field, Shown, Trouble } from "../parts";
import { UNITS } from "./case-file";
import { OF_SPECTRA, record, type Case } from "./quarantine";
import { Outcome, type Run } from "./runs";

/** Where the tab keeps how a person calls themselves. */
export const NAME = "sourcebook.reviewer";

interface Candidate {
  nova_id: string;
  primary_name: string;
  separation_arcsec?: number;
}

/** What follows, by decision: a person should know it before they say so. */
const FOLLOWS: Record<string, string> = {
  CLEARED_RETRY_APPROVED: "The workflow runs again at once, takes your decision for granted, and you see here what becomes of it.",
  CLEARED_TERMINAL: "Nothing runs. The case is closed and stays in the list of those decided.",
  MERGED: "The name becomes a name of the nova that you choose, by a run that you see here.",
};

function candidates(one: Case): Candidate[] {
  const given = record(one.context)["candidates"];
  return (Array.isArray(given) ? given : []).flatMap((value: unknown) => {
    const { nova_id, primary_name, separation_arcsec } = record(value);
    return typeof nova_id === "string"
      ? [{ nova_id, primary_name: String(primary_name ?? nova_id), ...(typeof separation_arcsec === "number" ? { separation_arcsec } : {}) }]
      : [];
  });
}

/** Why a date cannot be sent; "" for one that can, and for none. */
export function wrongDate(text: string): string {
  if (text === "") return "";
  const found = /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}:\d{2}(\.\d+)?)?Z?$/.exec(text);
  const day = found === null ? null : new Date(`${found[1]}-${found[2]}-${found[3]}T00:00:00Z`);
  return day !== null && !Number.isNaN(day.getTime()) && day.getUTCDate() === Number(found?.[3])
    ? ""
    : "Write it as 2012-06-01 or 2012-06-01T21:30:00, in UTC.";
}

export function Review({
  one,
  unit,
  setUnit,
  decided,
}: {
  one: Case;
  unit: string;
  setUnit: (unit: string) => void;
  decided: () => void;
}): JSX.Element {
  if (one.manual_review_status !== "PENDING") {
    return one.manual_review_status === "CLEARED_TERMINAL" ? <></> : <Followed one={one} since={one.reviewed_at ?? ""} />;
  }
  return (
    <Form
      one={one}
      unit={unit}
      setUnit={setUnit}
      decided={() => {
        dispatchEvent(new Event("casedecided"));
        decided();
      }}
    />
  );
}

function Form({ one, unit, setUnit, decided }: { one: Case; unit: string; setUnit: (unit: string) => void; decided: () => void }): JSX.Element {
  const spectrum = one.workflow_name === OF_SPECTRA;
  const choices = candidates(one);
  const members = record(one.context)["members"];
  const [decision, setDecision] = useState("CLEARED_RETRY_APPROVED");
  const [reviewer, setReviewer] = useState(() => sessionStorage.getItem(NAME) ?? "");
  const [note, setNote] = useState("");
  const [nova, setNova] = useState("");
  const [given, setGiven] = useState<Record<string, string>>({});
  const [key] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  const change = (name: string) => (value: string) => setGiven({ ...given, [name]: value });
  const retry = decision === "CLEARED_RETRY_APPROVED";
  const overrides = Object.fromEntries(
    Object.entries({ ...given, wavelength_unit: unit }).map(([name, value]) => [name, value.trim()] as const).filter(([, value]) => value !== ""),
  );
  const wrong = spectrum && retry ? wrongDate(overrides["date"] ?? "") : "";
  const options: (readonly [string, string])[] = [
    ["CLEARED_RETRY_APPROVED", spectrum ? "Examine it again, with what I say here" : "Go on: take the name for a nova of its own"],
    ...(one.workflow_name === "initialize_nova" ? [["MERGED", "It is a nova that is known"] as const] : []),
    ["CLEARED_TERMINAL", "It is no use: close it"],
  ];
  const sent = (event: Event): void => {
    event.preventDefault();
    if (wrong !== "") return;
    void act("review", async () => {
      sessionStorage.setItem(NAME, reviewer);
      await sendAs(`/quarantine/${encodeURIComponent(one.quarantine_id)}/review`, {
        method: "POST",
        key: `${key}-${decision}`,
        body: {
          decision,
          reviewer: reviewer.trim(),
          ...(note.trim() === "" ? {} : { note: note.trim() }),
          ...(decision === "MERGED" ? { nova_id: nova.trim() } : {}),
          ...(spectrum && retry && Object.keys(overrides).length > 0 ? { overrides } : {}),
        },
      });
      decided();
    });
  };
  return (
    <section aria-labelledby="review-title">
      <h2 id="review-title">Your decision</h2>
      {choices.length > 0 && one.workflow_name === "initialize_nova" ? (
        <div class="buttons" role="group" aria-label="Novae that it may be">
          {choices.map((choice) => (
            <span key={choice.nova_id}>
              <button
                type="button"
                aria-pressed={decision === "MERGED" && nova === choice.nova_id}
                onClick={() => {
                  setDecision("MERGED");
                  setNova(choice.nova_id);
                }}
              >
                It is {choice.primary_name}
                {choice.separation_arcsec === undefined ? "" : `, ${choice.separation_arcsec}″ away`}
              </button>{" "}
              <a href={hashOf("novae", choice.nova_id)}>see it</a>
            </span>
          ))}
        </div>
      ) : null}
      <form class="review" onSubmit={sent}>
        <Choice label="Decision" value={decision} options={options} onChange={setDecision} />
        {decision === "MERGED" ? <Field label="Id of that nova" required value={nova} onInput={setNova} /> : null}
        {spectrum && retry ? (
          <fieldset>
            <legend>What the file does not say, or says wrongly. Leave as it is what stands.</legend>
            <Choice
              label="Wavelength unit"
              value={unit}
              options={[["", "as the file says"], ...Object.keys(UNITS).map((name) => [name, name] as const)]}
              onChange={setUnit}
            />
            <Field label="Date of observation, UTC" value={given["date"] ?? ""} onInput={change("date")} placeholder="2012-06-01T21:30:00" />
            {wrong === "" ? null : (
              <p class="error" role="alert">
                {wrong}
              </p>
            )}
            <Field label="Object" value={given["object"] ?? ""} onInput={change("object")} placeholder="V1324 Sco" />
            <Field label="Instrument" value={given["instrument"] ?? ""} onInput={change("instrument")} />
            <Field label="Flux unit" value={given["flux_unit"] ?? ""} onInput={change("flux_unit")} placeholder="erg/s/cm2/Angstrom" />
            {Array.isArray(members) ? (
              <Choice
                label="File within the ZIP"
                value={given["member"] ?? ""}
                options={[["", "not given"], ...members.map((name) => [String(name), String(name)] as const)]}
                onChange={change("member")}
              />
            ) : null}
            {one.reason_code === "CHECKSUM_MISMATCH" ? (
              <Choice
                label="Checksums that do not fit"
                value={given["ignore_checksum"] ?? ""}
                options={[
                  ["", "are believed"],
                  ["true", "are ignored"],
                ]}
                onChange={change("ignore_checksum")}
              />
            ) : null}
            <Field
              label="Keywords that it can do without"
              value={given["accept_missing"] ?? ""}
              onInput={change("accept_missing")}
              placeholder="EXPTIME, SPECSYS"
            />
          </fieldset>
        ) : null}
        <Field label="Your name" required value={reviewer} onInput={setReviewer} />
        <label class="field wide">
          <span>Why, for those who come after</span>
          <textarea rows={2} maxLength={1000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        <p class="good">
          <strong>What will happen:</strong> {FOLLOWS[decision]}
          {spectrum && retry && Object.keys(overrides).length > 0
            ? ` It gets: ${Object.entries(overrides).map(([name, value]) => `${name.replaceAll("_", " ")} = ${value}`).join(", ")}.`
            : ""}
        </p>
        {problem === null ? null : <Trouble of={problem} />}
        <button type="submit" disabled={busy !== "" || wrong !== ""}>
          {busy === "" ? "Decide" : "Sending …"}
        </button>
      </form>
    </section>
  );
}

/** The run that a decision has started, watched to its end, and what the spectrum then is. */
function Followed({ one, since }: { one: Case; since: string }): JSX.Element {
  const runs = useGet<{ items: Run[] }>("/job-runs", { workflow: one.workflow_name, limit: 20 });
  const found = runs.value?.items.find(
    (run) =>
      new Date(run.started_at) >= new Date(since) &&
      run.job_run_id !== one.job_run_id &&
      // A nova may have several spectra under way at the same time.
      (one.data_product_id === null
        ? run.nova_id === one.nova_id || run.subject === one.subject || one.nova_id === null
        : run.subject === one.data_product_id),
  );
  const isNew = Date.now() - new Date(since).getTime() < 10 * 60_000;
  const isDone = found !== undefined && found.status !== "RUNNING";
  useWatch(runs, isNew && !isDone, 2);
  const path = `/novae/${encodeURIComponent(one.nova_id ?? "")}/products/${encodeURIComponent(one.data_product_id ?? "")}`;
  return (
    <section aria-labelledby="after-title">
      <h2 id="after-title">What became of it</h2>
      <div role="status">
        {found === undefined ? (
          <p>{isNew ? "The run begins …" : "Its run is no more among the newest twenty."}</p>
        ) : (
          <p>
            <a href={hashOf("runs", found.job_run_id)}>The run</a> <Outcome run={found} /> {found.error_message}
          </p>
        )}
        {one.data_product_id !== null && one.nova_id !== null ? <Product key={String(isDone)} path={path} nova={one.nova_id} /> : null}
        {one.merged_into === null ? null : (
          <p>
            <a href={hashOf("novae", one.merged_into)}>The nova that it was merged into</a>
          </p>
        )}
      </div>
    </section>
  );
}

function Product({ path, nova }: { path: string; nova: string }): JSX.Element {
  const product = useGet<{ validation_status: string | null; quarantine_reason_code: string | null }>(path);
  const status = product.value?.validation_status ?? "";
  return (
    <Shown of={product}>
      {() => (
        <p>
          The spectrum is <Chip kind={status === "VALID" ? "positive" : "warn"}>{status.toLowerCase().replaceAll("_", " ")}</Chip>{" "}
          <a href={hashOf("novae", nova)}>See it at its nova</a>
        </p>
      )}
    </Shown>
  );
}
