/** What waits for a person: the case with everything to decide by, and the decision. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Problem } from "../api";
import { hashOf, useGet, useList, type Place } from "../hooks";
import { Chip, Choice, Empty, Facts, Heading, More, Shown, Table, Time } from "../parts";
import { openAccess, sendAs } from "../access";

interface Case {
  quarantine_id: string;
  workflow_name: string;
  subject: string;
  nova_id: string | null;
  reason_code: string;
  message: string;
  context: unknown;
  occurrences: number;
  manual_review_status: string;
  reviewed_at: string | null;
  reviewer: string | null;
  review_note: string | null;
  job_run_id: string;
  created_at: string;
  updated_at: string;
}

const DECISIONS = [
  ["CLEARED_RETRY_APPROVED", "Try again, as decided here"],
  ["CLEARED_TERMINAL", "It is no use: close it"],
  ["MERGED", "It is a nova that is known"],
] as const;

const OVERRIDES = [
  ["wavelength_unit", "Wavelength unit", "Angstrom"],
  ["date", "Date of observation", "2012-06-01T00:00:00"],
  ["object", "Object", "V1324 Sco"],
  ["instrument", "Instrument", ""],
  ["flux_unit", "Flux unit", ""],
] as const;

export function Quarantine({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Listed place={place} /> : <One id={place.id} />;
}

function words(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

function Listed({ place }: { place: Place }): JSX.Element {
  const decided = place.query.get("review") === "decided";
  const list = useList<Case>("/quarantine", decided ? { review: "decided" } : {});
  return (
    <>
      <Heading title="Quarantine">What no rule can decide, and a person must. Nothing leaves here by itself.</Heading>
      <p class="filters">
        <a href={hashOf("quarantine")} aria-current={decided ? undefined : "page"}>
          waiting
        </a>
        <a href={hashOf("quarantine", "", { review: "decided" })} aria-current={decided ? "page" : undefined}>
          decided
        </a>
      </p>
      <Shown of={list}>
        {(cases) =>
          cases.length === 0 ? (
            <Empty>{decided ? "Nothing has been decided yet." : "Nothing waits. Good."}</Empty>
          ) : (
            <Table
              caption={decided ? "Decided cases" : "Cases that wait for a decision"}
              rows={cases}
              rowKey={(one) => one.quarantine_id}
              columns={[
                { name: "Case", of: (one) => <a href={hashOf("quarantine", one.quarantine_id)}>{one.subject}</a> },
                { name: "Why", of: (one) => <Chip kind="warn">{words(one.reason_code)}</Chip> },
                { name: "What is unclear", of: (one) => one.message },
                { name: "Since", of: (one) => <Time at={one.created_at} /> },
                ...(decided ? [{ name: "Decision", of: (one: Case) => words(one.manual_review_status) }] : []),
              ]}
            />
          )
        }
      </Shown>
      <More of={list} />
    </>
  );
}

function One({ id }: { id: string }): JSX.Element {
  const answer = useGet<Case>(`/quarantine/${encodeURIComponent(id)}`);
  return (
    <Shown of={answer} heading="Case">
      {(one) => (
        <>
          <Heading title={one.subject}>{one.message}</Heading>
          <Facts
            of={[
              ["Why", <Chip kind="warn">{words(one.reason_code)}</Chip>],
              ["Since", <Time at={one.created_at} exact />],
              ["Met", one.occurrences === 1 ? "once" : `${one.occurrences} times`],
              ["Found by", <a href={hashOf("runs", one.job_run_id)}>{one.workflow_name}</a>],
              ...(one.nova_id ? [["Nova", <a href={hashOf("novae", one.nova_id)}>{one.nova_id}</a>] as const] : []),
              ...(one.reviewed_at
                ? [
                    ["Decided", <>{words(one.manual_review_status)} by {one.reviewer}, <Time at={one.reviewed_at} exact /></>] as const,
                    ["Note", one.review_note ?? "–"] as const,
                  ]
                : []),
            ]}
          />
          <h2>To decide by</h2>
          <pre class="context" tabIndex={0} aria-label="Context of the case">
            {JSON.stringify(one.context, null, 2)}
          </pre>
          {one.manual_review_status === "PENDING" ? <Review one={one} decided={answer.again} /> : null}
        </>
      )}
    </Shown>
  );
}

function Review({ one, decided }: { one: Case; decided: () => void }): JSX.Element {
  const [decision, setDecision] = useState<string>("CLEARED_RETRY_APPROVED");
  const [reviewer, setReviewer] = useState("");
  const [note, setNote] = useState("");
  const [nova, setNova] = useState("");
  const [overrides, setOverrides] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sending, setSending] = useState(false);
  const [key] = useState(() => crypto.randomUUID());
  const spectrum = one.workflow_name === "acquire_and_validate_spectra";
  const options = DECISIONS.filter(([name]) => name !== "MERGED" || one.workflow_name === "initialize_nova");
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setProblem(null);
    const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value.trim() !== ""));
    try {
      await sendAs(`/quarantine/${encodeURIComponent(one.quarantine_id)}/review`, { method: "POST", key: `${key}-${decision}`, body: {
        decision,
        reviewer,
        ...(note === "" ? {} : { note }),
        ...(decision === "MERGED" ? { nova_id: nova.trim() } : {}),
        ...(spectrum && decision === "CLEARED_RETRY_APPROVED" && Object.keys(given).length > 0 ? { overrides: given } : {}),
      } });
      decided();
    } catch (error) {
      setProblem(error as Problem);
    } finally {
      setSending(false);
    }
  };
  return (
    <section aria-labelledby="review-title">
      <h2 id="review-title">Your decision</h2>
      <form class="review" onSubmit={(event) => void send(event)}>
        <Choice label="Decision" value={decision} options={options} onChange={setDecision} />
        {decision === "MERGED" ? (
          <label class="field">
            <span>Id of that nova</span>
            <input required value={nova} onInput={(event) => setNova(event.currentTarget.value)} />
          </label>
        ) : null}
        {spectrum && decision === "CLEARED_RETRY_APPROVED" ? (
          <fieldset>
            <legend>What the file does not say, or says wrongly. Leave empty what stands.</legend>
            {OVERRIDES.map(([name, label, example]) => (
              <label class="field" key={name}>
                <span>{label}</span>
                <input
                  placeholder={example}
                  value={overrides[name] ?? ""}
                  onInput={(event) => setOverrides({ ...overrides, [name]: event.currentTarget.value })}
                />
              </label>
            ))}
          </fieldset>
        ) : null}
        <label class="field">
          <span>Your name</span>
          <input required value={reviewer} onInput={(event) => setReviewer(event.currentTarget.value)} />
        </label>
        <label class="field wide">
          <span>Why, for those who come after</span>
          <textarea rows={2} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        {problem === null ? null : (
          <div class="problem" role="alert">
            <p>{problem.message}</p>
            {problem.wantsToken ? (
              <button type="button" onClick={openAccess}>
                Enter a token with write scope
              </button>
            ) : null}
          </div>
        )}
        <button type="submit" disabled={sending}>
          {sending ? "Sending …" : "Decide"}
        </button>
      </form>
    </section>
  );
}
