/** Handing in photometry and spectra: what the files hold is shown before they are sent, and then what became of them. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sendAs, useDoing } from "../access";
import { Problem } from "../api";
import { read, unpacked } from "../fits";
import { number } from "../format";
import { hashOf, useGet, useWatch } from "../hooks";
import { Chip, Field, Table, Trouble } from "../parts";
import { KINDS, MOST_FILES } from "./upload-limits";

type Kind = keyof typeof KINDS;

interface Sent {
  kind: string;
  file_name: string;
  state: string;
  reason: string | null;
  job_run_id: string | null;
  data_product_id: string | null;
  send: { method: string; url: string; headers: Record<string, string> } | null;
}

interface Report {
  upload_id: string;
  files: Sent[];
}

/** A file that was chosen, and what the page has read of it. */
interface Chosen {
  file: File;
  kind: Kind | null;
  says: string;
}

function kindOf(name: string): Kind | null {
  const kinds = Object.keys(KINDS) as Kind[];
  return kinds.find((kind) => KINDS[kind].suffixes.some((suffix) => name.toLowerCase().endsWith(suffix))) ?? null;
}

const STATE: Record<string, readonly [string, string]> = {
  EXPECTED: ["plain", "on its way"],
  MISSING: ["negative", "did not arrive"],
  RUNNING: ["plain", "being looked at"],
  TAKEN: ["positive", "taken"],
  KNOWN: ["positive", "known before"],
  HELD: ["warn", "waits for a person"],
  REFUSED: ["negative", "refused"],
};

/** What the page can find out about a file before it is sent; the stack examines it in full afterwards. */
async function looked(file: File): Promise<Chosen> {
  const kind = kindOf(file.name);
  if (kind === null) return { file, kind, says: "is neither photometry (.csv, .txt, .vot …) nor a spectrum (.fits, .zip …) by its name" };
  if (file.size > KINDS[kind].largest) return { file, kind: null, says: `is larger than ${number(KINDS[kind].largest / 1e6)} MB` };
  if (file.size === 0) return { file, kind: null, says: "is empty" };
  try {
    if (kind === "photometry") {
      const lines = (await file.slice(0, 200_000).text()).split(/\r?\n/).filter((line) => line.trim() !== "");
      const first = lines.find((line) => !/^#(?!.*(mjd|jd|date))/i.test(line)) ?? "";
      return { file, kind, says: `${number(lines.length)}${file.size > 200_000 ? " or more" : ""} lines, begins with “${first.slice(0, 80)}”` };
    }
    if (/\.zip$/i.test(file.name)) return { file, kind, says: "an archive, looked into after it is sent" };
    const held = read(await unpacked(new Uint8Array(await file.arrayBuffer())));
    const object = held.cards.find((card) => card.keyword === "OBJECT")?.value ?? "";
    const [trial] = held.trials;
    return {
      file,
      kind,
      says: `${object === "" ? "no object is named" : `of ${object}`}, ${trial === undefined ? "nothing in it can be drawn as a spectrum" : `${number(trial.x.length)} samples`}`,
    };
  } catch {
    return { file, kind, says: "cannot be read here; the stack looks at it more closely" };
  }
}

async function digest(file: File): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function Upload({ nova, taken }: { nova: string; taken: () => void }): JSX.Element {
  const [chosen, setChosen] = useState<Chosen[]>([]);
  const [over, setOver] = useState(false);
  const [donor, setDonor] = useState("");
  const [license, setLicense] = useState("CC-BY-4.0");
  const [uploads, setUploads] = useState<readonly string[]>([]);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const { busy, problem, act } = useDoing();
  const good = chosen.filter((one) => one.kind !== null);
  const add = (files: FileList | null): void => {
    void Promise.all([...(files ?? [])].map(looked)).then((found) => {
      setChosen((before) => [...before.filter((one) => !found.some((other) => other.file.name === one.file.name)), ...found].slice(0, MOST_FILES));
      setKey(crypto.randomUUID());
    });
  };
  const send = (event: Event): void => {
    event.preventDefault();
    void act("send", async () => {
      const files = await Promise.all(
        good.map(async ({ file, kind }) => ({ nova_id: nova, kind, file_name: file.name, byte_length: file.size, sha256: await digest(file) })),
      );
      const opened = await sendAs<Report>("/uploads", { method: "POST", key, body: { donor: donor.trim(), ...(license.trim() === "" ? {} : { license: license.trim() }), files } });
      await Promise.all(opened.files.map((one) => put(one, good.find(({ file }) => file.name === one.file_name)?.file)));
      await sendAs(`/uploads/${opened.upload_id}/complete`, { method: "POST" });
      setUploads((before) => [opened.upload_id, ...before]);
      setChosen([]);
    });
  };
  return (
    <section class="panel" aria-labelledby="upload-title">
      <h2 id="upload-title">Hand in photometry and spectra</h2>
      <form class="review" onSubmit={send}>
        <label
          class={`field wide drop${over ? " over" : ""}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            add(event.dataTransfer?.files ?? null);
          }}
        >
          <span>Files: drop them here, or choose them</span>
          <input
            type="file"
            multiple
            onChange={(event) => {
              add(event.currentTarget.files);
              event.currentTarget.value = "";
            }}
          />
        </label>
        {chosen.length === 0 ? null : (
          <ul class="mentions" aria-label="Files that were chosen">
            {chosen.map((one) => (
              <li key={one.file.name}>
                <Chip kind={one.kind === null ? "negative" : "plain"}>{one.kind ?? "not sent"}</Chip> <strong>{one.file.name}</strong>{" "}
                <span class="soft">{one.says}</span>{" "}
                <button type="button" class="small" aria-label={`Leave out ${one.file.name}`} onClick={() => setChosen(chosen.filter((other) => other !== one))}>
                  ×
                </button>
              </li>
            ))}
          </ul>
        )}
        <Field label="Your name" required value={donor} onInput={setDonor} />
        <Field label="License" value={license} onInput={setLicense} hint="Under which others may use it." />
        {problem === null ? null : <Trouble of={problem} />}
        <button type="submit" disabled={busy !== "" || good.length === 0}>
          {busy === "" ? `Send ${good.length === 1 ? "the file" : `${good.length} files`}` : "Sending …"}
        </button>
      </form>
      {uploads.map((id) => (
        <Became key={id} id={id} nova={nova} taken={taken} />
      ))}
    </section>
  );
}

/** Send one file to the bucket, by the link that takes it and nothing else. */
async function put(one: Sent, file: File | undefined): Promise<void> {
  if (one.send === null || file === undefined) return;
  let answer: Response;
  try {
    answer = await fetch(one.send.url, { method: one.send.method, headers: one.send.headers, body: file });
  } catch {
    throw new Problem(0, `The bucket does not answer; ${one.file_name} was not sent.`);
  }
  if (!answer.ok) throw new Problem(answer.status, `The bucket did not take ${one.file_name} (status ${answer.status}).`);
}

function Became({ id, nova, taken }: { id: string; nova: string; taken: () => void }): JSX.Element {
  const answer = useGet<Report>(`/uploads/${id}`);
  const files = answer.value?.files ?? [];
  const isDone = files.length > 0 && files.every((one) => !["RUNNING", "EXPECTED"].includes(one.state));
  useWatch(answer, !isDone, 2);
  useEffect(() => {
    if (isDone) taken();
  }, [isDone]);
  return (
    <div role="status">
      {answer.problem === null ? null : <Trouble of={answer.problem} again={answer.again} />}
      <Table
        caption="What became of the files"
        rows={files}
        rowKey={(one) => one.file_name}
        columns={[
          { name: "File", of: (one) => one.file_name },
          {
            name: "Outcome",
            of: (one) => {
              const [kind, word] = STATE[one.state] ?? ["plain", one.state.toLowerCase()];
              return (
                <>
                  <Chip kind={kind}>{word}</Chip> <span class="soft">{one.reason}</span>
                </>
              );
            },
          },
          {
            name: "More",
            of: (one) =>
              one.job_run_id !== null ? (
                <a href={hashOf("runs", one.job_run_id)}>its run</a>
              ) : one.data_product_id !== null ? (
                <a href={hashOf("novae", nova)}>among the spectra</a>
              ) : (
                "–"
              ),
          },
        ]}
      />
    </div>
  );
}
