/** What waits for a person: the cases, and one with everything to decide by. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { hashOf, useGet, useList, type Place } from "../hooks";
import { Chip, Empty, Facts, Heading, More, Shown, Table, Time } from "../parts";
import { CaseFile } from "./case-file";
import { Review } from "./review";

export interface Case {
  quarantine_id: string;
  workflow_name: string;
  subject: string | null;
  nova_id: string | null;
  data_product_id: string | null;
  reason_code: string;
  message: string;
  context: unknown;
  occurrences: number;
  manual_review_status: string;
  merged_into: string | null;
  overrides: Record<string, string> | null;
  reviewed_at: string | null;
  reviewer: string | null;
  reviewed_by: string | null;
  review_note: string | null;
  job_run_id: string | null;
  created_at: string;
  updated_at: string;
}

export const OF_SPECTRA = "acquire_and_validate_spectra";

const WHAT: Record<string, string> = {
  CLEARED_RETRY_APPROVED: "tried again",
  CLEARED_TERMINAL: "closed",
  MERGED: "merged",
};

export function Quarantine({ place }: { place: Place }): JSX.Element {
  return place.id === "" ? <Listed place={place} /> : <One id={place.id} />;
}

function words(code: string): string {
  return code.toLowerCase().replaceAll("_", " ");
}

/** What a case is about, for a person: the id of a spectrum says nothing to one. */
function about(one: Case): string {
  const title = record(one.context)["title"];
  const provider = record(one.context)["provider"];
  if (one.workflow_name !== OF_SPECTRA) return one.subject ?? one.quarantine_id;
  return `Spectrum${typeof provider === "string" ? ` from ${provider}` : ""}${typeof title === "string" ? `: ${title}` : ""}`;
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function Listed({ place }: { place: Place }): JSX.Element {
  const decided = place.query.get("review") === "decided";
  const list = useList<Case>("/quarantine", decided ? { review: "decided" } : {});
  return (
    <>
      <Heading title="Quarantine" tab={decided ? "Quarantine, decided" : "Quarantine"}>
        What no rule can decide, and a person must. Nothing leaves here by itself.
      </Heading>
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
                { name: "Case", of: (one) => <a href={hashOf("quarantine", one.quarantine_id)}>{about(one)}</a> },
                { name: "Why", of: (one) => <Chip kind="warn">{words(one.reason_code)}</Chip> },
                { name: "What is unclear", of: (one) => one.message },
                { name: "Since", of: (one) => <Time at={one.created_at} /> },
                ...(decided
                  ? [
                      {
                        name: "Decision",
                        of: (one: Case) => (
                          <>
                            {WHAT[one.manual_review_status] ?? words(one.manual_review_status)} by {one.reviewer}{" "}
                            <Time at={one.reviewed_at} />
                            {one.review_note ? `: ${one.review_note}` : ""}
                          </>
                        ),
                      },
                    ]
                  : []),
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
  // The unit in which the file is drawn is the one that is sent: what one sees is what one says.
  const [unit, setUnit] = useState("");
  return (
    <Shown of={answer} heading="Case">
      {(one) => (
        <>
          <Heading title={about(one)}>{one.message}</Heading>
          <Facts
            of={[
              ["Why", <Chip kind="warn">{words(one.reason_code)}</Chip>],
              ["Since", <Time at={one.created_at} exact />],
              ["Met", one.occurrences === 1 ? "once" : `${one.occurrences} times`],
              ["Found by", one.job_run_id === null ? one.workflow_name : <a href={hashOf("runs", one.job_run_id)}>{one.workflow_name}</a>],
              ...(one.nova_id ? [["Nova", <NovaLink id={one.nova_id} />] as const] : []),
              ...found(one),
              ...(one.reviewed_at
                ? [
                    ["Decided", <>{words(one.manual_review_status)} by {one.reviewer}, <Time at={one.reviewed_at} exact /></>] as const,
                    ["Note", one.review_note ?? "–"] as const,
                    ...Object.entries(one.overrides ?? {}).map(([name, value]) => [`Said: ${words(name)}`, value] as const),
                  ]
                : []),
            ]}
          />
          {one.workflow_name === OF_SPECTRA ? <CaseFile id={one.quarantine_id} unit={unit} setUnit={setUnit} /> : null}
          <Review one={one} unit={unit} setUnit={setUnit} decided={answer.again} />
          <details>
            <summary>All that was kept to decide by</summary>
            <pre class="context" tabIndex={0} aria-label="Context of the case">
              {JSON.stringify(one.context, null, 2)}
            </pre>
          </details>
        </>
      )}
    </Shown>
  );
}

function NovaLink({ id }: { id: string }): JSX.Element {
  const nova = useGet<{ primary_name: string | null }>(`/novae/${encodeURIComponent(id)}`);
  return <a href={hashOf("novae", id)}>{nova.value?.primary_name ?? "the nova"}</a>;
}

const VERDICT = [
  ["object_name", "Object in the file"],
  ["observed_at", "Date in the file"],
  ["instrument", "Instrument in the file"],
  ["original_unit", "Unit in the file"],
  ["flux_unit", "Flux unit in the file"],
  ["fits_profile_id", "Read as"],
] as const;

/** What examination has read of the file, in words. */
function found(one: Case): (readonly [string, string])[] {
  const verdict = record(record(one.context)["verdict"]);
  return VERDICT.filter(([name]) => typeof verdict[name] === "string").map(([name, label]) => [label, String(verdict[name])] as const);
}
