/** What rules of alerts can look for, and the fields of each kind. A test holds it against what the API takes. */

export interface RuleField {
  name: string;
  label: string;
  hint?: string;
  needed?: boolean;
  number?: { least: number; most: number; step: number };
  words?: readonly string[];
  /** What the page knows names of, to choose from. */
  from?: "subjects" | "series" | "workflows" | "banks";
}

export interface Kind {
  kind: string;
  /** When such a rule fires, as the end of "Tell me when …". */
  when: string;
  fields: readonly RuleField[];
}

const SERIES: RuleField = { name: "series_code", label: "Series", needed: true, from: "series" };
const TERM: RuleField = { name: "term", label: "Term", hint: "Such as 6M; every term without it." };

export const KINDS: readonly Kind[] = [
  {
    kind: "article",
    when: "an article matches a search",
    fields: [
      {
        name: "q",
        label: "Search",
        needed: true,
        hint: "The language of the search field, without since: and until:, such as subject:Apple sentiment:negative",
      },
    ],
  },
  {
    kind: "sentiment",
    when: "what is felt about a subject moves",
    fields: [
      { name: "subject", label: "Subject", needed: true, from: "subjects" },
      { name: "change", label: "By at least", number: { least: 0.01, most: 2, step: 0.01 }, hint: "Of −1 … +1; 0.3 without it." },
      { name: "mentions", label: "Of at least so many mentions", number: { least: 1, most: 100_000, step: 1 }, hint: "5 without it." },
    ],
  },
  {
    kind: "rate",
    when: "a rate changes",
    fields: [
      SERIES,
      TERM,
      { name: "bank_name", label: "Bank", hint: "Every bank without it.", from: "banks" },
      { name: "change_pct", label: "By at least, percentage points", number: { least: 0, most: 100, step: 0.01 }, hint: "Any change without it." },
    ],
  },
  { kind: "best_rate", when: "a bank offers the best rate so far", fields: [SERIES, TERM] },
  {
    kind: "source",
    when: "a source fails",
    fields: [
      { name: "source_id", label: "Id of a source", hint: "Every source without it." },
      { name: "errors", label: "After so many errors in a row", number: { least: 1, most: 100, step: 1 }, hint: "3 without it." },
    ],
  },
  {
    kind: "spectrum",
    when: "a spectrum is judged",
    fields: [
      { name: "verdict", label: "Verdict", words: ["VALID", "QUARANTINED"] },
      { name: "nova_id", label: "Id of a nova", hint: "Every nova without it." },
    ],
  },
  { kind: "run", when: "a run of a workflow fails", fields: [{ name: "workflow_name", label: "Workflow", from: "workflows" }] },
];

export interface Rule extends Record<string, unknown> {
  alert_id: string;
  kind: string;
  name: string;
  webhook: string | null;
  mail: string | null;
  created_at: string;
}

export interface Delivery {
  event_id: string;
  kind: string;
  at: string;
  state: string;
  waiting_for: string[];
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  delivered_at: string | null;
  last_error: string | null;
  facts: Record<string, unknown>;
}

/** A rule in words: "an article matches a search, ferry". */
export function inWords(rule: Rule): string {
  const kind = KINDS.find((one) => one.kind === rule.kind);
  const conditions = (kind?.fields ?? [])
    .filter((field) => rule[field.name] !== null && rule[field.name] !== undefined)
    .map((field) => (field.name === "q" ? String(rule["q"]) : `${field.label.toLowerCase()}: ${String(rule[field.name])}`));
  return [kind?.when ?? rule.kind, ...conditions].join(", ");
}
