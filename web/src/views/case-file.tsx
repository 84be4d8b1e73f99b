/** The file of a quarantined spectrum: drawn in trial units, and its header to search in. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { Chart, color, type Data, type Plot } from "../chart";
import { read, thinned, unpacked, type Card, type Trial } from "../fits";
import { number } from "../format";
import { useLoad } from "../hooks";
import { LINES } from "../lines";
import { Choice, Empty, Field, Shown, Table } from "../parts";

interface Held {
  byte_length: number;
  is_whole: boolean;
  content: string;
}

export interface Contents {
  cards: Card[];
  trials: Trial[];
  bytes: number;
  isWhole: boolean;
}

/** Metres of each unit that a reviewer may name. */
export const UNITS: Record<string, number> = { Angstrom: 1e-10, nm: 1e-9, um: 1e-6, m: 1 };

const MOST_CARDS = 300;

export async function contents(id: string, signal: AbortSignal): Promise<Contents> {
  const held = await get<Held>(`/quarantine/${encodeURIComponent(id)}/file`, {}, signal);
  const bytes = await unpacked(Uint8Array.from(atob(held.content), (character) => character.charCodeAt(0)));
  return { ...read(bytes), bytes: held.byte_length, isWhole: held.is_whole };
}

export function CaseFile({ id, unit, setUnit }: { id: string; unit: string; setUnit: (unit: string) => void }): JSX.Element {
  const answer = useLoad((signal) => contents(id, signal), [id]);
  return (
    <section aria-labelledby="file-title">
      <h2 id="file-title">Its file</h2>
      <Shown of={answer}>
        {(file) => (
          <>
            <p class="soft">
              {number(file.bytes)} bytes{file.isWhole ? "" : ", of which the first 3 MB are shown"}
            </p>
            {file.trials.length === 0 ? (
              <Empty>Nothing in it can be drawn as a spectrum. Its header says more.</Empty>
            ) : (
              <Trials trials={file.trials} unit={unit} setUnit={setUnit} />
            )}
            <Header cards={file.cards} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Trials({ trials, unit, setUnit }: { trials: Trial[]; unit: string; setUnit: (unit: string) => void }): JSX.Element {
  const [chosen, setChosen] = useState("0");
  const [lines, setLines] = useState("");
  const trial = trials[Number(chosen)] ?? trials[0];
  if (trial === undefined) return <Empty>Nothing to draw.</Empty>;
  const unset = trial.unit === "" ? "the file has none" : `the file says ${trial.unit}`;
  return (
    <>
      <div class="filters">
        {trials.length === 1 ? null : (
          <Choice label="Data" value={chosen} options={trials.map((one, i) => [String(i), one.name] as const)} onChange={setChosen} />
        )}
        <Choice
          label="Trial unit of the wavelengths"
          value={unit}
          options={[["", unset], ...Object.keys(UNITS).map((name) => [name, name] as const)]}
          onChange={setUnit}
        />
        <Choice
          label="Lines to compare with"
          value={lines}
          options={[["", "none"], ...LINES.map(([name]) => [name, name] as const)]}
          onChange={setLines}
        />
      </div>
      <Drawn trial={trial} unit={unit} lines={lines} />
    </>
  );
}

/** A unit as a file may spell it, as one that a reviewer may name; "" for any other. */
function known(unit: string): string {
  const plain = unit.trim().toLowerCase();
  if (/^(angstroms?|å|aa?)$/.test(plain)) return "Angstrom";
  if (/^(nm|nanomet(er|re)s?)$/.test(plain)) return "nm";
  if (/^(um|µm|microns?|micromet(er|re)s?)$/.test(plain)) return "um";
  return plain === "m" ? "m" : "";
}

function Drawn({ trial, unit, lines }: { trial: Trial; unit: string; lines: string }): JSX.Element {
  const metres = UNITS[unit || known(trial.unit)];
  const x = useMemo(() => trial.x.map((one) => (metres === undefined ? one : one * metres * 1e9)), [trial, metres]);
  const first = x[0] ?? 0;
  const last = x[x.length - 1] ?? 0;
  const plot = useMemo((): Plot => {
    const [xs, ys] = thinned(x, trial.y);
    return {
      title: `Trial plot from ${number(first, 1)} to ${number(last, 1)} ${metres === undefined ? "in the file's own numbers" : "nm"}`,
      data: [xs, ys] as Data,
      lines: [{ label: "flux", color: color(0), kind: "line", digits: 4 }],
      time: false,
      xLabel: metres === undefined ? "the file's own numbers" : "wavelength (nm)",
      yLabel: trial.fluxUnit === "" ? "flux" : trial.fluxUnit,
      marks: metres === undefined ? [] : (LINES.find(([name]) => name === lines)?.[1] ?? []),
    };
  }, [x, lines]);
  const low = Math.min(first, last);
  const high = Math.max(first, last);
  const isOptical = metres !== undefined && high > 300 && low < 1100;
  return (
    <>
      <p role="status">
        {number(x.length)} samples from {number(first, 2)} to {number(last, 2)}
        {metres === undefined ? ", in a unit that is not given. Try one." : " nm. "}
        {metres === undefined ? null : isOptical ? (
          <span class="chip positive">reaches into the optical, 300 to 1100 nm</span>
        ) : (
          <span class="chip warn">outside of the optical, 300 to 1100 nm: another unit?</span>
        )}
      </p>
      <Chart plot={plot} />
    </>
  );
}

function Header({ cards }: { cards: Card[] }): JSX.Element {
  const [sought, setSought] = useState("");
  const words = sought.trim().toLowerCase();
  const fit = cards.filter((card) => `${card.keyword} ${card.value} ${card.comment}`.toLowerCase().includes(words));
  return (
    <details>
      <summary>Its header, {number(cards.length)} cards</summary>
      <Field label="Search the header" value={sought} onInput={setSought} placeholder="CUNIT, date, object" />
      {fit.length === 0 ? (
        <Empty>No card has this.</Empty>
      ) : (
        <Table
          caption="Cards of the header"
          rows={fit.slice(0, MOST_CARDS).map((card, index) => ({ ...card, index }))}
          rowKey={(card) => String(card.index)}
          columns={[
            { name: "HDU", of: (card) => String(card.hdu), right: true },
            { name: "Keyword", of: (card) => <code>{card.keyword}</code> },
            { name: "Value", of: (card) => card.value },
            { name: "Comment", of: (card) => <span class="soft">{card.comment}</span> },
          ]}
        />
      )}
      {fit.length > MOST_CARDS ? <p class="soft">The first {MOST_CARDS} are shown: search for the others.</p> : null}
    </details>
  );
}
